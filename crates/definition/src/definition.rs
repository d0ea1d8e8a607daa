//! The native format: one tool as its author wrote it (docs/definitions.md).

use std::fmt;
use std::sync::{Arc, OnceLock};

use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use strum::VariantArray;

use super::Backend;
use super::name::clean_line;

/// One tool. Only `name` is needed to be documented; a tool without `parameters` cannot be called unless
/// `allow_no_schema` and `no_schema_mode` allow it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, title = "Tool definition", extend("required" = ["name"]))]
pub struct Definition {
    /// Kind of the definition; always a function.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<DefinitionKind>,
    /// The canonical name, unique in its source.
    pub name: String,
    /// Purpose of the tool, and when to use it: the long description, in markdown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// JSON Schema of the arguments, kept byte for byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Schema>,
    /// Category of the tool: one path (`Storage/Buckets`) or several.
    #[serde(skip_serializing_if = "Vec::is_empty", with = "one_or_many")]
    #[schemars(with = "OneOrMany")]
    pub category: Vec<CategoryPath>,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// When to use the tool, in 20 to 30 tokens. Derived from the description when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_description: Option<String>,
    /// Whether the whole definition is bound to the model, or only its short description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description_mode: Option<DescriptionMode>,
    /// The stable dotted name in the gateway, such as `onto.task.list`. Derived when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// Other names that resolve to this tool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Free labels to filter by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Result of a successful call, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returns: Option<String>,
    /// JSON Schema of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_schema: Option<Schema>,
    /// Errors that a call may end in, each with its meaning: `404: no such issue`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// Calls that work. Their arguments are checked against `parameters`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    /// Behaviour worth knowing before the first call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// When to use the tool and when not to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// Strongest change that a call may make. Derived from hints, HTTP method or verb when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// `false` keeps the tool out of automatic selection unless the caller allows unsafe tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safe: Option<bool>,
    /// Whether a person must approve each call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<bool>,
    /// Whether a call is a dry run unless it asks for more; for tools with a large effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// Place in a result of the session's new context: a JSON Pointer into it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_shift: Option<String>,
    /// Callers that a provider lets call the tool, in its words: `direct`, or a sandbox such as `programmatic`. Only
    /// payloads use them; empty means every caller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_callers: Vec<String>,
    /// Roles that may see and call the tool; empty means everyone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_roles: Vec<String>,
    /// Visibility for callers without one of these roles; `hidden` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when_forbidden: Option<WhenForbidden>,
    /// Relative cost of one call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Capabilities of the tool beyond a plain call, such as `streaming`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// Ask providers with strict mode to enforce the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// A compact schema sent to providers instead of `parameters`; validation still uses `parameters`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_schema: Option<Schema>,
    /// Whether the tool is deprecated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<bool>,
    /// The tool to use instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
    /// The backend that runs the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<Backend>,
    /// Lets a tool without `parameters` be called, within `no_schema_mode`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow_no_schema: bool,
    /// The no-schema mode: which calls without a schema are allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_schema_mode: Option<NoSchemaMode>,
    /// Fields of an MCP server's list that only clients read, as the server wrote them.
    #[serde(skip)]
    pub mcp: Map<String, Value>,
}

/// Kind of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DefinitionKind {
    /// A function that a model can call.
    Function,
}

/// Extent to which a tool is bound to the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DescriptionMode {
    /// The long description and the whole schema.
    Full,
    /// The short description; the rest is read on demand.
    #[default]
    Deferred,
}

/// Effect of a call, from harmless to irreversible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[derive(strum::IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Creates or changes something.
    Write,
    /// Deletes, or makes changes that cannot be undone.
    Destructive,
}

impl Effect {
    /// The lower-case word used in files and answers.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Every effect, the harmless one first.
    pub const ALL: &[Effect] = Self::VARIANTS;

    /// The effect with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|effect| effect.as_str() == name)
    }
}

/// Visibility of a tool for callers who may not use it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WhenForbidden {
    /// Invisible: it answers like a tool that does not exist.
    #[default]
    Hidden,
    /// Visible with its short description, and nothing else.
    Visible,
}

/// No-schema mode: the calls that a tool without a schema allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoSchemaMode {
    /// Only calls that change nothing.
    ReadOnly,
    /// Each call waits for a person.
    HumanApproval,
    /// Calls run unchecked.
    Full,
}

/// An example of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Example {
    /// Purpose of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The arguments of the call.
    pub arguments: Map<String, Value>,
    /// The result of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
}

/// The policy of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Policy {
    /// Cases for which the tool is right.
    #[serde(rename = "do", skip_serializing_if = "Vec::is_empty")]
    pub dos: Vec<String>,
    /// Cases for which it is wrong.
    #[serde(rename = "dont", skip_serializing_if = "Vec::is_empty")]
    pub donts: Vec<String>,
    /// Advice for cases in between.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edge_cases: Vec<String>,
}

impl Policy {
    /// Whether no rule is given.
    pub fn is_empty(&self) -> bool {
        self.dos.is_empty() && self.donts.is_empty() && self.edge_cases.is_empty()
    }
}

// A JSON Schema as its author wrote it, byte for byte, beside its parsed form.

/// A schema: the author's bytes, and the value they stand for. Never changed; every other form is derived.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Written at its first use where there are no author's bytes.
    text: OnceLock<Arc<RawValue>>,
    value: Arc<Value>,
}

impl Schema {
    /// Keeps `text` as the verbatim form of `value`. The caller vouches that one is the other.
    pub fn verbatim(text: &str, value: Arc<Value>) -> Self {
        let raw = RawValue::from_string(text.to_string());
        raw.map_or_else(|_| Self::shared_value(Arc::clone(&value)), |raw| Self::raw(raw, Arc::clone(&value)))
    }

    /// Keeps a text that is known to be JSON as the verbatim form of `value`.
    pub fn raw(text: Box<RawValue>, value: Arc<Value>) -> Self {
        Self { text: OnceLock::from(Arc::from(text)), value }
    }

    /// A schema without a text of its own, such as one from YAML or an OpenAPI operation.
    pub fn from_value(value: Value) -> Self {
        Self::shared_value(Arc::new(compact(value)))
    }

    /// The same of a value that has no spare capacity, as a document that was just read has none.
    pub fn shared_value(value: Arc<Value>) -> Self {
        Self { text: OnceLock::new(), value }
    }

    /// The author's bytes.
    pub fn text(&self) -> &str {
        self.raw_text().get()
    }

    /// The author's bytes, known to be JSON.
    pub fn raw_text(&self) -> &RawValue {
        self.text.get_or_init(|| to_raw_value(&self.value).unwrap_or_default().into())
    }

    /// The parsed form.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The parsed form, shared.
    pub fn shared(&self) -> Arc<Value> {
        Arc::clone(&self.value)
    }
}

/// The same value without spare capacity. Maps that grew or were cloned have room for twice their content, and
/// schemas are most of the memory of a large catalog.
pub fn compact(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut compacted = Map::with_capacity(fields.len());
            compacted.extend(fields.into_iter().map(|(name, field)| (name, compact(field))));
            Value::Object(compacted)
        }
        Value::Array(items) => Value::Array(items.into_iter().map(compact).collect()),
        other => other,
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Serialize for Schema {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw_text().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from_value)
    }
}

impl JsonSchema for Schema {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "JsonSchema".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["object", "boolean"], "description": "A JSON Schema." })
    }
}

// Category paths: the positions of a tool in the tree.

/// A path such as `Storage/Buckets`; its segments are clean, non-empty lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[schemars(transparent)]
pub struct CategoryPath(String);

impl CategoryPath {
    /// Reads a path; `None` when no segment is left after cleaning.
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_segments(text.split('/'))
    }

    /// Joins segments; a slash inside a segment becomes a space.
    pub fn from_segments<'a>(segments: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let clean: Vec<String> = segments
            .into_iter()
            .map(|segment| clean_line(&segment.replace('/', " ")))
            .filter(|segment| !segment.is_empty())
            .collect();
        (!clean.is_empty()).then(|| Self(clean.join("/")))
    }

    /// The path as one string, segments joined by `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path, then its ancestors, the nearest first.
    pub fn with_parents(&self) -> impl Iterator<Item = &str> {
        std::iter::successors(Some(self.as_str()), |path| path.rsplit_once('/').map(|(parent, _)| parent))
    }

    /// The first segment.
    pub fn root(&self) -> &str {
        self.0.split('/').next().unwrap_or(&self.0)
    }

    /// The segments, root first.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }
}

impl fmt::Display for CategoryPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CategoryPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("a category path has at least one segment"))
    }
}

// The schema for editors.
/// One path or a list of them.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum OneOrMany {
    One(CategoryPath),
    Many(Vec<CategoryPath>),
}

pub(crate) mod one_or_many {
    use super::CategoryPath;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(paths: &[CategoryPath], serializer: S) -> Result<S::Ok, S::Error> {
        match paths {
            [one] => one.serialize(serializer),
            many => many.serialize(serializer),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<CategoryPath>, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            One(String),
            Many(Vec<String>),
        }
        let written = match Written::deserialize(deserializer) {
            Ok(Written::One(path)) => vec![path],
            Ok(Written::Many(paths)) => paths,
            Err(_) => return Err(D::Error::custom("`category` is a path, or a list of paths")),
        };
        let path = |path: &String| {
            let empty = "`category`: a path has at least one segment, such as `Storage/Buckets`; leave it out otherwise";
            CategoryPath::parse(path).ok_or_else(|| D::Error::custom(empty))
        };
        written.iter().map(path).collect()
    }
}

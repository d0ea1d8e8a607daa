//! The native format: one tool as its author wrote it (docs/definitions.md).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strum::VariantArray;

use super::Backend;
use super::category_path::{CategoryPath, OneOrMany, one_or_many};
use super::raw_schema::Schema;

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

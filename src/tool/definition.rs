//! The native format: one tool as its author wrote it (`design.md`, "A definition"; DEF-1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Backend, CategoryPath, Schema};

/// One tool. Only `name` is needed to be documented; a tool without `parameters` is not callable
/// unless `allow_no_schema` and `no_schema_mode` say otherwise (DEF-3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, title = "Tool definition", extend("required" = ["name"]))]
pub struct Definition {
    /// What is defined; always a function.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<DefinitionKind>,
    /// The canonical name, unique in its source.
    pub name: String,
    /// What the tool does and when to use it: the long description, in markdown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// JSON Schema of the arguments, kept as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Schema>,
    /// Where the tool hangs in the category tree: one path (`Storage/Buckets`) or several.
    #[serde(skip_serializing_if = "Vec::is_empty", with = "super::category::one_or_many")]
    #[schemars(with = "super::category::OneOrMany")]
    pub category: Vec<CategoryPath>,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// "When would I use this?" in 20 to 30 tokens. Derived from the description when absent.
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
    /// What a successful call returns, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returns: Option<String>,
    /// JSON Schema of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_schema: Option<Schema>,
    /// Calls that work. Their arguments are checked against `parameters`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    /// Behaviour worth knowing before the first call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// When to use the tool and when not to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// What a call may change. Derived from hints, HTTP method or verb when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// `false` keeps the tool out of automatic selection unless the caller allows unsafe tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safe: Option<bool>,
    /// Whether a person must approve each call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<bool>,
    /// Whether a call only says what it would do, unless it asks for more; for what has a large effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// Where a result says what the session is about from now on: a JSON pointer into it (API-5).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_shift: Option<String>,
    /// Roles that may see and call the tool; empty means everyone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_roles: Vec<String>,
    /// What those learn who have none of these roles; `hidden` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when_forbidden: Option<WhenForbidden>,
    /// Relative cost of one call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// What the tool can do beyond a plain call, such as `streaming`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// Ask providers that know it to enforce the schema strictly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// A compact schema sent to providers instead of `parameters`; validation still uses `parameters`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_schema: Option<Schema>,
    /// Whether the tool is on its way out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<bool>,
    /// The tool to use instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
    /// What runs the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<Backend>,
    /// Lets a tool without `parameters` be called, within `no_schema_mode`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow_no_schema: bool,
    /// How far calls without a schema may go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_schema_mode: Option<NoSchemaMode>,
}

/// What a definition defines (DEF-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DefinitionKind {
    /// A function that a model can call.
    Function,
}

/// How much of a tool is bound to the model (DOC-6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DescriptionMode {
    /// The long description and the whole schema.
    Full,
    /// The short description; the rest is read on demand.
    #[default]
    Deferred,
}

/// What a call may change, from harmless to irreversible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Creates or changes something.
    Write,
    /// Deletes, or changes what cannot be brought back.
    Destructive,
}

impl Effect {
    /// The lower-case word used in files and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::Read => "read",
            Effect::Write => "write",
            Effect::Destructive => "destructive",
        }
    }

    /// Every effect, the harmless one first.
    pub const ALL: [Effect; 3] = [Effect::Read, Effect::Write, Effect::Destructive];

    /// The effect with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effect| effect.as_str() == name)
    }
}

/// What callers learn of a tool that they may not use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WhenForbidden {
    /// Nothing: it answers like a tool that does not exist.
    #[default]
    Hidden,
    /// That it is there, and its short description; nothing else.
    Visible,
}

/// How far a tool without a schema may go (DEF-3).
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

/// One call that works.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Example {
    /// What the call is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The arguments of the call.
    pub arguments: Map<String, Value>,
    /// What came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
}

/// When to use a tool and when not to (REG-4).
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
    /// What to do in between.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edge_cases: Vec<String>,
}

impl Policy {
    /// Whether no rule is given.
    pub fn is_empty(&self) -> bool {
        self.dos.is_empty() && self.donts.is_empty() && self.edge_cases.is_empty()
    }
}

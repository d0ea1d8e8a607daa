//! One checked tool, in groups of facts.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::config::{Facts, ResultRule, live_server};
use crate::schema::ToolArgument;
use crate::schema::{Callable, Parameters};
use toolcrib_definition::finding::{Code, Finding, Place};
use toolcrib_definition::{
    Backend, CategoryPath, Definition, DescriptionMode, Effect, Example, NoSchemaMode, Policy, Schema,
    WhenForbidden, clean_line, listed_name,
};

/// The category of tools that have nothing in common with others.
pub(crate) const LEFT_OVER: &str = "General";

/// One checked tool.
#[derive(Debug)]
pub struct Tool {
    pub names: Names,
    pub labels: Labels,
    pub texts: Texts,
    pub input: Input,
    /// The schema of its result, as its author wrote it.
    pub output: Option<Schema>,
    pub rules: Rules,
    /// The backend that runs it, without a program that its definition may not name.
    pub backend: Option<Backend>,
    pub origin: ToolOrigin,
    /// The hash of its content.
    pub(crate) digest: [u8; 32],
}

/// The names that lead to a tool.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Canonical name, unique in the catalog.
    pub canonical: String,
    /// The name in its definition.
    pub written: String,
    /// The name of its doc file and of the function that providers see.
    pub safe: String,
    /// The dotted name in the gateway, unique in the catalog.
    pub op: String,
    /// Whether nobody wrote the op.
    pub is_op_derived: bool,
    /// Other names that resolve to it and to no other tool.
    pub aliases: Vec<String>,
    /// A name for people.
    pub title: Option<String>,
}

/// What a tool is found and chosen by.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// Its categories; never empty.
    pub categories: Vec<CategoryPath>,
    /// Whether nobody wrote the first category.
    pub is_category_derived: bool,
    pub tags: Vec<String>,
    /// Capabilities beyond a plain call, such as `streaming`.
    pub capabilities: Vec<String>,
    /// Relative cost of one call.
    pub cost: Option<f64>,
    pub deprecated: Option<bool>,
    /// The tool to use instead.
    pub replaced_by: Option<String>,
    /// The author's choice of how much of it is bound to the model.
    pub mode: Option<DescriptionMode>,
}

/// What a tool says about itself.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// When to use the tool, in one line within the cap; never empty.
    pub short: String,
    /// The whole description, cleaned.
    pub description: String,
    /// The description without its text about arguments, when the schema says the same of each.
    pub without_arguments: Option<String>,
    /// The description without the parts that have fields of their own: arguments, returns, examples.
    pub long: String,
    /// Description of the result, in words.
    pub returns: Option<String>,
    /// Errors that a call may end in, in the author's words.
    pub raises: Vec<String>,
    /// Behaviour worth knowing.
    pub notes: Vec<String>,
    /// When to use it and when not to.
    pub policy: Option<Policy>,
    /// Examples that fit the schema.
    pub examples: Vec<Example>,
    /// Examples that the author wrote as text.
    pub example_texts: Vec<String>,
    /// The texts above that fields of the definition have, unchanged; the others come from its description.
    pub written: WrittenTexts,
}

/// Texts in fields of a definition.
#[derive(Clone, Debug, Default)]
pub struct WrittenTexts {
    pub returns: Option<String>,
    pub errors: Vec<String>,
    pub notes: Vec<String>,
    pub policy: Option<Policy>,
}

/// The arguments of a tool.
#[derive(Debug)]
pub struct Input {
    /// The schema as its author wrote it, without hidden arguments.
    pub schema: Option<Schema>,
    /// The schema, checked.
    pub parameters: Parameters,
    /// A compact schema that providers get in its place.
    pub provider_schema: Option<Schema>,
    /// Whether providers shall enforce the schema.
    pub strict: Option<bool>,
    /// Arguments of a complete, valid call; `None` when none could be made.
    pub call: Option<Map<String, Value>>,
    /// Pointers to the values of that call that are invented.
    pub fill_in: Vec<String>,
    /// Arguments whose values the operator sets.
    pub set_arguments: Vec<ToolArgument>,
    /// Whether it may be called without a schema.
    pub allow_no_schema: bool,
    pub no_schema_mode: Option<NoSchemaMode>,
}

/// What a call may do, and who may make it.
#[derive(Debug)]
pub struct Rules {
    /// Strongest change that a call may make.
    pub effect: Effect,
    /// Whether the effect was guessed from the name.
    pub is_effect_guessed: bool,
    /// `false` keeps it out of automatic selection.
    pub safe: Option<bool>,
    /// Whether the author wants a person to approve each call.
    pub approval: Option<bool>,
    /// Whether a call is a dry run unless it asks for more.
    pub dry_run: Option<bool>,
    /// Roles that may see and call it; empty means everyone.
    pub roles: Vec<String>,
    pub when_forbidden: Option<WhenForbidden>,
    /// Callers that a provider lets call it, in its words; empty means every caller.
    pub callers: Vec<String>,
    /// Pointer to the session's new context in a result.
    pub context_shift: Option<String>,
    /// What callers get of its results.
    pub result: ResultRule,
    /// Text that the operator has to write before the program of the definition is run; `None` when nothing was
    /// removed.
    pub withheld: Option<String>,
}

/// Where a tool comes from.
#[derive(Clone, Debug, Default)]
pub struct ToolOrigin {
    /// The server it belongs to.
    pub server: Option<String>,
    /// Place of the definition; the file is relative to the catalog.
    pub place: Place,
    /// Fields of an MCP server's list that only clients read, as the server wrote them.
    pub mcp: Map<String, Value>,
}

impl Rules {
    /// The effect, unless it was guessed.
    pub fn known_effect(&self) -> Option<Effect> {
        (!self.is_effect_guessed).then_some(self.effect)
    }
}

impl Tool {
    /// A tool with what its definition says, and nothing that is made of it.
    pub(crate) fn of(definition: Definition, parameters: Parameters) -> Self {
        let aliases = definition.aliases.iter().map(|alias| clean_line(alias)).collect();
        Self {
            rules: Rules {
                effect: definition.effect.unwrap_or_else(|| Effect::of_name(&definition.name)),
                is_effect_guessed: definition.effect.is_none(),
                safe: definition.safe,
                approval: definition.approval,
                dry_run: definition.dry_run,
                roles: definition.allowed_roles,
                when_forbidden: definition.when_forbidden,
                callers: definition.allowed_callers,
                context_shift: definition.context_shift,
                result: ResultRule::default(),
                withheld: None,
            },
            names: Names { written: definition.name, aliases, title: definition.title, ..Names::default() },
            labels: Labels {
                categories: definition.category,
                is_category_derived: false,
                tags: definition.tags,
                capabilities: definition.capabilities,
                cost: definition.cost,
                deprecated: definition.deprecated,
                replaced_by: definition.replaced_by,
                mode: definition.description_mode,
            },
            texts: Texts {
                written: WrittenTexts {
                    returns: definition.returns,
                    errors: definition.errors,
                    notes: definition.notes,
                    policy: definition.policy,
                },
                ..Texts::default()
            },
            input: Input {
                schema: definition.parameters,
                parameters,
                provider_schema: definition.provider_schema,
                strict: definition.strict,
                call: None,
                fill_in: Vec::new(),
                set_arguments: Vec::new(),
                allow_no_schema: definition.allow_no_schema,
                no_schema_mode: definition.no_schema_mode,
            },
            output: definition.result_schema,
            backend: definition.backend,
            origin: ToolOrigin { mcp: definition.mcp, ..ToolOrigin::default() },
            digest: [0; 32],
        }
    }

    /// The name by which people know it: the one that a client lists for a live server's tool, and the op of any other.
    pub fn shown_name(&self) -> &str {
        if live_server(&self.origin.place.file).is_some() { &self.names.canonical } else { &self.names.op }
    }

    /// The name under which MCP clients list it: `^[A-Za-z0-9_.-]+$`, short enough for the prefix of the client.
    pub fn listed_name(&self) -> Cow<'_, str> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        let is_legal = !self.names.canonical.is_empty() && self.names.canonical.chars().all(fits);
        listed_name(if is_legal { &self.names.canonical } else { &self.names.safe })
    }

    /// Whether callers without such a role see that the tool exists.
    pub fn is_visible_to_all(&self) -> bool {
        self.rules.when_forbidden == Some(WhenForbidden::Visible)
    }

    /// Whether a person approves each call: the author wants that, or calls cannot be checked otherwise.
    pub fn wants_approval(&self) -> bool {
        let is_unchecked = Callable::Unchecked(NoSchemaMode::HumanApproval);
        self.rules.approval == Some(true) || *self.input.parameters.callable() == is_unchecked
    }

    /// The reason why it cannot be called, if it cannot.
    pub fn not_callable(&self) -> Option<&str> {
        match self.input.parameters.callable() {
            Callable::No(reason) => Some(reason),
            _ => None,
        }
    }

    /// The facts that selectors match.
    pub fn facts(&self) -> Facts<'_> {
        Facts {
            name: &self.names.written,
            canonical: &self.names.canonical,
            categories: &self.labels.categories,
            tags: &self.labels.tags,
            source: &self.origin.place.file,
            server: self.origin.server.as_deref(),
            effect: self.rules.effect,
        }
    }

    /// A finding about the tool, at its definition.
    pub(crate) fn finding(&self, code: Code, message: impl Into<String>) -> Finding {
        Finding::new(code, message).tool(&self.names.canonical).at(self.origin.place.clone())
    }
}

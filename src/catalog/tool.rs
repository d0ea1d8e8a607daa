//! One checked tool.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::{Callable, Parameters, ToolArgument};
use crate::config::Facts;
use crate::finding::Place;
use crate::tool::{
    CategoryPath, Definition, DescriptionMode, Effect, Example, NoSchemaMode, Policy, WhenForbidden,
};

/// One checked tool.
#[derive(Debug)]
pub struct Tool {
    /// Canonical name, unique in the catalog.
    pub name: String,
    /// The name of its doc file and of the function that providers see.
    pub safe_name: String,
    /// The dotted name in the gateway, unique in the catalog.
    pub op: String,
    /// Other names that resolve to it and to no other tool.
    pub aliases: Vec<String>,
    /// Its categories; never empty.
    pub categories: Vec<CategoryPath>,
    /// When to use the tool, in one line within the cap; never empty.
    pub short: String,
    /// Strongest change that a call may make.
    pub effect: Effect,
    /// The server it belongs to.
    pub server: Option<String>,
    /// Place of the definition; the file is relative to the catalog.
    pub place: Place,
    /// Text that the operator has to write before the program of the definition is run; `None` when nothing was
    /// removed.
    pub withheld: Option<String>,
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
    /// Examples that fit the schema.
    pub examples: Vec<Example>,
    /// Examples that the author wrote as text.
    pub example_texts: Vec<String>,
    /// When to use it and when not to.
    pub policy: Option<Policy>,
    /// The schema of its arguments, checked.
    pub parameters: Parameters,
    /// Arguments of a complete, valid call; `None` when none could be made.
    pub call: Option<Map<String, Value>>,
    /// Pointers to the values of that call that are invented.
    pub fill_in: Vec<String>,
    /// The definition as its author wrote it, with overlays applied, without a program that it may not name.
    pub definition: Definition,
    /// Arguments whose values the operator sets.
    pub set_arguments: Vec<ToolArgument>,
    /// The hash of its content.
    pub(super) digest: OnceLock<Digest>,
}

/// The hash of the content of a tool.
pub(super) type Digest = [u8; 32];

impl Tool {
    /// Whether its effect is only what its name suggests: neither an author, a hint nor a request says it.
    pub fn effect_is_guess(&self) -> bool {
        self.definition.effect.is_none()
    }

    /// The name in its definition.
    pub fn written_name(&self) -> &str {
        &self.definition.name
    }

    /// Free labels to filter by, as they are written.
    pub fn written_tags(&self) -> &[String] {
        &self.definition.tags
    }

    /// Roles that may see and call the tool; empty means everyone.
    pub fn allowed_roles(&self) -> &[String] {
        &self.definition.allowed_roles
    }

    /// Whether callers without such a role see that the tool exists.
    pub fn is_visible_to_all(&self) -> bool {
        self.definition.when_forbidden == Some(WhenForbidden::Visible)
    }

    /// The description mode that its author chose.
    pub fn description_mode(&self) -> Option<DescriptionMode> {
        self.definition.description_mode
    }

    /// Bytes of its name, of its description and of the schema of its arguments.
    pub fn bytes(&self) -> usize {
        let schema = self.definition.parameters.as_ref().map_or(0, |schema| schema.text().len());
        self.name.len() + self.description.len() + schema
    }

    /// Whether a person approves each call: the author wants that, or calls cannot be checked otherwise.
    pub fn wants_approval(&self) -> bool {
        let is_unchecked = Callable::Unchecked(NoSchemaMode::HumanApproval);
        self.definition.approval == Some(true) || *self.parameters.callable() == is_unchecked
    }

    /// The reason why it cannot be called, if it cannot.
    pub fn not_callable(&self) -> Option<&str> {
        match self.parameters.callable() {
            Callable::No(reason) => Some(reason),
            _ => None,
        }
    }

    /// Whether the result of a call can change the context of a session.
    pub fn shifts_context(&self) -> bool {
        self.definition.context_shift.is_some()
    }

    /// The facts that selectors match.
    pub fn facts(&self) -> Facts<'_> {
        Facts {
            name: &self.definition.name,
            canonical: &self.name,
            categories: &self.categories,
            tags: &self.definition.tags,
            source: &self.place.file,
            server: self.server.as_deref(),
            effect: self.effect,
        }
    }
}

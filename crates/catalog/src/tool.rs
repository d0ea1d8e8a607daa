//! One checked tool.

use serde_json::{Map, Value};

use crate::config::Facts;
use crate::schema::ToolArgument;
use crate::schema::{Callable, Parameters};
use toolcrib_definition::finding::{Code, Finding, Place};
use toolcrib_definition::{CategoryPath, Definition, Effect, Example, NoSchemaMode, Policy, WhenForbidden};

/// The category of tools that have nothing in common with others.
pub(crate) const LEFT_OVER: &str = "General";

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
    pub(crate) digest: [u8; 32],
}

impl Tool {
    /// The name by which people know it: the one that a client lists for a live server's tool, and the op of any other.
    pub fn shown_name(&self) -> &str {
        if self.place.file.starts_with("mcp:") { &self.name } else { &self.op }
    }

    /// Whether callers without such a role see that the tool exists.
    pub fn is_visible_to_all(&self) -> bool {
        self.definition.when_forbidden == Some(WhenForbidden::Visible)
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

    /// A finding about the tool, at its definition.
    pub(crate) fn finding(&self, code: Code, message: impl Into<String>) -> Finding {
        Finding::new(code, message).tool(&self.name).at(self.place.clone())
    }
}

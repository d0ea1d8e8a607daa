//! A tool of a request: selected for it, then bound as a function.

use serde_json::Value;

use crate::catalog::Tool;
use crate::config::SearchBy;

/// Extent to which a tool is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The whole description and schema.
    Full,
    /// The short description, and the schema's structure.
    Compact,
    /// The short description, and a schema that takes any arguments.
    Stub,
}

/// A function of the request.
#[derive(Clone, Debug)]
pub struct BoundFunction<'a> {
    /// The tool, or the function of toolcrib.
    pub tool: &'a Tool,
    /// Whether it is a function of toolcrib.
    pub ours: bool,
    /// The name that the provider sees.
    pub name: String,
    /// The text that the provider sees.
    pub description: String,
    /// The schema that the provider sees; `None` where an empty one is refused.
    pub schema: Option<Value>,
    /// Arguments of calls that work, where the wire takes them.
    pub examples: Vec<Value>,
    /// Extent of the binding.
    pub extent: Extent,
    /// Whether the provider is asked to enforce the schema.
    pub strict: bool,
    /// Whether the provider keeps it out of the context until it is searched for.
    pub deferred: bool,
}

impl BoundFunction<'_> {
    /// The callers that the definition allows and the wire knows.
    pub(super) fn callers(&self, is_known: impl Fn(&str) -> bool) -> Vec<&str> {
        let callers = self.tool.definition.allowed_callers.iter().map(String::as_str);
        callers.filter(|caller| is_known(caller)).collect()
    }
}

/// A tool that will be bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct SelectedTool<'a> {
    /// The tool.
    pub(super) tool: &'a Tool,
    /// Whether it is a function of toolcrib.
    pub(super) ours: bool,
    /// Extent of its binding.
    pub(super) extent: Extent,
    /// Whether the provider should keep it out of the context.
    pub(super) deferred: bool,
}

/// Content of a body.
pub(super) struct BoundFunctions<'a> {
    /// The functions, in order.
    pub(super) functions: &'a [BoundFunction<'a>],
    /// The party that answers searches, when there are deferred tools.
    pub(super) search: Option<SearchBy>,
    /// Whether to mark the list for the prompt cache.
    pub(super) cache: bool,
    /// The most entries that the list may have.
    pub(super) max_entries: Option<usize>,
}

//! Explanations of names that mean no tool, or several.

use indexmap::IndexSet;

use crate::catalog::{Catalog, Resolved};
use crate::tool::Tool;
use toolcrib_definition::quoted;

/// A name that means no tool, or several.
#[derive(Clone, Debug)]
pub struct UnresolvedName<'c> {
    /// The reason, in one sentence.
    pub message: String,
    /// Whether several tools go by the name.
    pub is_ambiguous: bool,
    /// The tools that go by it, or those with a name like it, each once.
    pub near: Vec<&'c Tool>,
}

impl Catalog {
    /// Explains what was found for a name that means no single tool.
    pub fn explain<'c>(&'c self, name: &str, found: Resolved<'c>) -> UnresolvedName<'c> {
        let unknown = |near| {
            let message = format!("there is no tool `{}`", quoted(name));
            UnresolvedName { message, is_ambiguous: false, near }
        };
        match found {
            Resolved::Tool(_) => unknown(Vec::new()),
            Resolved::Unknown(near) => unknown(self.tools_named(near)),
            Resolved::Ambiguous(near) => {
                let message = format!("{} tools go by the name `{}`", near.len(), quoted(name));
                UnresolvedName { message, is_ambiguous: true, near }
            }
        }
    }

    /// The tools of these names, each once: the name of a tool and its op are often near together.
    pub fn tools_named<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<&Tool> {
        let tools = names.into_iter().filter_map(|name| self.find(name));
        let places: IndexSet<usize> = tools.filter_map(|tool| self.position(&tool.name)).collect();
        places.into_iter().map(|place| &*self.tools[place]).collect()
    }
}

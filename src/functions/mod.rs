//! Our functions: what agents call to learn of tools. Each takes one JSON object and gives one answer, the same through
//! every door (the command line, HTTP, MCP).
//!
//! 1. [`edition`] is what one kind of caller may see: a restricted catalog, and its docs.
//! 2. A [`Function`] has a name, a definition (in `catalog/functions/`), and a handler, one file each.
//! 3. [`arguments`] are checked against the definition and read into the handler's own type.
//! 4. [`answer`] is what comes out: JSON, text where a model reads it, or a [`Refusal`] that says what to do next.

mod answer;
mod arguments;
mod edition;
mod read_tool_doc;

use serde_json::Value;

use crate::catalog::{self, Tool};

pub use answer::{Answer, ErrorCode, Refusal};
pub use edition::{Edition, IndexPage, Page};

/// One function of ours.
#[derive(Debug)]
pub struct Function {
    name: &'static str,
    run: fn(&Edition, Value) -> Result<Answer, Refusal>,
}

/// Every function, in the order in which lists show them.
const ALL: [Function; 1] = [Function { name: "read_tool_doc", run: read_tool_doc::run }];

impl Function {
    /// Every function, in the order in which lists show them.
    pub fn all() -> &'static [Function] {
        &ALL
    }

    /// The function of this name.
    pub fn named(name: &str) -> Option<&'static Function> {
        ALL.iter().find(|function| function.name == name)
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its definition: description, schema of its arguments, example.
    pub fn definition(&self) -> Option<&'static Tool> {
        catalog::functions().named(self.name)
    }

    /// Answers a call. `arguments` is what the caller gave, checked here.
    pub async fn call(&self, edition: &Edition, arguments: Value) -> Answer {
        let checked = match self.definition() {
            Some(definition) => arguments::check(definition, arguments),
            None => Ok(arguments),
        };
        checked
            .and_then(|arguments| (self.run)(edition, arguments))
            .unwrap_or_else(Answer::from)
            .versioned(&edition.catalog().version)
    }
}

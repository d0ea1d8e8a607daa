//! The argument list of a tool, from its JSON Schema: one bullet an argument, nested where it has fields.
//!
//! 1. `types` finds the definitions that are recursive, or big and used twice: these get a name.
//! 2. `view` gathers what applies to one place: the schema, its `$ref`, its `allOf`, its one real alternative.
//! 3. `type_words` puts a view in words; `limits` adds what else a value must satisfy.
//! 4. `tree` writes the rows, within a budget; what does not fit is counted and the list marked as folded.

mod limits;
mod tree;
mod type_words;
mod types;
mod view;

use serde_json::Value;

use tree::Writer;
use types::Types;

/// The argument list of a tool, as markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// Bullets, or one sentence where there is nothing to list.
    pub(crate) markdown: String,
    /// Whether something was left out, so that a reader may need the schema itself.
    pub(crate) folded: bool,
}

/// The argument list for a tool with this schema.
pub(crate) fn arguments(schema: &Value) -> Arguments {
    let (markdown, folded) = Writer::new(schema, Types::of(schema)).arguments(schema);
    Arguments { markdown, folded }
}

/// A schema in a few words, such as `array of string`; references are looked up in `root`.
pub(crate) fn type_words(schema: &Value, root: &Value) -> String {
    Writer::new(root, Types::default()).words(schema)
}

#[cfg(test)]
mod tests;

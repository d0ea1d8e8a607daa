//! The argument list of a tool, from its JSON Schema: one row an argument, nested where it has fields.
//!
//! 1. `types` finds the definitions that are recursive, or large and used twice: these get a name.
//! 2. `type_words` puts one place (`catalog::schema_view`) in words.
//! 3. `tree` writes the rows, within a budget; rows that do not fit are counted and the list is marked as folded.
//! 4. `row` holds a row, and writes the list as markdown.

mod row;
mod tree;
mod type_words;
mod types;

use serde_json::Value;

use tree::Writer;
use types::Types;

pub(crate) use row::{Given, Row};

/// The argument list of a tool; all text in it is markdown.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// One sentence where there are no arguments, or where the list needs an introduction.
    pub(crate) remark: String,
    /// The arguments and their fields, then the types that they name.
    pub(crate) rows: Vec<Row>,
    /// Index of the first row of the types, if there are any.
    pub(crate) types_from: Option<usize>,
    /// Whether rows were left out, so that a reader may need the schema itself.
    pub(crate) folded: bool,
}

/// The argument list for a tool with this schema.
pub(crate) fn arguments(schema: &Value) -> Arguments {
    Writer::new(schema, Types::of(schema)).arguments(schema)
}

/// A schema in a few words, such as `array of string`; references are looked up in `root`.
pub(crate) fn type_words(schema: &Value, root: &Value) -> String {
    Writer::new(root, Types::default()).words(schema)
}

#[cfg(test)]
mod tests;

//! The argument list of a tool, from its JSON Schema: one row an argument, nested where it has fields.
//!
//! 1. `types` finds the definitions that are recursive, or large and used twice: these get a name.
//! 2. `type_words` puts one place (`catalog::schema_view`) in words.
//! 3. `tree` writes the rows, within a budget; rows that do not fit are counted and the list is marked as folded.
//! 4. `fold` names optional parts instead of listing them, where a list is longer than a doc should be (`extent`).
//! 5. `row` holds a row, and writes the list as markdown.

mod extent;
mod fold;
mod row;
mod tree;
mod type_words;
mod types;

use serde_json::Value;

use extent::Fold;
use tree::Writer;
use types::Types;

use crate::tokens::estimate;

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
    written(schema, Fold::NONE)
}

/// The argument list of a doc, written.
#[derive(Debug)]
pub(crate) struct DocArguments {
    /// The list as markdown.
    pub(crate) markdown: String,
    /// Whether rows were left out, so that a reader may need the schema itself.
    pub(crate) folded: bool,
}

/// The argument list of a doc. Where it takes more tokens than a doc should, optional parts are folded, the deepest
/// first; it stays whole where even that would save little.
pub(crate) fn doc_arguments(schema: &Value) -> DocArguments {
    let list = |fold: Fold| {
        let list = written(schema, fold);
        DocArguments { markdown: list.markdown(), folded: list.folded }
    };
    let whole = list(Fold::NONE);
    let size = whole.size();
    if size <= LIST_TOKENS {
        return whole;
    }
    let mut shortest = None;
    for fold in Fold::STEPS {
        let list = list(fold);
        let size = list.size();
        if size <= LIST_TOKENS {
            return list;
        }
        shortest = Some((list, size));
    }
    shortest.filter(|(_, folded)| *folded <= size / 4 * 3).map_or(whole, |(list, _)| list)
}

/// Tokens of a list at which a doc still has 500 in all, about.
const LIST_TOKENS: usize = 400;

fn written(schema: &Value, fold: Fold) -> Arguments {
    Writer::new(schema, Types::of(schema), fold).arguments(schema)
}

impl DocArguments {
    /// Its tokens; of a short list its bytes, since counting takes longer than writing.
    fn size(&self) -> usize {
        if self.markdown.len() <= LIST_TOKENS { self.markdown.len() } else { estimate(&self.markdown) }
    }
}

/// A schema in a few words, such as `array of string`; references are looked up in `root`.
pub(crate) fn type_words(schema: &Value, root: &Value) -> String {
    Writer::new(root, Types::default(), Fold::NONE).words(schema)
}

#[cfg(test)]
mod tests;

//! The argument list of a tool, from its JSON Schema: one row an argument, nested where it has fields.
//!
//! 1. Definitions that are recursive, or large and used twice, get a name (`schema::named_types`).
//! 2. Each node of the schema is put in words (`schema::words`).
//! 3. A [`Writer`] writes the [`rows`], within a budget; rows that do not fit are counted and the list is marked as folded.
//!    Where a list is longer than a doc should be, it names optional parts instead of listing them.
//! 4. The [`list`] is written as markdown.

mod list;
mod rows;
#[cfg(test)]
mod tests;

use serde_json::Value;

use rows::{Fold, MARKDOWN, Writer};
use toolcrib_definition::schema::words::Words;
use toolcrib_definition::schema::{Node, named_types};

pub use list::{Arguments, Facts, Given, Row};

/// The argument list for a tool with this schema.
pub fn arguments(schema: &Value) -> Arguments {
    Writer::new(&Node::with_names(schema, &named_types(schema)), Fold::NONE).arguments()
}

/// The argument list of a doc, written.
#[derive(Debug)]
pub(crate) struct DocArguments {
    /// The list as markdown.
    pub(crate) markdown: String,
    /// Whether rows were left out, so that a reader may need the schema itself.
    pub(crate) folded: bool,
}

/// The argument list of a doc. Where it is longer than a doc should be, optional parts are folded, the deepest first; it
/// stays whole where even that would save little.
pub(crate) fn doc_arguments(schema: &Value) -> DocArguments {
    let types = named_types(schema);
    let root = Node::with_names(schema, &types);
    let list = |fold: Fold| {
        let list = Writer::new(&root, fold).arguments();
        DocArguments { markdown: list.markdown(), folded: list.folded }
    };
    let whole = list(Fold::NONE);
    if whole.markdown.len() <= LIST_BYTES {
        return whole;
    }
    let mut shortest = None;
    for fold in Fold::STEPS {
        let list = list(fold);
        if list.markdown.len() <= LIST_BYTES {
            return list;
        }
        shortest = Some(list);
    }
    let most = whole.markdown.len() / 4 * 3;
    shortest.filter(|list| list.markdown.len() <= most).unwrap_or(whole)
}

/// The fields of a result, as arguments are written: as many levels and descriptions as there is room for, at the least some
/// names. Empty where the schema names no fields.
pub(crate) fn result_fields(schema: &Value) -> String {
    let root = Node::root(schema);
    for fold in Fold::RESULT_STEPS {
        let mut writer = Writer::new(&root, fold);
        (writer.is_result, writer.is_needed) = (true, false);
        writer.children(&root, 0, None);
        let list = writer.listed.markdown();
        if list.len() <= RESULT_BYTES {
            return list;
        }
    }
    let mut writer = Writer::new(&root, Fold::NONE);
    writer.is_result = true;
    writer.named_parts(&root)
}

/// Length of the fields of a result at which a page grows little: a caller reads a result, and writes none.
const RESULT_BYTES: usize = 480;

/// Length of a list at which a doc still has 500 tokens in all, about. Counting tokens would take as long as writing.
const LIST_BYTES: usize = 1_600;

/// A schema in a few words, such as `array of string`.
pub fn type_words(schema: &Value) -> String {
    Words::new(MARKDOWN).of(&Node::root(schema))
}

//! The argument list of a tool, from its JSON Schema: one row an argument, nested where it has fields.
//!
//! 1. Definitions that are recursive, or large and used twice, get a name ([`mod@named_types`]).
//! 2. Each place of the schema is put in words (`schema::words`).
//! 3. A [`Writer`] writes the [`rows`], within a budget; rows that do not fit are counted and the list is marked as folded.
//!    Where a list is longer than a doc should be, it names optional parts instead of listing them.
//! 4. The [`list`] is written as markdown.

mod list;
mod named_types;
mod rows;
#[cfg(test)]
mod tests;

use indexmap::IndexMap;
use serde_json::Value;

use named_types::named_types;
use rows::{Fold, MARKDOWN, Writer};
use toolcrib_definition::schema::words::Words;

pub use list::{Arguments, Facts, Given, Row};

/// The argument list for a tool with this schema.
pub fn arguments(schema: &Value) -> Arguments {
    Writer::new(schema, named_types(schema), Fold::NONE).arguments(schema)
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
    let list = |fold: Fold| {
        let list = Writer::new(schema, types.clone(), fold).arguments(schema);
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
    for fold in Fold::RESULT_STEPS {
        let mut writer = Writer::new(schema, IndexMap::new(), fold);
        (writer.is_result, writer.is_needed) = (true, false);
        let view = writer.view(schema);
        writer.children(&view, 0, None);
        let list = writer.listed.markdown();
        if list.len() <= RESULT_BYTES {
            return list;
        }
    }
    let mut writer = Writer::new(schema, IndexMap::new(), Fold::NONE);
    writer.is_result = true;
    let view = writer.view(schema);
    writer.named_parts(&view)
}

/// Length of the fields of a result at which a page grows little: a caller reads a result, and writes none.
const RESULT_BYTES: usize = 480;

/// Length of a list at which a doc still has 500 tokens in all, about. Counting tokens would take as long as writing.
const LIST_BYTES: usize = 1_600;

/// A schema in a few words, such as `array of string`; references are looked up in `root`.
pub fn type_words(schema: &Value, root: &Value) -> String {
    Words::new(root, MARKDOWN, IndexMap::new()).of(schema)
}

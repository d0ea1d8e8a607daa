//! The argument list of a tool, from its JSON Schema: one row an argument, nested where it has fields.
//!
//! 1. `types` finds the definitions that are recursive, or large and used twice: these get a name.
//! 2. `type_words` puts one place (`catalog::schema_view`) in words.
//! 3. `tree` writes the rows, within a budget; rows that do not fit are counted and the list is marked as folded. Where
//!    a list is longer than a doc should be, it names optional parts instead of listing them.

mod tree;
mod type_words;
mod types;

use serde_json::Value;

use tree::Writer;
use types::Types;

use crate::tokens::estimate;

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

/// Extent of an argument list.
#[derive(Clone, Copy, Debug)]
struct Fold {
    /// Levels of rows; optional parts below are named.
    levels: usize,
    /// Longest description of an optional part, in characters.
    longest: usize,
}

impl Fold {
    /// Nothing is folded for want of tokens.
    const NONE: Fold = Fold { levels: usize::MAX, longest: usize::MAX };
    /// Steps from a long list to a short one.
    const STEPS: [Fold; 4] = [
        Fold { levels: 3, longest: usize::MAX },
        Fold { levels: 2, longest: usize::MAX },
        Fold { levels: 2, longest: 300 },
        Fold { levels: 1, longest: 300 },
    ];
}

/// An argument, a field, an alternative or a remark. All text is markdown on one line.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// Number of rows that it is nested in.
    pub(crate) depth: usize,
    /// Its name, or the text of a remark.
    pub(crate) label: String,
    /// Type, limits and default of its value; `None` where it has no value.
    pub(crate) facts: Option<Facts>,
    /// Its description; may be empty.
    pub(crate) about: String,
}

/// Type, limits and default of a value.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Its type in words.
    pub(crate) kind: String,
    /// Whether it is required; `None` where that makes no sense.
    pub(crate) is_required: Option<bool>,
    /// Further limits, each a short phrase.
    pub(crate) limits: Vec<String>,
    /// Its default, or an example value.
    pub(crate) given: Option<Given>,
    /// Whether it is deprecated.
    pub(crate) is_deprecated: bool,
}

/// A value that says more than a type.
#[derive(Debug)]
pub(crate) enum Given {
    /// The value when none is given.
    Default(String),
    /// One of many possible values.
    Example(String),
}

impl Arguments {
    /// The list as bullets under their remark.
    pub(crate) fn markdown(&self) -> String {
        let mut out = self.remark.clone();
        if !out.is_empty() {
            out.push('\n');
        }
        for (index, row) in self.rows.iter().enumerate() {
            if self.types_from == Some(index) {
                out.push_str("\n**Types:**\n");
            }
            row.write(&mut out);
        }
        out.truncate(out.trim_end().len());
        out
    }
}

impl Row {
    fn write(&self, out: &mut String) {
        out.extend(std::iter::repeat_n("  ", self.depth));
        out.push_str("- ");
        out.push_str(&self.label);
        if let Some(facts) = &self.facts {
            facts.write(out);
        }
        if !self.about.is_empty() {
            out.push_str(": ");
            out.push_str(&self.about);
        }
        out.push('\n');
    }
}

impl Facts {
    fn write(&self, out: &mut String) {
        out.push_str(" (");
        out.push_str(&self.kind);
        if self.is_required == Some(false) {
            out.push_str(", optional");
        }
        for limit in &self.limits {
            out.push_str(", ");
            out.push_str(limit);
        }
        match &self.given {
            Some(Given::Default(value)) => out.extend([", default ", value]),
            Some(Given::Example(value)) => out.extend([", e.g. ", value]),
            None => {}
        }
        if self.is_deprecated {
            out.push_str(", deprecated");
        }
        out.push(')');
    }
}

#[cfg(test)]
mod tests;

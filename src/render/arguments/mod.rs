//! The argument list of a tool, from its JSON Schema: one row an argument, nested where it has fields.
//!
//! 1. Definitions that are recursive, or large and used twice, get a name ([`named_types`]).
//! 2. Each place of the schema is put in words (`schema::words`).
//! 3. `tree` writes the rows, within a budget; rows that do not fit are counted and the list is marked as folded. Where
//!    a list is longer than a doc should be, it names optional parts instead of listing them.

mod tree;

use indexmap::IndexMap;
use serde_json::Value;

use tree::Writer;

use super::markdown::{code, inline};
use crate::finding::resolve_local;
use crate::schema::last_segment;
use crate::schema::walk::below;
use crate::schema::words::{Style, Words};

/// Descriptions as markdown.
const MARKDOWN: Style = Style { is_brief: false, word: inline, code };

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

/// Length of a list at which a doc still has 500 tokens in all, about. Counting tokens would take as long as writing.
const LIST_BYTES: usize = 1_600;

/// A schema in a few words, such as `array of string`; references are looked up in `root`.
pub(crate) fn type_words(schema: &Value, root: &Value) -> String {
    Words::new(root, MARKDOWN, IndexMap::new()).of(schema)
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

// Definitions that get a name: recursive ones, and large ones that are used more than once.

/// Fewest fields of a definition used twice that is listed once, under a name.
const BIG: usize = 4;
const MAX_DEPTH: usize = 100;
const MAX_NAME: usize = 60;

/// The names of these definitions, by reference.
fn named_types(root: &Value) -> IndexMap<&str, String> {
    let mut survey = Survey { root, seen: IndexMap::new() };
    survey.visit(root, 0);
    let mut names: IndexMap<&str, String> = IndexMap::new();
    for (reference, seen) in &survey.seen {
        if seen.recursive || (seen.uses > 1 && seen.fields >= BIG) {
            let name = free_name(reference, &names);
            names.insert(reference, name);
        }
    }
    names
}

/// A name that is plain enough to stand in a sentence, and that no other definition has.
fn free_name(reference: &str, names: &IndexMap<&str, String>) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '.') { c } else { '_' };
    let name: String = last_segment(reference).chars().take(MAX_NAME).map(plain).collect();
    let name = name.trim_matches(|c| matches!(c, '_' | '-' | '.'));
    let name = if name.is_empty() { "Arguments" } else { name };
    let numbered = (2..).map(|n| format!("{name}-{n}"));
    let mut names_to_try = std::iter::once(name.to_string()).chain(numbered);
    names_to_try.find(|name| names.values().all(|other| other != name)).unwrap_or_default()
}

#[derive(Default)]
struct Usage {
    uses: usize,
    fields: usize,
    recursive: bool,
    open: bool,
}

/// One walk over everything that can be reached from the root.
struct Survey<'a> {
    root: &'a Value,
    seen: IndexMap<&'a str, Usage>,
}

impl<'a> Survey<'a> {
    /// Visits a schema; returns the number of fields it takes when written in place, at most `BIG`.
    fn visit(&mut self, schema: &'a Value, depth: usize) -> usize {
        let Value::Object(part) = schema else { return 0 };
        if depth > MAX_DEPTH {
            return 0;
        }
        let mut fields = 0;
        for (keyword, value) in
            part.iter().filter(|(keyword, _)| !matches!(keyword.as_str(), "$defs" | "definitions"))
        {
            let own = usize::from(keyword == "properties");
            let below: usize = match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => self.follow(reference, depth),
                (keyword, value) => {
                    below(keyword, value).map(|schema| own + self.visit(schema, depth + 1)).sum()
                }
            };
            fields = BIG.min(fields + below);
        }
        fields
    }

    fn follow(&mut self, reference: &'a str, depth: usize) -> usize {
        let seen = self.seen.entry(reference).or_default();
        seen.uses += 1;
        seen.recursive |= seen.open;
        if seen.uses > 1 {
            return seen.fields;
        }
        let Some(target) = resolve_local(reference, self.root) else { return 0 };
        seen.open = true;
        let fields = self.visit(target, depth + 1);
        if let Some(seen) = self.seen.get_mut(reference) {
            seen.open = false;
            seen.fields = fields;
        }
        fields
    }
}

#[cfg(test)]
mod tests;

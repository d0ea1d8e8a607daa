//! The argument list of a tool, from its JSON Schema: one row an argument, nested where it has fields.
//!
//! 1. Definitions that are recursive, or large and used twice, get a name ([`Types`]).
//! 2. One place of the schema (`catalog::schema_view`) is put in words.
//! 3. `tree` writes the rows, within a budget; rows that do not fit are counted and the list is marked as folded. Where
//!    a list is longer than a doc should be, it names optional parts instead of listing them.

mod tree;

use indexmap::IndexMap;
use serde_json::Value;

use tree::Writer;

use super::markdown::{code, inline};
use crate::catalog::schema_view::{Kind, SchemaView, Type, last_segment, list};
use crate::finding::resolve_local;
use crate::tokens::estimate;
use crate::tool::clean_line;

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

// Definitions that get a name: recursive ones, and large ones that are used more than once.

/// Fewest fields of a definition used twice that is listed once, under a name.
const BIG: usize = 4;
const MAX_DEPTH: usize = 100;
const MAX_NAME: usize = 60;

/// The named definitions of a schema, by reference.
#[derive(Default)]
struct Types<'a> {
    names: IndexMap<&'a str, String>,
}

impl<'a> Types<'a> {
    /// Finds the definitions that get a name.
    fn of(root: &'a Value) -> Self {
        let mut survey = Survey { root, seen: IndexMap::new() };
        survey.visit(root, 0);
        let mut types = Self::default();
        for (reference, seen) in &survey.seen {
            if seen.recursive || (seen.uses > 1 && seen.fields >= BIG) {
                let name = types.free_name(reference);
                types.names.insert(reference, name);
            }
        }
        types
    }

    fn has(&self, reference: &str) -> bool {
        self.names.contains_key(reference)
    }

    /// The name of a definition, if it is plain enough to stand in a sentence.
    fn name(&self, reference: &str) -> &str {
        self.names.get(reference).map_or("any", String::as_str)
    }

    fn free_name(&self, reference: &str) -> String {
        let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '.') { c } else { '_' };
        let name: String = last_segment(reference).chars().take(MAX_NAME).map(plain).collect();
        let name = name.trim_matches(|c| matches!(c, '_' | '-' | '.'));
        let name = if name.is_empty() { "Arguments" } else { name };
        let taken = |name: &str| self.names.values().any(|other| other == name);
        if !taken(name) {
            return name.to_string();
        }
        (2..).map(|n| format!("{name}-{n}")).find(|name| !taken(name)).unwrap_or_default()
    }
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
        for (keyword, value) in part {
            let below = match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => self.follow(reference, depth),
                ("properties", Value::Object(properties)) => {
                    properties.values().map(|schema| 1 + self.visit(schema, depth + 1)).sum()
                }
                ("patternProperties", Value::Object(patterns)) => {
                    patterns.values().map(|schema| self.visit(schema, depth + 1)).sum()
                }
                ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Value::Array(_)) => {
                    list(part, keyword).iter().map(|schema| self.visit(schema, depth + 1)).sum()
                }
                ("items" | "additionalProperties", schema) => self.visit(schema, depth + 1),
                _ => 0,
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

// The type of a value in words: `array of string`, `"high" | "low"`, `object of string to integer`.

const MAX_SHOWN_DEPTH: usize = 5;
const MAX_LISTED: usize = 12;
const MAX_VARIANTS: usize = 100;
const LISTED_OF_MANY: usize = 8;
const MAX_LISTED_LENGTH: usize = 400;
const MAX_VALUE: usize = 80;

impl<'a> Writer<'a> {
    /// A schema in words.
    fn words(&mut self, schema: &'a Value) -> String {
        self.words_at(schema, 0)
    }

    fn words_at(&mut self, schema: &'a Value, depth: usize) -> String {
        self.folded |= depth > MAX_SHOWN_DEPTH;
        if depth > MAX_SHOWN_DEPTH || !self.spend() {
            return "any".to_string();
        }
        let view = self.view(schema);
        self.view_words(&view, depth)
    }

    fn view_words(&mut self, view: &SchemaView<'a>, depth: usize) -> String {
        let mut words = match view.kind() {
            Kind::Never => return "never".to_string(),
            Kind::Named(reference) => vec![self.name_type(reference)],
            Kind::Constant(value) => vec![self.value(value)],
            Kind::Values(values) => self.values(values),
            Kind::Variants => self.alternatives(view, depth),
            Kind::Typed => self.types(view, depth),
        };
        if view.is_nullable && !words.iter().any(|word| word == "null" || word == "any") {
            words.push("null".to_string());
        }
        words.join(" | ")
    }

    fn types(&mut self, view: &SchemaView<'a>, depth: usize) -> Vec<String> {
        view.types().into_iter().map(|one| self.type_word(one, depth)).collect()
    }

    /// One JSON type, with the type of its elements.
    fn type_word(&mut self, one: Type<'a>, depth: usize) -> String {
        match one {
            Type::Any => "any".to_string(),
            Type::Plain(word) => inline(word).chars().take(MAX_VALUE).collect(),
            Type::Object => "object".to_string(),
            Type::Array(None) => "array".to_string(),
            Type::Array(Some(items)) => match self.words_at(items, depth + 1) {
                of if of == "any" => "array".to_string(),
                of => format!("array of {}", grouped(of)),
            },
            Type::Map(values) => match self.words_at(values, depth + 1) {
                of if of == "any" => "object".to_string(),
                of => format!("object of string to {}", grouped(of)),
            },
            Type::Tuple(elements) => {
                let listed = elements.iter().take(LISTED_OF_MANY);
                let mut words: Vec<String> = listed.map(|schema| self.words_at(schema, depth + 1)).collect();
                if elements.len() > LISTED_OF_MANY {
                    words.push(self.more(elements.len() - LISTED_OF_MANY));
                }
                format!("array: {}", words.join(", then "))
            }
        }
    }

    /// Alternatives, each once. Constants with a meaning are explained. An alternative that names no type has that of all.
    fn alternatives(&mut self, view: &SchemaView<'a>, depth: usize) -> Vec<String> {
        let (mut words, mut own): (Vec<String>, Option<String>) = (Vec::new(), None);
        for &variant in view.variants.iter().take(MAX_VARIANTS) {
            let mut word = self.words_at(variant, depth + 1);
            if word == "any" {
                word.clone_from(own.get_or_insert_with(|| self.types(view, depth).join(" | ")));
            }
            if let Some(meaning) = self.view(variant).meaning() {
                word = format!("{word} {}", inline(meaning));
            }
            if !words.contains(&word) {
                words.push(word);
            }
        }
        let unseen = view.variants.len().saturating_sub(MAX_VARIANTS);
        if words.len() > MAX_LISTED || unseen > 0 {
            let hidden = words.len().saturating_sub(LISTED_OF_MANY) + unseen;
            words.truncate(LISTED_OF_MANY);
            words.push(self.more(hidden));
        }
        words
    }

    fn values(&mut self, values: &[Value]) -> Vec<String> {
        let (mut words, mut length) = (Vec::new(), 0);
        let most = if values.len() > MAX_LISTED { LISTED_OF_MANY } else { MAX_LISTED };
        for (index, value) in values.iter().enumerate() {
            let word = self.value(value);
            length += word.len();
            if index >= most || length > MAX_LISTED_LENGTH {
                words.push(self.more(values.len() - index));
                break;
            }
            words.push(word);
        }
        words
    }

    /// A value as JSON in a code span; null is a bare word.
    fn value(&mut self, value: &Value) -> String {
        if value.is_null() {
            return "null".to_string();
        }
        let json = clean_line(&value.to_string());
        match json.char_indices().nth(MAX_VALUE) {
            Some((end, _)) => {
                self.folded = true;
                code(&format!("{}...", &json[..end]))
            }
            None => code(&json),
        }
    }

    fn more(&mut self, count: usize) -> String {
        self.folded = true;
        format!("... {count} more")
    }
}

/// Several types in parentheses, one as it is.
fn grouped(words: String) -> String {
    if words.contains(" | ") { format!("({words})") } else { words }
}

#[cfg(test)]
mod tests;

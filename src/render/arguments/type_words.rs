//! The type of a value in words: `array of string`, `"high" | "low"`, `object of string to integer`.

use serde_json::Value;

use super::tree::Writer;
use crate::catalog::schema_view::{Kind, SchemaView, Type};
use crate::render::markdown::{code, inline};
use crate::tool::clean_line;

const MAX_DEPTH: usize = 5;
const MAX_LISTED: usize = 12;
const MAX_VARIANTS: usize = 100;
const LISTED_OF_MANY: usize = 8;
const MAX_LISTED_LENGTH: usize = 400;
const MAX_VALUE: usize = 80;

impl<'a> Writer<'a> {
    /// A schema in words.
    pub(super) fn words(&mut self, schema: &'a Value) -> String {
        self.words_at(schema, 0)
    }

    fn words_at(&mut self, schema: &'a Value, depth: usize) -> String {
        self.folded |= depth > MAX_DEPTH;
        if depth > MAX_DEPTH || !self.spend() {
            return "any".to_string();
        }
        let view = self.view(schema);
        self.view_words(&view, depth)
    }

    pub(super) fn view_words(&mut self, view: &SchemaView<'a>, depth: usize) -> String {
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
    pub(super) fn value(&mut self, value: &Value) -> String {
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

//! The type of a value in words: `array of string`, `"high" | "low"`, `object of string to integer`.

use serde_json::Value;

use super::tree::Writer;
use super::view::SchemaView;
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
        if view.never {
            return "never".to_string();
        }
        let mut words = Vec::new();
        let mut nullable = view.nullable;
        if let Some(reference) = view.named {
            words.push(self.name_type(reference));
        } else if let Some(value) = view.constant() {
            words.push(self.value(value));
        } else if let Some(values) =
            view.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty())
        {
            self.values(values, &mut words);
        } else if !view.variants.is_empty()
            && !view.variants.iter().all(|v| self.view(v).only_requires().is_some())
        {
            self.alternatives(view, depth, &mut words);
        } else {
            match view.get("type") {
                Some(Value::String(kind)) => words.push(self.kind(kind, view, depth)),
                Some(Value::Array(kinds)) => {
                    for kind in kinds.iter().filter_map(Value::as_str).take(MAX_LISTED) {
                        if kind == "null" {
                            nullable = true;
                        } else {
                            words.push(self.kind(kind, view, depth));
                        }
                    }
                }
                _ => words.push(self.kind("", view, depth)),
            }
        }
        if words.is_empty() {
            words.push(if nullable { "null" } else { "any" }.to_string());
        }
        if nullable && !words.iter().any(|word| word == "null" || word == "any") {
            words.push("null".to_string());
        }
        words.join(" | ")
    }

    /// One JSON type, with the type of its elements.
    fn kind(&mut self, kind: &str, view: &SchemaView<'a>, depth: usize) -> String {
        const SCALARS: [&str; 6] = ["string", "integer", "number", "boolean", "null", "float"];
        let word = name_of_kind(kind);
        if SCALARS.contains(&word.as_str()) {
            return word;
        }
        let tuple = view.tuple();
        let or = |default: &str| if word.is_empty() { default.to_string() } else { word.clone() };
        if !tuple.is_empty() && word != "object" {
            let mut elements: Vec<String> =
                tuple.iter().take(LISTED_OF_MANY).map(|schema| self.words_at(schema, depth + 1)).collect();
            if tuple.len() > LISTED_OF_MANY {
                elements.push(self.more(tuple.len() - LISTED_OF_MANY));
            }
            return format!("{}: {}", or("array"), elements.join(", then "));
        }
        if let Some(items) = view.items().filter(|_| word != "object") {
            return match self.words_at(items, depth + 1) {
                of if of == "any" => or("array"),
                of if of.contains(" | ") => format!("{} of ({of})", or("array")),
                of => format!("{} of {of}", or("array")),
            };
        }
        let is_object = view.get("properties").is_some_and(Value::is_object);
        if let Some(values) = view.other_values().filter(|_| !is_object && word != "array") {
            return match self.words_at(values, depth + 1) {
                of if of == "any" => or("object"),
                of => format!(
                    "{} of string to {}",
                    or("object"),
                    if of.contains(" | ") { format!("({of})") } else { of }
                ),
            };
        }
        or(if is_object { "object" } else { "any" })
    }

    /// Alternatives, each once. Constants with a meaning are explained.
    fn alternatives(&mut self, view: &SchemaView<'a>, depth: usize, words: &mut Vec<String>) {
        for &variant in view.variants.iter().take(MAX_VARIANTS) {
            let inner = self.view(variant);
            let mut word =
                if inner.only_requires().is_some() { continue } else { self.words_at(variant, depth + 1) };
            if let Some(meaning) = inner.meaning() {
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
    }

    fn values(&mut self, values: &[Value], words: &mut Vec<String>) {
        let mut length = 0;
        let most = if values.len() > MAX_LISTED { LISTED_OF_MANY } else { MAX_LISTED };
        for (index, value) in values.iter().enumerate() {
            let word = self.value(value);
            length += word.len();
            if index >= most || length > MAX_LISTED_LENGTH {
                words.push(self.more(values.len() - index));
                return;
            }
            words.push(word);
        }
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

/// The author's word for a type; other languages' words for JSON types are translated.
fn name_of_kind(kind: &str) -> String {
    let word = match kind {
        "string" | "integer" | "number" | "boolean" | "null" | "object" | "array" => kind,
        "str" | "String" => "string",
        "int" | "long" => "integer",
        "double" => "number",
        "bool" | "Boolean" => "boolean",
        "dict" | "map" | "HashMap" => "object",
        "list" | "tuple" | "ArrayList" | "Array" => "array",
        other => return inline(other).chars().take(MAX_VALUE).collect(),
    };
    word.to_string()
}

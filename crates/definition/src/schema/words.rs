//! Describes a schema in words: its type, such as `array of string` or `string[]`, and its limits, such as
//! `1 to 10 items`. Pages, help, the site and payloads use different [`Style`]s.

use indexmap::IndexSet;
use serde_json::Value;

use super::limits::Limits;
use super::node::Node;
use super::value_types::{Kind, Type};
use super::walk::type_of;
use crate::clean_line;

/// Most schemas that are visited: enough for any honest tool, and a limit for schemas that multiply.
const MAX_STEPS: usize = 20_000;
/// The same limit for a brief description.
const MAX_BRIEF_STEPS: usize = 2_000;
/// Most alternatives that are looked at.
const MAX_VARIANTS: usize = 100;
/// Most values and alternatives in a complete list, and how many a longer list shows.
const MAX_LISTED: usize = 12;
const LISTED_OF_MANY: usize = 8;
/// The number of alternatives in a brief description.
const BRIEF_VARIANTS: usize = 4;
/// Longest list of values in bytes, longest value and longest word for a type in characters.
const MAX_LISTED_LENGTH: usize = 400;
const MAX_VALUE: usize = 80;
/// Longest format, encoding and pattern, in bytes. Longer ones are only in the schema.
const MAX_PATTERN: usize = 80;

/// Form of a description.
#[derive(Clone, Copy)]
pub struct Style {
    /// Whether the description is as short as possible: `string[]` for `array of string`, and types in place of
    /// values.
    pub is_brief: bool,
    /// Formats a word of the author.
    pub word: fn(&str) -> String,
    /// Formats a value or a pattern.
    pub code: fn(&str) -> String,
}

/// Describes places of one schema in words.
pub struct Words<'s> {
    style: Style,
    /// References to named definitions that descriptions have used since the list was last emptied.
    pub named: Vec<&'s str>,
    steps_left: usize,
    /// Whether a description has left anything out.
    pub folded: bool,
}

impl<'s> Words<'s> {
    /// Prepares to describe places of a schema.
    pub fn new(style: Style) -> Self {
        let steps_left = if style.is_brief { MAX_BRIEF_STEPS } else { MAX_STEPS };
        Self { style, named: Vec::new(), steps_left, folded: false }
    }

    /// Takes one step; `false` when the budget is used up.
    pub fn spend(&mut self) -> bool {
        self.folded |= self.steps_left == 0;
        self.steps_left = self.steps_left.saturating_sub(1);
        self.steps_left > 0
    }

    /// The type of a place.
    pub fn of(&mut self, node: &Node<'s>) -> String {
        self.of_node(node, 0)
    }

    /// The separator between alternatives.
    fn or(&self) -> &'static str {
        if self.style.is_brief { "|" } else { " | " }
    }

    /// Puts parentheses around several types, but not around a single type.
    pub fn grouped(&self, words: String) -> String {
        if words.contains(self.or()) { format!("({words})") } else { words }
    }

    /// The type of a place within another one.
    fn within(&mut self, node: &Node<'s>, depth: usize) -> String {
        let is_too_deep = depth > if self.style.is_brief { 4 } else { 5 };
        self.folded |= is_too_deep;
        if is_too_deep || !self.spend() {
            return "any".to_string();
        }
        self.of_node(node, depth)
    }

    fn of_node(&mut self, node: &Node<'s>, depth: usize) -> String {
        let is_brief = self.style.is_brief;
        let is_typed = node.is_typed();
        let words = match node.kind() {
            Kind::Never => return "never".to_string(),
            Kind::Named(reference) => {
                self.named.push(reference);
                vec![node.type_name(reference).to_string()]
            }
            Kind::Variants => self.alternatives(node, depth),
            Kind::Constant(value) if !is_brief => vec![self.value(value)],
            Kind::Values(values) if !is_brief => self.values(values),
            Kind::Constant(value) if !is_typed => vec![type_of(value).to_string()],
            Kind::Values(values) if !is_typed => values.iter().map(|value| type_of(value).into()).collect(),
            _ => self.types(node, depth),
        };
        let is_nullable = node.is_nullable && !words.iter().any(|word| word == "any");
        let words = words.into_iter().chain(is_nullable.then(|| "null".to_string()));
        let distinct: IndexSet<String> = words.collect();
        distinct.into_iter().collect::<Vec<_>>().join(self.or())
    }

    fn types(&mut self, node: &Node<'s>, depth: usize) -> Vec<String> {
        node.types().into_iter().map(|one| self.type_word(one, node, depth)).collect()
    }

    /// One JSON type, with the type of its elements.
    fn type_word(&mut self, one: Type<'s>, node: &Node<'s>, depth: usize) -> String {
        let is_brief = self.style.is_brief;
        match one {
            Type::Any => "any".to_string(),
            Type::Plain(word) => (self.style.word)(word).chars().take(MAX_VALUE).collect(),
            Type::Array(None) => "array".to_string(),
            Type::Array(Some(items)) => match self.within(&items, depth + 1) {
                of if of == "any" => "array".to_string(),
                of if is_brief => format!("{}[]", self.grouped(of)),
                of => format!("array of {}", self.grouped(of)),
            },
            Type::Tuple if is_brief => "array".to_string(),
            Type::Tuple => {
                let elements = node.tuple();
                let count = elements.len();
                let listed = elements.take(LISTED_OF_MANY);
                let mut words: Vec<String> = listed.map(|node| self.within(&node, depth + 1)).collect();
                if count > LISTED_OF_MANY {
                    words.push(self.more(count - LISTED_OF_MANY));
                }
                format!("array: {}", words.join(", then "))
            }
            Type::Map(values) if !is_brief => match self.within(&values, depth + 1) {
                of if of == "any" => "object".to_string(),
                of => format!("object of string to {}", self.grouped(of)),
            },
            Type::Object | Type::Map(_) => "object".to_string(),
        }
    }

    /// Alternatives, each once. Constants with a meaning are explained. An alternative without a type has the type of
    /// the whole schema.
    fn alternatives(&mut self, node: &Node<'s>, depth: usize) -> Vec<String> {
        let is_brief = self.style.is_brief;
        let mut words: Vec<String> = Vec::new();
        let mut own: Option<String> = None;
        for variant in node.variants().take(MAX_VARIANTS) {
            let mut word = self.within(&variant, depth + 1);
            if word == "any" {
                word.clone_from(own.get_or_insert_with(|| self.types(node, depth).join(self.or())));
            }
            if !is_brief && let Some(meaning) = variant.meaning() {
                word = format!("{word} {}", (self.style.word)(meaning));
            }
            if !words.contains(&word) {
                words.push(word);
            }
        }
        let most = if is_brief { BRIEF_VARIANTS } else { MAX_LISTED };
        let shown = if is_brief { BRIEF_VARIANTS } else { LISTED_OF_MANY };
        let unseen = node.variants().len().saturating_sub(MAX_VARIANTS);
        if words.len() > most || unseen > 0 {
            let hidden = words.len().saturating_sub(shown) + unseen;
            words.truncate(shown);
            words.push(self.more(hidden));
        }
        words
    }

    fn values(&mut self, values: &[Value]) -> Vec<String> {
        let mut words = Vec::new();
        let mut length = 0;
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

    /// A value as JSON; null is a bare word.
    pub fn value(&mut self, value: &Value) -> String {
        if value.is_null() {
            return "null".to_string();
        }
        let json = clean_line(&value.to_string());
        match json.char_indices().nth(MAX_VALUE) {
            Some((end, _)) => {
                self.folded = true;
                (self.style.code)(&format!("{}...", &json[..end]))
            }
            None => (self.style.code)(&json),
        }
    }

    fn more(&mut self, count: usize) -> String {
        self.folded = true;
        if self.style.is_brief { "…".to_string() } else { format!("... {count} more") }
    }

    /// The limits of the values of a place and of their elements, each a short phrase.
    pub fn limits(&mut self, node: &Node<'_>) -> Vec<String> {
        let mut limits = self.own_limits(&node.limits);
        if let (Some(items), None) = (node.items(), node.named) {
            let each = self.own_limits(&items.limits);
            limits.extend(each.into_iter().map(|limit| format!("each {limit}")));
        }
        limits
    }

    fn own_limits(&mut self, limits: &Limits<'_>) -> Vec<String> {
        let format = limits.format.filter(|format| !FORMATS_OF_TYPES.contains(format));
        let words = format.into_iter().chain(limits.encoding).filter(|word| word.len() <= MAX_PATTERN);
        let mut told: Vec<String> = words.map(self.style.word).collect();
        told.extend(limits.range());
        told.extend(limits.step.map(|step| format!("multiple of {step}")));
        told.extend(limits.length.words("character"));
        told.extend(limits.items.words("item"));
        told.extend(limits.fields.words("field"));
        told.extend(limits.is_unique.then(|| "unique".to_string()));
        if let Some(pattern) = limits.pattern {
            let is_short = pattern.len() <= MAX_PATTERN;
            self.folded |= !is_short;
            told.extend(is_short.then(|| format!("matches {}", (self.style.code)(pattern))));
        }
        told
    }
}

/// Formats that only repeat a type.
const FORMATS_OF_TYPES: [&str; 6] = ["int32", "int64", "float", "double", "enum", "string"];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BRIEF: Style = Style { is_brief: true, word: clean_line, code: clean_line };

    fn words(schema: Value) -> String {
        Words::new(BRIEF).of(&Node::root(&schema))
    }

    #[test]
    fn types_are_told_in_few_words() {
        assert_eq!(words(json!({"type": "string"})), "string");
        assert_eq!(words(json!({"type": ["integer", "null"]})), "integer|null");
        assert_eq!(words(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})), "string|null");
        assert_eq!(words(json!({"type": "array", "items": {"type": "object"}})), "object[]");
        assert_eq!(words(json!({"items": {"type": ["string", "number"]}})), "(string|number)[]");
        assert_eq!(words(json!({"enum": ["a", "b"]})), "string");
        assert_eq!(words(json!({"enum": ["a", 1, null]})), "string|integer|null");
        assert_eq!(words(json!({"allOf": [{"type": "string"}, {"minLength": 1}]})), "string");
        assert_eq!(
            words(json!({"type": "string", "anyOf": [{"format": "uri"}, {"pattern": "^/"}]})),
            "string"
        );
        assert_eq!(words(json!({"$ref": "#/$defs/a%20b", "$defs": {"a b": {"type": "boolean"}}})), "boolean");
        assert_eq!(words(json!({"type": []})), "any");
        assert_eq!(words(json!({"type": ["null", "int", "integer"]})), "integer|null");
        assert_eq!(words(json!(false)), "never");
        assert_eq!(words(json!(true)), "any");
        let endless = json!({"$ref": "#"});
        assert_eq!(words(endless), "any");
        let nested = json!({"type": "array", "items": {"$ref": "#"}});
        assert_eq!(words(nested), "array[][][][]");
    }

    #[test]
    fn limits_are_told_in_few_words() {
        let schema = json!({
            "type": "array", "minItems": 1, "uniqueItems": true,
            "items": {"exclusiveMinimum": 0, "maximum": 5, "multipleOf": 0.5},
        });
        let limits = Words::new(BRIEF).limits(&Node::root(&schema)).join(", ");
        assert_eq!(limits, "at least 1 item, unique, each above 0 and at most 5, each multiple of 0.5");
    }
}

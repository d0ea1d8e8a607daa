//! Types in a few words: `string`, `integer[]`, `string|null`. References are followed within the schema, a few
//! levels deep.

use serde_json::Value;

use crate::catalog::schema_view::{Kind, Property, SchemaView, Type};
use crate::tool::clean_line;

/// Most levels of a type that are written out.
const MAX_DEPTH: usize = 4;
/// Most alternatives that are written out.
const MAX_VARIANTS: usize = 4;
/// Most alternatives whose fields, and whose values, are listed.
const MAX_LISTED_VARIANTS: usize = 400;
/// Longest word for a type in characters, longest format and longest pattern in bytes.
const MAX_WORD: usize = 40;
const MAX_FORMAT: usize = 30;
const MAX_PATTERN: usize = 60;

/// The type in a few words.
pub(super) fn type_words(view: &SchemaView<'_>) -> String {
    words_at(view, 0)
}

fn words_at(view: &SchemaView<'_>, depth: usize) -> String {
    if depth > MAX_DEPTH {
        return "any".into();
    }
    let is_typed = view.get("type").is_some();
    let types = || view.types().into_iter().map(|one| type_word(view, one, depth)).collect::<Vec<_>>();
    let mut words = match view.kind() {
        Kind::Never => return "never".into(),
        Kind::Variants => alternatives(view, depth, || types().join("|")),
        Kind::Constant(value) if !is_typed => vec![type_of(value).into()],
        Kind::Values(values) if !is_typed => values.iter().map(|value| type_of(value).into()).collect(),
        _ => types(),
    };
    if view.is_nullable {
        words.push("null".into());
    }
    let mut told: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        if !told.contains(&word) {
            told.push(word);
        }
    }
    told.join("|")
}

/// The words of each alternative; one that names no type has that of all.
fn alternatives(view: &SchemaView<'_>, depth: usize, own: impl Fn() -> String) -> Vec<String> {
    let words = |variant: &&Value| match words_at(&view.at(variant), depth + 1) {
        untyped if untyped == "any" => own(),
        words => words,
    };
    let mut words: Vec<String> = view.variants.iter().take(MAX_VARIANTS).map(words).collect();
    if view.variants.len() > MAX_VARIANTS {
        words.push("…".into());
    }
    words
}

fn type_word(view: &SchemaView<'_>, one: Type<'_>, depth: usize) -> String {
    match one {
        Type::Any => "any".into(),
        Type::Plain(word) => clean_line(word).chars().take(MAX_WORD).collect(),
        Type::Object | Type::Map(_) => "object".into(),
        Type::Array(None) | Type::Tuple(_) => "array".into(),
        Type::Array(Some(items)) => match words_at(&view.at(items), depth + 1) {
            of if of == "any" => "array".into(),
            of if of.contains('|') => format!("({of})[]"),
            of => format!("{of}[]"),
        },
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The values that are allowed, where they are listed: in one place, or as alternatives.
pub(super) fn values<'a>(view: &SchemaView<'a>) -> Vec<&'a Value> {
    match view.kind() {
        Kind::Constant(value) => vec![value],
        Kind::Values(values) => values.iter().collect(),
        Kind::Variants if view.variants.len() <= MAX_LISTED_VARIANTS => {
            let constants = view.variants.iter().map(|variant| view.at(variant).constant());
            constants.collect::<Option<Vec<_>>>().unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// The fields of the object that a value is, or that its elements are.
pub(super) fn object<'a>(view: &SchemaView<'a>) -> Vec<Property<'a>> {
    let own = fields(view);
    match view.items().filter(|_| own.is_empty()) {
        Some(items) => fields(&view.at(items)),
        None => own,
    }
}

/// The fields of an object, required ones first, then those of its alternatives.
pub(super) fn fields<'a>(view: &SchemaView<'a>) -> Vec<Property<'a>> {
    let mut fields = view.properties();
    let mut left: Vec<&Value> = view.variants.iter().rev().copied().collect();
    for _ in 0..MAX_LISTED_VARIANTS {
        let Some(variant) = left.pop().map(|variant| view.at(variant)) else { break };
        for field in variant.properties() {
            if fields.iter().all(|known| known.name != field.name) {
                fields.push(Property { required: false, ..field });
            }
        }
        left.extend(variant.variants.iter().rev());
    }
    fields.sort_by_key(|field| !field.required);
    fields
}

/// Further limits of a value and of its elements, in a few words.
pub(super) fn limits(view: &SchemaView<'_>) -> Option<String> {
    let short = |text: &str, most: usize| (text.len() <= most).then(|| clean_line(text));
    let of =
        |view: &SchemaView<'_>| view.limits(|word| short(word, MAX_FORMAT), |text| short(text, MAX_PATTERN));
    let mut limits = of(view);
    let each = view.items().map(|items| of(&view.at(items))).unwrap_or_default();
    limits.extend(each.into_iter().map(|limit| format!("each {limit}")));
    (!limits.is_empty()).then(|| limits.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(schema: Value) -> String {
        type_words(&SchemaView::of(&schema, &schema))
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
    fn parts_of_a_schema_bring_their_fields() {
        let schema = json!({
            "properties": {"b": {"type": "string"}, "a": {"type": "integer"}},
            "allOf": [{"properties": {"c": {}}, "required": ["c", "a"]}],
            "oneOf": [{"properties": {"d": {}}, "required": ["d"]}, {"type": "object"}],
        });
        let fields = fields(&SchemaView::of(&schema, &schema));
        let told: Vec<_> = fields.iter().map(|field| (field.name, field.required)).collect();
        assert_eq!(told, [("a", true), ("c", true), ("b", false), ("d", false)]);
    }

    #[test]
    fn limits_are_told_in_few_words() {
        let schema = json!({
            "type": "array", "minItems": 1, "uniqueItems": true,
            "items": {"exclusiveMinimum": 0, "maximum": 5, "multipleOf": 0.5},
        });
        let limits = limits(&SchemaView::of(&schema, &schema)).unwrap();
        assert_eq!(limits, "at least 1 item, unique, each above 0 and at most 5, each multiple of 0.5");
    }

    #[test]
    fn alternatives_that_are_constants_are_values() {
        let schema = json!({"oneOf": [{"const": "a", "title": "First"}, {"enum": ["b"]}]});
        let view = SchemaView::of(&schema, &schema);
        assert_eq!(values(&view), [&json!("a"), &json!("b")]);
        let schema = json!({"oneOf": [{"const": "a"}, {"type": "integer"}]});
        assert!(values(&SchemaView::of(&schema, &schema)).is_empty());
    }
}

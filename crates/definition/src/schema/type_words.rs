//! Words for types: those of JSON Schema, and those of languages and careless authors, which may be whole expressions.

use std::sync::LazyLock;

use hashbrown::HashMap;
use indexmap::IndexSet;
use serde_json::{Map, Value, json};

/// The values of `type`.
pub const TYPES: [&str; 7] = ["object", "array", "number", "integer", "boolean", "string", "null"];

/// The types that words of other languages and of careless authors mean.
static TYPE_WORDS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let rows = include_str!("type_words.txt").lines().filter_map(|line| line.split_once(": "));
    rows.flat_map(|(standard, words)| words.split(' ').map(move |word| (word, standard))).collect()
});

/// Longest type in words, in bytes.
const MAX_TYPE: usize = 200;

/// The JSON Schema type that a word plainly means.
pub fn standard_type(word: &str) -> Option<&'static str> {
    let standard = |word: &str| TYPES.iter().find(|standard| **standard == word).copied();
    standard(word).or_else(|| {
        let lower = word.trim().to_ascii_lowercase();
        let base = lower.split(['<', '[', '(', ',']).next().unwrap_or_default().trim();
        // Go and Rust write `*int` and `&str`, and other languages the module of a type.
        let base = base.trim_matches(['*', '&', '"', '\'']);
        let base =
            if lower.contains('(') { base } else { base.rsplit(['.', ':']).next().unwrap_or_default() };
        standard(base).or_else(|| TYPE_WORDS.get(base).copied())
    })
}

/// The schema that a type in words means: `Optional[List[str]]`, `string[]`, `int | None`, `?string`, `map[string]int`.
pub fn schema_of_type(text: &str) -> Option<Value> {
    let text = Some(text.trim()).filter(|text| text.len() <= MAX_TYPE)?;
    let inner = |name: &str| text.strip_prefix(name)?.strip_suffix(']');
    if let Some(annotated) = inner("Annotated[") {
        return schema_of_type(parts(annotated, ',').next()?);
    }
    let of_enum = text.strip_prefix("enum(").and_then(|values| values.strip_suffix(')'));
    if let Some(values) = of_enum {
        let values = parts(values, ',').map(|value| literal(value.trim()).unwrap_or(value.trim()));
        return Some(json!({ "type": "string", "enum": values.collect::<Vec<_>>() }));
    }
    let optional = inner("Optional[").or(text.strip_suffix('?')).or(text.strip_prefix('?'));
    let forms: Vec<&str> = match (optional, inner("Union["), inner("Literal[")) {
        (Some(some), ..) => vec![some, "null"],
        (_, Some(all), _) | (.., Some(all)) => parts(all, ',').collect(),
        _ => parts(text, '|').collect(),
    };
    if let Some(values) = forms.iter().map(|form| literal(form.trim())).collect::<Option<Vec<_>>>() {
        return Some(json!({ "type": "string", "enum": values }));
    }
    let mut types = IndexSet::new();
    let mut schema = Map::new();
    for form in forms.into_iter().map(str::trim) {
        if let Some(of) = form.strip_prefix("[]").or(form.strip_prefix("array of ")) {
            types.insert("array");
            schema.insert("items".into(), schema_of_type(of)?);
            continue;
        }
        let (base, inner) = form.split_once(['[', '<']).unwrap_or((form, ""));
        let (kind, inner) = match (inner.strip_suffix([']', '>']), inner.split_once(']')) {
            (Some(""), _) => ("array", base),
            (None, Some((_, value))) if base == "map" => ("object", value),
            (inner, _) => (standard_type(base)?, inner.unwrap_or_default()),
        };
        let inner: Vec<&str> = parts(inner, ',').collect();
        match (kind, inner.as_slice()) {
            // PHP's `array<string, int>`.
            ("array", [key, value]) if form.contains('<') && standard_type(key) == Some("string") => {
                types.insert("object");
                schema.extend(schema_of_type(value).map(|value| ("additionalProperties".to_string(), value)));
            }
            ("object", [.., value]) => {
                types.insert(kind);
                schema.extend(schema_of_type(value).map(|value| ("additionalProperties".to_string(), value)));
            }
            _ => {
                types.insert(kind);
                let item =
                    if kind == "array" { inner.first().and_then(|item| schema_of_type(item)) } else { None };
                schema.extend(item.map(|item| ("items".to_string(), item)));
            }
        }
    }
    let kind = if types.len() == 1 { types.pop()?.into() } else { types.into_iter().collect() };
    schema.shift_insert(0, "type".into(), kind);
    Some(schema.into())
}

/// The value of a quoted literal.
fn literal(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    text.strip_prefix(quote)?.strip_suffix(quote).filter(|value| standard_type(value).is_none())
}

/// The parts of a text between separators that are in no brackets.
pub fn parts(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    text.split(move |c: char| {
        depth += i32::from("[<({".contains(c)) - i32::from("]>)}".contains(c));
        c == separator && depth == 0
    })
}

//! Words for types: those of JSON Schema, and those of languages and careless authors, which may be whole expressions.

use indexmap::IndexSet;
use serde_json::{Map, Value};

/// The values of `type`.
pub const TYPES: [&str; 7] = ["object", "array", "number", "integer", "boolean", "string", "null"];

/// Type words of other languages and of careless authors (BFCL, Gemini, Python, Java).
const TYPE_WORDS: [(&str, &[&str]); 7] = [
    ("object", &["dict", "dictionary", "map", "hashmap", "struct", "record", "json", "obj"]),
    ("array", &["list", "arraylist", "tuple", "set", "sequence", "vector"]),
    ("number", &["float", "double", "decimal", "num", "float32", "float64"]),
    ("integer", &["int", "long", "short", "int32", "int64", "byte", "bigint", "uint"]),
    ("boolean", &["bool"]),
    (
        "string",
        &[
            "str", "char", "text", "date", "datetime", "date-time", "time", "url", "uri", "uuid", "enum",
            "file", "path", "email",
        ],
    ),
    ("null", &["none", "nil", "void"]),
];

/// The JSON Schema type that a word plainly means.
pub fn standard_type(word: &str) -> Option<&'static str> {
    let standard = |word: &str| TYPES.iter().find(|standard| **standard == word).copied();
    standard(word).or_else(|| {
        let lower = word.trim().to_ascii_lowercase();
        let base = lower.split(['<', '[', '(', ',']).next().unwrap_or_default().trim();
        let meant = || TYPE_WORDS.iter().find(|(_, words)| words.contains(&base));
        standard(base).or_else(|| meant().map(|(standard, _)| *standard))
    })
}

/// Longest type in words, in bytes.
const MAX_TYPE: usize = 200;

/// The schema that a type in words means: `Optional[List[str]]`, `string[]`, `int | None`, `string?`.
pub fn schema_of_type(text: &str) -> Option<Value> {
    let mut schema = Map::new();
    let types = types(text, &mut schema)?;
    let kind = if let [only] = types[..] { only.into() } else { types.into() };
    schema.shift_insert(0, "type".into(), kind);
    Some(schema.into())
}

/// The types in words; the items of lists go into `schema`.
fn types(text: &str, schema: &mut Map<String, Value>) -> Option<Vec<&'static str>> {
    let text = Some(text.trim()).filter(|text| text.len() <= MAX_TYPE)?;
    let (base, inner) = match text.strip_suffix("[]") {
        Some(item) => ("array", item),
        None => text.split_once(['[', '<']).unwrap_or((text, "")),
    };
    let inner = inner.strip_suffix([']', '>']).unwrap_or(inner);
    let forms: Vec<&str> = match (base.to_lowercase().as_str(), text.strip_suffix('?')) {
        (_, Some(some)) => vec![some, "null"],
        ("optional", _) => vec![inner, "null"],
        ("union", _) => parts(inner, ',').collect(),
        _ => parts(text, '|').collect(),
    };
    if forms.len() > 1 {
        let all: Option<Vec<_>> = forms.into_iter().map(|form| types(form, schema)).collect();
        let all: IndexSet<&str> = all?.into_iter().flatten().collect();
        return Some(all.into_iter().collect());
    }
    let kind = standard_type(base)?;
    if kind == "array"
        && let Some(item) = schema_of_type(inner)
    {
        schema.insert("items".into(), item);
    }
    Some(vec![kind])
}

/// The parts of a text between separators that are in no brackets.
pub fn parts(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    text.split(move |c: char| {
        depth += i32::from("[<({".contains(c)) - i32::from("]>)}".contains(c));
        c == separator && depth == 0
    })
}

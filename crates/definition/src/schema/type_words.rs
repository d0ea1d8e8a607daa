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

/// Longest type in words, in bytes.
const MAX_TYPE: usize = 200;

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

/// The schema that a type in words means: `Optional[List[str]]`, `string[]`, `int | None`, `string?`.
pub fn schema_of_type(text: &str) -> Option<Value> {
    let text = Some(text.trim()).filter(|text| text.len() <= MAX_TYPE)?;
    let inner = |name: &str| text.strip_prefix(name)?.strip_suffix(']');
    let forms: Vec<&str> = match (inner("Optional[").or(text.strip_suffix('?')), inner("Union[")) {
        (Some(some), _) => vec![some, "null"],
        (None, Some(all)) => parts(all, ',').collect(),
        (None, None) => parts(text, '|').collect(),
    };
    let mut types = IndexSet::new();
    let mut schema = Map::new();
    for form in forms {
        let (base, inner) = form.trim_end().split_once(['[', '<']).unwrap_or((form, ""));
        let (kind, item) = match inner.strip_suffix([']', '>']) {
            Some("") => ("array", base),
            item => (standard_type(base)?, item.unwrap_or_default()),
        };
        types.insert(kind);
        let item = if kind == "array" { schema_of_type(item) } else { None };
        schema.extend(item.map(|item| ("items".to_string(), item)));
    }
    let kind = if types.len() == 1 { types.pop()?.into() } else { types.into_iter().collect() };
    schema.shift_insert(0, "type".into(), kind);
    Some(schema.into())
}

/// The parts of a text between separators that are in no brackets.
pub fn parts(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    text.split(move |c: char| {
        depth += i32::from("[<({".contains(c)) - i32::from("]>)}".contains(c));
        c == separator && depth == 0
    })
}

//! Mistakes in a schema that compiles: words that nobody can have meant.

use serde_json::{Map, Value};

use crate::catalog::repair::standard_type;
use crate::finding::keyword::{TYPES, each_with_pointer, is_in_place, keyword};
use crate::finding::{Code, Finding, Place, nearest, pointer_join};
use crate::tool::clean_line;

/// Most findings about one schema.
const MAX: usize = 20;
/// Deepest schema that is looked at.
const MAX_DEPTH: usize = 64;

/// Formats of JSON Schema and of OpenAPI's registry.
const FORMATS: [&str; 44] = [
    "base64", "base64url", "binary", "byte", "char", "commonmark", "date", "date-time", "date-time-local",
    "decimal", "decimal128", "double", "double-int", "duration", "email", "float", "hostname", "html",
    "http-date", "idn-email", "idn-hostname", "int16", "int32", "int64", "int8", "ipv4", "ipv6", "iri",
    "iri-reference", "json-pointer", "media-range", "password", "regex", "relative-json-pointer", "time",
    "time-local", "uint16", "uint32", "uint64", "uint8", "uri", "uri-reference", "uri-template", "uuid",
];

/// Reports the mistakes of a schema as its author wrote it.
pub(super) fn report(schema: &Value, place: &Place, report: &mut impl FnMut(Finding)) {
    let mut found = Vec::new();
    visit(schema, &mut place.pointer.clone(), true, 0, &mut found);
    for (pointer, message, help) in found.into_iter().take(MAX) {
        let finding = Finding::new(Code::SchemaDoubtful, message).at(Place::new(&place.file, pointer));
        report(finding.help(help));
    }
}

/// Where a mistake is, what it is, and what to do.
type Mistake = (String, String, String);

/// `is_whole` is false below `allOf` and the like, where a name may be declared beside the schema.
fn visit(schema: &Value, pointer: &mut String, is_whole: bool, depth: usize, found: &mut Vec<Mistake>) {
    let Some(schema) = schema.as_object().filter(|_| depth < MAX_DEPTH && found.len() < MAX) else { return };
    unknown_type(schema, pointer, found);
    default_outside(schema, pointer, found);
    unknown_format(schema, pointer, found);
    const COMBINED: [&str; 7] =
        ["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependentSchemas"];
    if is_whole && !schema.keys().any(|key| COMBINED.contains(&key.as_str())) {
        undeclared(schema, pointer, found);
    }
    each_with_pointer(schema, pointer, &mut |keyword, at, child| {
        visit(child, at, !is_in_place(keyword), depth + 1, found);
    });
}

fn unknown_type(schema: &Map<String, Value>, pointer: &str, found: &mut Vec<Mistake>) {
    let Some(word) = keyword(schema, "type").and_then(Value::as_str) else { return };
    if standard_type(word).is_none() && !matches!(word.to_lowercase().as_str(), "any" | "file" | "") {
        let near = nearest(word, TYPES);
        let help = near.first().map_or_else(
            || format!("a type is one of {}", TYPES.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        let message = format!("`{}` is no type; the place accepts anything", clean_line(word));
        found.push((pointer_join(pointer, "type"), message, help));
    }
}

fn default_outside(schema: &Map<String, Value>, pointer: &str, found: &mut Vec<Mistake>) {
    let (Some(default), Some(Value::Array(values))) = (keyword(schema, "default"), keyword(schema, "enum"))
    else {
        return;
    };
    let is_listed = |value: &Value| match value {
        // A list of choices has a list as its default.
        Value::Array(chosen) => chosen.iter().all(|chosen| values.contains(chosen)),
        value => value.is_null() || values.contains(value),
    };
    if !is_listed(default) {
        let text = clean_line(&default.to_string());
        let message = format!("the default {text} is not one of the values of the enum");
        found.push((
            pointer_join(pointer, "default"),
            message,
            "correct the default, or add it to the enum".into(),
        ));
    }
}

/// Formats of one's own are common; only one that is nearly a known one is a mistake.
fn unknown_format(schema: &Map<String, Value>, pointer: &str, found: &mut Vec<Mistake>) {
    let Some(format) = keyword(schema, "format").and_then(Value::as_str) else { return };
    // Short words are near to many.
    if FORMATS.contains(&format) || (format.len() < 5 && format != "url") {
        return;
    }
    if let Some(near) = nearest(format, FORMATS).first() {
        let message = format!("`{}` is no known format", clean_line(format));
        found.push((pointer_join(pointer, "format"), message, format!("did you mean `{near}`?")));
    }
}

fn undeclared(schema: &Map<String, Value>, pointer: &str, found: &mut Vec<Mistake>) {
    let (Some(Value::Object(properties)), Some(Value::Array(required))) =
        (keyword(schema, "properties"), keyword(schema, "required"))
    else {
        return;
    };
    let names = required.iter().enumerate().filter_map(|(index, name)| Some((index, name.as_str()?)));
    for (index, name) in names.filter(|(_, name)| !properties.contains_key(*name)) {
        let near = nearest(name, properties.keys().map(String::as_str));
        let help = near
            .first()
            .map_or("declare it in `properties`".to_string(), |near| format!("did you mean `{near}`?"));
        let message = format!("`required` names `{}`, which is no property", clean_line(name));
        found.push((pointer_join(&pointer_join(pointer, "required"), index), message, help));
    }
}

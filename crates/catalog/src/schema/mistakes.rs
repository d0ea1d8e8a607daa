//! Mistakes in a schema that compiles: words that nobody can have meant.

use std::slice;

use hashbrown::HashSet;
use serde_json::{Map, Value};

use toolcrib_definition::document::{plain_number, pointer_join};
use toolcrib_definition::finding::{Code, Finding, Place, nearest};
use toolcrib_definition::schema::type_words::standard_type;
use toolcrib_definition::schema::walk::{
    declares_schema, each_with_pointer, is_composing, is_in_place, is_unknown, keyword, misspelled, type_of,
};
use toolcrib_definition::{clean_line, quoted};

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
pub(crate) fn report_mistakes(schema: &Value, place: &Place, report: &mut impl FnMut(Finding)) {
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
    let Some(schema) = schema.as_object() else { return };
    unknown_keywords(schema, pointer, found);
    default_outside(schema, pointer, found);
    bounds_crossed(schema, pointer, found);
    values_doubled(schema, pointer, found);
    unknown_format(schema, pointer, found);
    parts_of_another_type(schema, pointer, found);
    let declares_more = |key: &String| is_composing(key) || key == "patternProperties";
    if is_whole && !schema.keys().any(declares_more) {
        undeclared(schema, pointer, found);
    }
    each_with_pointer(schema, pointer, &mut |keyword, at, child| {
        if depth + 1 < MAX_DEPTH && found.len() < MAX {
            visit(child, at, !is_in_place(keyword), depth + 1, found);
        }
    });
}

fn unknown_keywords(schema: &Map<String, Value>, pointer: &str, found: &mut Vec<Mistake>) {
    for (key, _) in schema.iter().filter(|(key, value)| !value.is_null() && is_unknown(key)) {
        let message = format!("`{}` is no keyword of JSON Schema", clean_line(key));
        let help = match misspelled(key) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if declares_schema(&schema[key]) => "move it below `properties`".into(),
            None => "remove it, or begin its name with `x-`".into(),
        };
        found.push((pointer_join(pointer, key), message, help));
    }
}

/// A default that the schema refuses, for the first reason that there is.
fn default_outside(schema: &Map<String, Value>, pointer: &str, found: &mut Vec<Mistake>) {
    let Some(default) = keyword(schema, "default").filter(|default| !default.is_null()) else { return };
    let listed = keyword(schema, "enum").and_then(Value::as_array);
    let is_listed = |values: &Vec<Value>| match default {
        // A list of choices has a list as its default.
        Value::Array(chosen) => chosen.iter().all(|chosen| values.contains(chosen)),
        value => values.contains(value),
    };
    let types =
        keyword(schema, "type").map(|types| types.as_array().map_or(slice::from_ref(types), |all| all));
    let standard = types.into_iter().flatten().map(|word| word.as_str().and_then(standard_type));
    // Unknown types take anything.
    let types: Option<Vec<&str>> = standard.collect();
    let is_type = |word: &&str| *word == type_of(default) || (*word == "number" && default.is_number());
    let (why, help) = if types.is_some_and(|types| !types.is_empty() && !types.iter().any(is_type)) {
        ("has another type than its schema", "write a default of that type, or correct the `type`")
    } else if listed.is_some_and(|values| !is_listed(values)) {
        ("is not one of the values of the enum", "correct the default, or add it to the enum")
    } else if BOUNDS.iter().any(|bounds| is_beyond(default, schema, bounds)) {
        ("is beyond the limits of its schema", "correct the default, or the limits")
    } else {
        return;
    };
    let message = format!("the default {} {why}", quoted(&default.to_string()));
    found.push((pointer_join(pointer, "default"), message, help.into()));
}

/// Pairs of limits: the lower one, the upper one.
const BOUNDS: [[&str; 2]; 5] = [
    ["minimum", "maximum"],
    ["minLength", "maxLength"],
    ["minItems", "maxItems"],
    ["minProperties", "maxProperties"],
    ["minContains", "maxContains"],
];

/// The limits of a pair.
fn limits(schema: &Map<String, Value>, bounds: &[&str; 2]) -> [Option<f64>; 2] {
    bounds.map(|key| keyword(schema, key).and_then(plain_number).and_then(|limit| limit.as_f64()))
}

fn is_beyond(value: &Value, schema: &Map<String, Value>, bounds: &[&str; 2]) -> bool {
    let size = match (bounds[0], value) {
        ("minimum", Value::Number(number)) => number.as_f64(),
        ("minLength", Value::String(text)) => Some(text.chars().count() as f64),
        ("minItems", Value::Array(items)) => Some(items.len() as f64),
        _ => None,
    };
    let [lower, upper] = limits(schema, bounds);
    let is_crossed = lower.zip(upper).is_some_and(|(lower, upper)| lower > upper);
    let is_out =
        |size: f64| lower.is_some_and(|lower| size < lower) || upper.is_some_and(|upper| size > upper);
    !is_crossed && size.is_some_and(is_out)
}

fn bounds_crossed(schema: &Map<String, Value>, pointer: &str, found: &mut Vec<Mistake>) {
    let exclusive = ["exclusiveMinimum", "exclusiveMaximum"];
    for bounds in BOUNDS.iter().chain([&exclusive]) {
        if let [Some(lower), Some(upper)] = limits(schema, bounds)
            && (lower > upper || (lower == upper && *bounds == exclusive))
        {
            let message = format!("`{}` {lower} leaves no value below `{}` {upper}", bounds[0], bounds[1]);
            found.push((pointer_join(pointer, bounds[0]), message, "exchange or correct the two".into()));
        }
    }
}

fn values_doubled(schema: &Map<String, Value>, pointer: &str, found: &mut Vec<Mistake>) {
    let Some(Value::Array(values)) = keyword(schema, "enum") else { return };
    let mut seen = HashSet::new();
    let doubled = values.iter().enumerate().find(|(_, value)| !seen.insert(value.to_string()));
    if let Some((index, value)) = doubled {
        let message = format!("the enum has {} twice", quoted(&value.to_string()));
        let place = pointer_join(&pointer_join(pointer, "enum"), index);
        found.push((place, message, "remove one of the two".into()));
    }
}

/// Keywords that say nothing of values of the type that stands with them.
fn parts_of_another_type(schema: &Map<String, Value>, pointer: &str, found: &mut Vec<Mistake>) {
    let kind = keyword(schema, "type").and_then(Value::as_str).and_then(standard_type);
    for (key, of) in [("items", "array"), ("properties", "object")] {
        if keyword(schema, key).is_some_and(Value::is_object) && kind.is_some_and(|kind| kind != of) {
            let message = format!("`{key}` say nothing of the type `{}`", kind.unwrap_or_default());
            found.push((
                pointer_join(pointer, key),
                message,
                format!("write `{of}` as the type, or remove them"),
            ));
        }
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
    let undeclared = names.filter(|(_, name)| !properties.contains_key(*name));
    for (index, name) in undeclared.take(MAX) {
        let help = match nearest(name, properties.keys().map(String::as_str)).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => "declare it in `properties`".into(),
        };
        let message = format!("`required` names `{}`, which is no property", clean_line(name));
        found.push((pointer_join(&pointer_join(pointer, "required"), index), message, help));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{MAX, visit};

    #[test]
    fn few_names_are_compared_with_properties() {
        let names: Vec<String> = (0..100_000).map(|index| format!("name_{index}")).collect();
        let mut found = Vec::new();
        visit(
            &json!({"properties": {"name": {}}, "required": names}),
            &mut String::new(),
            true,
            0,
            &mut found,
        );
        assert_eq!(found.len(), MAX);
    }

    #[test]
    fn limits_and_values_that_contradict_each_other_are_found_once() {
        let check = |schema: serde_json::Value, expect: &[&str]| {
            let mut found = Vec::new();
            visit(&schema, &mut String::new(), true, 0, &mut found);
            let pointers: Vec<&str> = found.iter().map(|(pointer, ..)| pointer.as_str()).collect();
            assert_eq!(pointers, expect, "{schema}");
        };
        check(json!({"type": "integer", "default": "ten", "enum": [1, 2]}), &["/default"]);
        check(json!({"type": ["string", "null"], "default": 5}), &["/default"]);
        check(json!({"type": "number", "default": 5}), &[]);
        check(json!({"type": "string", "default": null}), &[]);
        check(json!({"default": 11, "maximum": 10}), &["/default"]);
        check(json!({"default": "abc", "maxLength": 2}), &["/default"]);
        check(json!({"default": 5, "minimum": 10, "maximum": 1}), &["/minimum"]);
        check(json!({"minLength": 3, "maxLength": 2}), &["/minLength"]);
        check(json!({"minItems": 3, "maxItems": 2}), &["/minItems"]);
        check(json!({"exclusiveMinimum": 3, "exclusiveMaximum": 3}), &["/exclusiveMinimum"]);
        check(json!({"minimum": 3, "maximum": 3}), &[]);
        check(json!({"enum": ["a", "b", "a", "a"]}), &["/enum/2"]);
    }
}

//! OpenAI's strict subset (docs/reference/formats.md, Strict schemas).

use serde_json::Value;

use super::report::Report;
use super::schema::{Node, Schema};

const KEYWORDS: [&str; 20] = [
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref",
    "$defs", "description", "title", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf", "minItems", "maxItems",
];
const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// All rules of the subset.
pub fn subset(schema: &Schema<'_>, report: &mut Report) {
    report.demand(schema.root.get("anyOf").is_none(), "strict: the root is no anyOf", schema.pointer);
    for node in schema.nodes() {
        keywords(node, report);
        closed(node, report);
        references(node, report);
        let untyped = node.has_type("array") && !node.value.get("items").is_some_and(is_typed);
        report.demand(!untyped, "strict: arrays have typed items", &node.pointer);
    }
    limits(schema, report);
}

fn keywords(node: &Node<'_>, report: &mut Report) {
    let is_schema = node.value.is_object() || node.pointer.ends_with("/additionalProperties");
    report.demand(is_schema, "strict: no boolean for a schema", &node.pointer);
    for (key, value) in node.keywords() {
        let pointer = format!("{}/{key}", node.pointer);
        match (key.as_str(), value.as_str()) {
            ("format", Some(format)) => {
                report.demand(FORMATS.contains(&format), "strict: formats that are known", &pointer);
            }
            ("pattern", Some(pattern)) => {
                let looks = ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| pattern.contains(look));
                report.demand(!looks, "strict: no lookaround", &pointer);
            }
            (key, _) => {
                report.demand(KEYWORDS.contains(&key), "strict: keywords that are permitted", &pointer)
            }
        }
    }
}

/// "'required' is required to be supplied and to be an array including every key in properties".
fn closed(node: &Node<'_>, report: &mut Report) {
    if !node.has_type("object") && node.properties().is_none() {
        return;
    }
    let is_closed = node.value.get("additionalProperties") == Some(&Value::Bool(false));
    report.demand(is_closed, "strict: every object is closed", &node.pointer);
    let mut required = node.required();
    let mut properties: Vec<&str> =
        node.properties().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    required.sort_unstable();
    properties.sort_unstable();
    let is_array = node.value.get("required").is_some_and(Value::is_array);
    report.demand(is_array && required == properties, "strict: every property is required", &node.pointer);
}

/// `#` or `#/$defs/x`, without siblings.
fn references(node: &Node<'_>, report: &mut Report) {
    let Some(reference) = node.value.get("$ref").and_then(Value::as_str) else { return };
    let simple = reference.strip_prefix("#/$defs/").is_some_and(|name| !name.contains('/'));
    report.demand(simple || reference == "#", "strict: references to # or #/$defs/x", &node.pointer);
    report.demand(node.keywords().count() == 1, "strict: references stand alone", &node.pointer);
}

fn is_typed(items: &Value) -> bool {
    ["type", "anyOf", "$ref", "enum", "const"].iter().any(|key| items.get(key).is_some())
}

/// 5,000 properties, 10 levels, 1,000 enum values, 120,000 characters; long enums of strings are short texts.
fn limits(schema: &Schema<'_>, report: &mut Report) {
    let nodes = schema.nodes();
    let names = || nodes.iter().flat_map(|node| node.properties().into_iter().flatten()).map(|(key, _)| key);
    let enums = || nodes.iter().filter_map(|node| node.value.get("enum").and_then(Value::as_array));
    let length = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
    let total: usize = names().map(|name| name.chars().count()).sum::<usize>()
        + enums().flatten().map(length).sum::<usize>();
    let objects = nodes.iter().filter(|node| node.has_type("object") || node.has_type("array"));
    report.demand(names().count() <= 5_000, "strict: at most 5,000 properties", schema.pointer);
    report.demand(
        objects.map(|node| node.depth).max() <= Some(10),
        "strict: at most 10 levels",
        schema.pointer,
    );
    report.demand(enums().flatten().count() <= 1_000, "strict: at most 1,000 enum values", schema.pointer);
    report.demand(total <= 120_000, "strict: at most 120,000 characters", schema.pointer);
    let long = enums().any(|values| values.len() > 250 && values.iter().map(length).sum::<usize>() > 15_000);
    report.demand(!long, "strict: long enums have at most 15,000 characters", schema.pointer);
}

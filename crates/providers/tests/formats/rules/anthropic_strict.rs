//! Anthropic's strict subset, also behind Bedrock (docs/reference/formats.md, Anthropic Messages).

use std::collections::HashMap;

use serde_json::Value;

use super::judge::Found;
use super::report::Report;
use super::schema::{Node, Schema};

const FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];
const LIMITS: [&str; 12] = [
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
    "maxItems", "uniqueItems", "minProperties", "maxProperties", "patternProperties",
];

/// All rules of the subset that a schema can break by itself.
pub fn subset(schema: &Schema<'_>, report: &mut Report) {
    for node in schema.nodes() {
        let is_object = node.has_type("object") || node.properties().is_some();
        let is_closed = node.value.get("additionalProperties") == Some(&Value::Bool(false));
        report.demand(is_closed || !is_object, "strict: every object is closed", &node.pointer);
        for word in LIMITS.iter().filter(|word| node.value.get(**word).is_some()) {
            report.demand(false, &format!("strict: no {word}"), &node.pointer);
        }
        let few = node.value.get("minItems").is_none_or(|least| [0, 1].map(Value::from).contains(least));
        report.demand(few, "strict: minItems is 0 or 1", &node.pointer);
        let format = node.value.get("format").and_then(Value::as_str);
        report.demand(
            format.is_none_or(|format| FORMATS.contains(&format)),
            "strict: formats that are known",
            &node.pointer,
        );
    }
    report.demand(!is_recursive(schema), "strict: no recursion", schema.pointer);
}

/// Whether a reference leads back to itself.
fn is_recursive(schema: &Schema<'_>) -> bool {
    let nodes = schema.nodes();
    let targets = |inside: &str| -> Vec<String> {
        let within =
            |node: &&Node<'_>| node.pointer == inside || node.pointer.starts_with(&format!("{inside}/"));
        let references =
            nodes.iter().filter(within).filter_map(|node| node.value.get("$ref").and_then(Value::as_str));
        references.map(|reference| format!("{}{}", schema.pointer, &reference[1..])).collect()
    };
    let mut below: HashMap<String, Vec<String>> = HashMap::new();
    let mut open: Vec<String> = targets(schema.pointer);
    while let Some(target) = open.pop() {
        if let std::collections::hash_map::Entry::Vacant(place) = below.entry(target) {
            let next = targets(place.key());
            open.extend(next.clone());
            place.insert(next);
        }
    }
    // Definitions without references are removed until none is left; the others are on a cycle, or lead to one.
    loop {
        let before = below.len();
        let ends: Vec<String> = below
            .iter()
            .filter(|(_, next)| next.iter().all(|next| !below.contains_key(next)))
            .map(|(name, _)| name.clone())
            .collect();
        ends.iter().for_each(|name| drop(below.remove(name)));
        if below.len() == before {
            return !below.is_empty();
        }
    }
}

/// At most 20 strict tools, 24 optional and 16 union parameters in one request.
pub fn per_request(found: &[Found<'_>], report: &mut Report) {
    let (mut tools, mut optional, mut unions) = (0, 0, 0);
    for function in found.iter().filter(|function| function.strict) {
        tools += 1;
        let schema = Schema::new(function.schema.unwrap_or(&Value::Null), "", true);
        for node in schema.nodes() {
            optional += node.properties().map_or(0, |all| all.len() - node.required().len().min(all.len()));
            let is_union =
                node.value.get("anyOf").is_some() || node.value.get("type").is_some_and(Value::is_array);
            unions += usize::from(is_union);
        }
    }
    report.demand(tools <= 20, "strict: at most 20 tools", "/tools");
    report.demand(optional <= 24, "strict: at most 24 optional parameters", "/tools");
    report.demand(unions <= 16, "strict: at most 16 union parameters", "/tools");
}

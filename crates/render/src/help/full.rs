//! Full help on one op.

use serde_json::{Map, Value, json};

use super::arguments::{whole, whole_result};
use super::call::{call, conditions, fill_in};
use super::usage::usage;
use toolcrib_catalog::Tool;

pub(super) fn full(tool: &Tool, examples: bool) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut add = |name: &str, value: Value| {
        let is_nothing = match &value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        if !is_nothing {
            fields.insert(name.into(), value);
        }
    };
    add("op", tool.names.op.as_str().into());
    add("name", tool.names.canonical.as_str().into());
    add("aliases", tool.names.aliases.as_slice().into());
    add("categories", json!(tool.labels.categories));
    add("summary", tool.texts.short.as_str().into());
    add("description", tool.texts.long.trim().into());
    add("usage", usage(tool).into());
    add("args", whole(tool).into());
    add("returns", json!(tool.texts.returns));
    add("result", whole_result(tool).into());
    add("errors", tool.texts.raises.as_slice().into());
    add("notes", tool.texts.notes.as_slice().into());
    add("policy", json!(tool.texts.policy));
    for (name, value) in conditions(tool) {
        add(&name, value);
    }
    add("cost", json!(tool.labels.cost));
    add("capabilities", tool.labels.capabilities.as_slice().into());
    if examples {
        let call = |example: &toolcrib_definition::Example| {
            let mut told = Map::new();
            told.extend(example.title.as_deref().map(|title| ("title".to_string(), title.into())));
            told.insert("call".into(), json!({ "op": tool.names.op, "args": example.arguments }));
            told.extend(example.result.clone().map(|result| ("result".to_string(), result)));
            Value::Object(told)
        };
        add("examples", tool.texts.examples.iter().map(call).collect());
        add("example_texts", tool.texts.example_texts.as_slice().into());
    }
    let call = call(tool);
    add("fill_in", fill_in(tool, call.as_ref()).into());
    add("call", call.into());
    fields
}

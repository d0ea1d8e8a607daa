//! Full help on one op.

use serde_json::{Map, Value, json};

use super::{Format, HelpOptions, arguments, call, conditions, fill_in, of_tool, usage};
use crate::catalog::Tool;
use crate::tokens::estimate;

pub(super) fn full(tool: &Tool, examples: bool) -> Map<String, Value> {
    let definition = &tool.definition;
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
    add("op", tool.op.as_str().into());
    add("name", tool.name.as_str().into());
    add("aliases", tool.aliases.as_slice().into());
    add("categories", json!(tool.categories));
    add("summary", tool.short.as_str().into());
    add("description", tool.long.trim().into());
    add("usage", usage(tool).into());
    add("args", arguments::whole(tool).into());
    add("returns", json!(tool.returns));
    add("errors", tool.raises.as_slice().into());
    add("notes", tool.notes.as_slice().into());
    add("policy", json!(tool.policy));
    for (name, value) in conditions(tool) {
        add(&name, value);
    }
    add("cost", json!(definition.cost));
    add("capabilities", definition.capabilities.as_slice().into());
    if examples {
        let call = |example: &crate::tool::Example| {
            let mut told = Map::new();
            told.extend(example.title.as_deref().map(|title| ("title".to_string(), title.into())));
            told.insert("call".into(), json!({ "op": tool.op, "args": example.arguments }));
            told.extend(example.result.clone().map(|result| ("result".to_string(), result)));
            Value::Object(told)
        };
        add("examples", tool.examples.iter().map(call).collect());
        add("example_texts", tool.example_texts.as_slice().into());
    }
    let call = call(tool);
    add("fill_in", fill_in(tool, call.as_ref()));
    add("call", call.into());
    fields
}

/// Most tokens of small help.
const SMALL: usize = 160;
/// Tokens of help that are made; help on an op with many arguments is cut before its small size is known.
const MOST: usize = 1_000;
/// Fields of help, and of an argument in it, that a summary or a usage has.
const KNOWN: [&str; 9] =
    ["op", "summary", "usage", "effect", "effect_guessed", "call", "fill_in", "left_out", "more"];
const KNOWN_OF_ARGUMENT: [&str; 4] = ["type", "required", "enum", "fields"];

/// Short help beyond what a hit of a search and its usage say, with its estimated tokens, if there is any and it is small.
pub fn small(tool: &Tool) -> Option<(Map<String, Value>, usize)> {
    let wanted = HelpOptions { format: Format::Short, examples: false, schemas: false, short_tokens: MOST };
    let mut help = of_tool(tool, wanted);
    help.retain(|field, _| !KNOWN.contains(&field.as_str()));
    if let Some(Value::Array(rows)) = help.get_mut("args") {
        let fields = |row: &mut Value| {
            let row = row.as_object_mut()?;
            row.retain(|field, _| !KNOWN_OF_ARGUMENT.contains(&field.as_str()));
            Some(row.len())
        };
        rows.retain_mut(|row| fields(row) > Some(1));
    }
    help.retain(|_, value| value.as_array().is_none_or(|list| !list.is_empty()));
    let tokens = estimate(&serde_json::to_string(&help).ok()?);
    (!help.is_empty() && tokens <= SMALL).then_some((help, tokens))
}

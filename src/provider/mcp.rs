//! MCP: the tools of a `tools/list` result (docs/reference/wires.md).

use serde_json::{Map, Value, json};

use super::bound_function::{BoundFunction, BoundFunctions, Extent};
use super::fields::{object, objects, take, take_object};
use super::raw_call::{Calls, RawCall};
use super::results::ToolResult;
use super::rules::{Cache, JSON_SCHEMA, NameRule, Native, Rules, Stub};
use super::view::{self, Root, SchemaRules};
use super::wire::Wire;
use crate::tool::{Effect, clean_line};

/// The wire.
pub(super) struct Mcp;

/// The expected form of a request, for errors.
const EXPECTED: &str = "a JSON-RPC request with `method`, or a batch of them";

const RULES: Rules = Rules {
    names: NameRule::Mcp,
    max_entries: None,
    native: Native::No,
    cache: Cache::Never,
    schema: SchemaRules { root: Root::Object, ..JSON_SCHEMA },
    stub: Stub::Bare,
};

impl Wire for Mcp {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn function(&self, function: &BoundFunction<'_>) -> Value {
        let definition = &function.tool.definition;
        let mut fields = Map::new();
        fields.insert("name".into(), function.name.as_str().into());
        if let Some(title) = definition.title.as_ref().filter(|_| function.extent == Extent::Full) {
            fields.insert("title".into(), clean_line(title).into());
        }
        fields.insert("description".into(), function.description.as_str().into());
        fields.insert(
            "inputSchema".into(),
            function.schema.clone().unwrap_or_else(|| json!({"type": "object"})),
        );
        // Before revision 2026-07-28 a result is an object.
        let result = definition.result_schema.as_ref().map(|schema| schema.value());
        let is_object = |schema: &&Value| schema.get("type").is_some_and(|word| word == "object");
        if let Some(schema) = result.filter(is_object).filter(|_| function.extent == Extent::Full) {
            fields.insert("outputSchema".into(), view::cleaned(schema));
        }
        // Omitted hints have these defaults: not read-only, destructive.
        match function.tool.effect {
            Effect::Read => fields.insert("annotations".into(), json!({"readOnlyHint": true})),
            Effect::Write => fields.insert("annotations".into(), json!({"destructiveHint": false})),
            Effect::Destructive => None,
        };
        Value::Object(fields)
    }

    fn body(&self, bound: &BoundFunctions<'_>) -> Value {
        let tools: Vec<Value> = bound.functions.iter().map(|function| self.function(function)).collect();
        object([("tools", tools.into())])
    }

    fn calls(&self, response: Value) -> Calls {
        let is_message = |message: &Value| message.get("method").is_some_and(Value::is_string);
        let messages = match response {
            Value::Array(messages) if messages.iter().all(is_message) => messages,
            message if is_message(&message) => vec![message],
            _ => return Err(EXPECTED),
        };
        let call = |mut message: Map<String, Value>| {
            if message.get("method").is_none_or(|method| method != "tools/call") {
                return None;
            }
            let mut params = take_object(&mut message, "params").unwrap_or_default();
            let call_id = take(&mut message, "id").and_then(id_text);
            Some(RawCall { call_id, ..RawCall::of(&mut params, "id", "name", "arguments") })
        };
        Ok(objects(messages).filter_map(call).collect())
    }

    fn result_messages(&self, results: &[ToolResult]) -> Value {
        let mut responses: Vec<Value> = results.iter().map(answer).collect();
        match (responses.pop(), responses.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                responses.extend(last);
                Value::Array(responses)
            }
        }
    }
}

/// JSON-RPC's code for a call of an unknown tool (docs/reference/wires.md, MCP).
const INVALID_PARAMS: i32 = -32602;

/// An id as text: a number or a plain string as it is; a string that looks like a number or like JSON stays in its
/// quotes.
fn id_text(id: Value) -> Option<String> {
    match id {
        Value::String(text) => {
            let is_plain = matches!(id_value(&text), Value::String(same) if same == text);
            Some(if is_plain { text } else { Value::String(text).to_string() })
        }
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The id that a text stands for.
fn id_value(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(id @ (Value::Number(_) | Value::String(_))) => id,
        _ => text.into(),
    }
}

fn answer(tool_result: &ToolResult) -> Value {
    // An unknown tool is a protocol error; an error of a call is a result for the model.
    let is_unknown =
        tool_result.is_error && tool_result.content.get("code").is_some_and(|code| code == "unknown_tool");
    if let (true, Some(id)) = (is_unknown, &tool_result.call_id) {
        let message = tool_result.content.get("message").cloned().unwrap_or_default();
        return json!({"jsonrpc": "2.0", "id": id_value(id), "error": {"code": INVALID_PARAMS, "message": message}});
    }
    let mut result = Map::new();
    // Clients of earlier revisions ignore it.
    result.insert("resultType".into(), "complete".into());
    result.insert("content".into(), json!([{"type": "text", "text": tool_result.text()}]));
    // Before revision 2026-07-28 it is an object.
    if tool_result.content.is_object() && !tool_result.is_error {
        result.insert("structuredContent".into(), tool_result.content.clone());
    }
    result.insert("isError".into(), tool_result.is_error.into());
    match &tool_result.call_id {
        Some(id) => json!({"jsonrpc": "2.0", "id": id_value(id), "result": result}),
        None => Value::Object(result),
    }
}

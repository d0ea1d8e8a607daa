//! MCP: the tools of a `tools/list` result (docs/reference/formats.md).

use serde_json::{Map, Value, json};

use super::chat_completions::COMMON;
use super::format::{
    BoundFunction, Calls, Extent, Format, JSON_SCHEMA, NameRule, RawCall, Stub, ToolResult, is, object,
    objects, one_or_many, take, take_object, text,
};
use super::view::{self, Root, SchemaRules};
use toolcrib_definition::{Effect, clean_line};

pub(super) const MCP: Format = Format {
    title: "MCP tools/list",
    needs_call_id: false,
    names: NameRule::Mcp,
    schema: SchemaRules { root: Root::Object, ..JSON_SCHEMA },
    stub: Stub::Bare,
    function,
    body: |bound| object([("tools", Some(bound.as_list(function).into()))]),
    calls,
    result,
    turn: |mut responses| match responses.len() {
        1 => responses.swap_remove(0),
        _ => responses.into(),
    },
    ..COMMON
};

/// The expected form of a request, for errors.
const EXPECTED: &str = "a JSON-RPC request with `method`, or a batch of them";
/// JSON-RPC's code for a call of an unknown tool (docs/reference/formats.md, MCP).
const INVALID_PARAMS: i32 = -32602;

fn function(function: &BoundFunction<'_>) -> Value {
    // The list of our own functions is short, and has their whole schemas.
    let own = function.ours.then(|| function.tool.input.parameters.schema().clone());
    let full = (function.extent == Extent::Full).then_some(function.tool);
    let title = full.and_then(|tool| tool.names.title.as_ref());
    // Before revision 2026-07-28 a result is an object.
    let result = full.and_then(|tool| tool.output.as_ref()).map(|schema| schema.value());
    let is_object = |schema: &&Value| schema.get("type").is_some_and(|word| word == "object");
    // Omitted hints have these defaults: not read-only, destructive.
    let annotations = match function.tool.rules.effect {
        Effect::Read => Some(json!({"readOnlyHint": true})),
        Effect::Write => Some(json!({"destructiveHint": false})),
        Effect::Destructive => None,
    };
    object([
        ("name", text(&function.name)),
        ("title", title.map(|title| clean_line(title).into())),
        ("description", text(&function.description)),
        ("inputSchema", own.or_else(|| function.schema.clone()).or_else(|| Some(json!({"type": "object"})))),
        ("outputSchema", result.filter(is_object).map(view::cleaned)),
        ("annotations", annotations),
    ])
}

fn calls(response: Value) -> Calls {
    let messages = one_or_many(response);
    if !messages.iter().all(|message| message.get("method").is_some_and(Value::is_string)) {
        return Err(EXPECTED);
    }
    let call = |mut message: Map<String, Value>| {
        let mut params = take_object(&mut message, "params").unwrap_or_default();
        let call_id = take(&mut message, "id").and_then(id_text);
        RawCall { call_id, ..RawCall::of(&mut params, "id", "name", "arguments") }
    };
    Ok(objects(messages).filter(|message| is(message, "method", "tools/call")).map(call).collect())
}

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

fn result(result: &ToolResult) -> Value {
    // An unknown tool is a protocol error; an error of a call is a result for the model.
    let is_unknown = result.is_error && result.content.get("code").is_some_and(|code| code == "unknown_tool");
    if let (true, Some(id)) = (is_unknown, &result.call_id) {
        let message = result.content.get("message").cloned().unwrap_or_default();
        return json!({"jsonrpc": "2.0", "id": id_value(id), "error": {"code": INVALID_PARAMS, "message": message}});
    }
    // Before revision 2026-07-28 it is an object.
    let structured = (result.content.is_object() && !result.is_error).then(|| result.content.clone());
    let fields = object([
        // Clients of earlier revisions ignore it.
        ("resultType", text("complete")),
        ("content", Some(json!([{"type": "text", "text": result.text()}]))),
        ("structuredContent", structured),
        ("isError", Some(result.is_error.into())),
    ]);
    match &result.call_id {
        Some(id) => json!({"jsonrpc": "2.0", "id": id_value(id), "result": fields}),
        None => fields,
    }
}

//! LangChain: the list of dicts that `bind_tools` takes (docs/reference/wires.md).

use serde_json::{Map, Value, json};

use super::chat_completions::{self, COMMON};
use super::view::{Keys, SchemaRules, Strict};
use super::wire::{
    BoundFunction, Calls, JSON_SCHEMA, Native, RawCall, Wire, objects, one_or_many, take_list, take_object,
    take_text,
};

/// LangChain.
pub(super) const LANGCHAIN: Wire = Wire {
    max_entries: Some(128),
    entries: "",
    native: Native::Single,
    schema: SchemaRules { keys: Keys::Portable, strict: Some(Strict::OpenAi), ..JSON_SCHEMA },
    deferral_note: Some(DEFERRAL),
    function,
    body: |bound| bound.as_list(function).into(),
    calls,
    result: |result| {
        json!({
            "type": "tool", "content": result.text(), "tool_call_id": result.call_id.as_deref().unwrap_or_default(),
            "name": result.name, "status": if result.is_error { "error" } else { "success" }
        })
    },
    ..COMMON
};

/// The expected form of a response, for errors.
const EXPECTED: &str = "a dumped `AIMessage`, a list of dumped messages, or `AIMessage.tool_calls`";
/// The note on deferred tools.
const DEFERRAL: &str = "LangChain passes `extras` on from tool objects only: make each tool with `StructuredTool(..., extras=...)`, \
    and bind the search of your provider beside them: {\"type\": \"tool_search\"} for OpenAI, \
    {\"type\": \"tool_search_tool_bm25_20251119\", \"name\": \"tool_search_tool_bm25\"} for Anthropic";
/// The types of messages.
const KINDS: [&str; 8] =
    ["ai", "AIMessageChunk", "human", "HumanMessageChunk", "system", "tool", "function", "chat"];

/// `extras` reach the provider from tool objects, such as `StructuredTool(extras=...)`.
fn function(function: &BoundFunction<'_>) -> Value {
    let mut entry = chat_completions::function(function);
    if let Some(fields) = entry.as_object_mut().filter(|_| function.deferred) {
        fields.insert("extras".into(), json!({"defer_loading": true}));
    }
    entry
}

fn calls(response: Value) -> Calls {
    // `AIMessage.tool_calls` by itself.
    let is_call = |call: &Value| call.get("args").is_some() && call.get("name").is_some();
    let call = |mut call: Map<String, Value>| RawCall::of(&mut call, "id", "name", "args");
    let messages = one_or_many(response);
    if !messages.is_empty() && messages.iter().all(is_call) {
        return Ok(objects(messages).map(call).collect());
    }
    let mut calls = Vec::new();
    for message in messages {
        let mut message = message_fields(message).ok_or(EXPECTED)?;
        calls.extend(objects(take_list(&mut message, "tool_calls").unwrap_or_default()).map(call));
        let invalid = take_list(&mut message, "invalid_tool_calls").unwrap_or_default();
        calls.extend(objects(invalid).map(invalid_call));
    }
    Ok(calls)
}

/// The fields of a message, out of the dump that it comes in.
fn message_fields(message: Value) -> Option<Map<String, Value>> {
    let Value::Object(mut fields) = message else { return None };
    // In `AIMessage.tool_calls` alone, `args` stands in place of the `function` of other wires.
    let has_calls = |fields: &Map<String, Value>| {
        let calls = fields.get("tool_calls").and_then(Value::as_array);
        calls.is_some_and(|calls| calls.iter().all(|call| call.get("args").is_some()))
    };
    match fields.get("type").and_then(Value::as_str) {
        Some("constructor") => take_object(&mut fields, "kwargs"),
        Some(kind) if KINDS.contains(&kind) => take_object(&mut fields, "data").or(Some(fields)),
        _ => Some(fields).filter(|fields| !fields.contains_key("role") && has_calls(fields)),
    }
}

/// A call that LangChain could not read; it is read once more here, unless it has no content.
fn invalid_call(mut call: Map<String, Value>) -> RawCall {
    let said = take_text(&mut call, "error");
    let call = RawCall::of(&mut call, "id", "name", "args");
    let malformed = match &call.arguments {
        Some(Value::String(text)) if !text.trim().is_empty() => None,
        _ => Some(said.unwrap_or_else(|| "LangChain could not read the arguments of the call".into())),
    };
    RawCall { malformed, ..call }
}

//! LangChain: the list of dicts that `bind_tools` takes (docs/reference/wires.md).

use serde_json::{Map, Value, json};

use super::bound_function::{BoundFunction, BoundFunctions};
use super::chat_completions;
use super::fields::{objects, take_list, take_object, take_text};
use super::raw_call::{Calls, RawCall};
use super::results::ToolResult;
use super::rules::{Cache, JSON_SCHEMA, NameRule, Native, Rules, Stub};
use super::view::{Keys, SchemaRules, Strict};
use super::wire::Wire;

/// The wire.
pub(super) struct LangChain;

/// The expected form of a response, for errors.
const EXPECTED: &str = "a dumped `AIMessage`, a list of dumped messages, or `AIMessage.tool_calls`";
/// The note on deferred tools.
const DEFERRAL: &str = "LangChain passes `extras` on from tool objects only: make each tool with `StructuredTool(..., extras=...)`, \
    and bind the search of your provider beside them: {\"type\": \"tool_search\"} for OpenAI, \
    {\"type\": \"tool_search_tool_bm25_20251119\", \"name\": \"tool_search_tool_bm25\"} for Anthropic";
/// The types of messages.
const KINDS: [&str; 8] =
    ["ai", "AIMessageChunk", "human", "HumanMessageChunk", "system", "tool", "function", "chat"];

const RULES: Rules = Rules {
    names: NameRule::Safe,
    max_entries: Some(128),
    native: Native::Single,
    cache: Cache::Never,
    schema: SchemaRules { keys: Keys::Portable, strict: Some(Strict::OpenAi), ..JSON_SCHEMA },
    stub: Stub::Empty,
};

impl Wire for LangChain {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    /// `extras` reach the provider from tool objects, such as `StructuredTool(extras=...)`.
    fn function(&self, function: &BoundFunction<'_>) -> Value {
        let mut entry = chat_completions::function(function);
        if let Some(fields) = entry.as_object_mut().filter(|_| function.deferred) {
            fields.insert("extras".into(), json!({"defer_loading": true}));
        }
        entry
    }

    fn deferral_note(&self) -> Option<&'static str> {
        Some(DEFERRAL)
    }

    fn body(&self, bound: &BoundFunctions<'_>) -> Value {
        Value::Array(bound.functions.iter().map(|function| self.function(function)).collect())
    }

    fn entries(&self, body: &Value) -> usize {
        body.as_array().map_or(0, Vec::len)
    }

    fn calls(&self, response: Value) -> Calls {
        // `AIMessage.tool_calls` by itself.
        let is_call = |call: &Value| call.get("args").is_some() && call.get("name").is_some();
        let messages = match response {
            Value::Array(calls) if !calls.is_empty() && calls.iter().all(is_call) => {
                return Ok(objects(calls)
                    .map(|mut call| RawCall::of(&mut call, "id", "name", "args"))
                    .collect());
            }
            Value::Array(messages) => messages,
            message => vec![message],
        };
        let mut calls = Vec::new();
        for message in messages {
            let mut message = message_fields(message).ok_or(EXPECTED)?;
            let valid = take_list(&mut message, "tool_calls").unwrap_or_default();
            calls.extend(objects(valid).map(|mut call| RawCall::of(&mut call, "id", "name", "args")));
            let invalid = take_list(&mut message, "invalid_tool_calls").unwrap_or_default();
            calls.extend(objects(invalid).map(invalid_call));
        }
        Ok(calls)
    }

    fn result_messages(&self, results: &[ToolResult]) -> Value {
        let message = |tool_result: &ToolResult| {
            let status = if tool_result.is_error { "error" } else { "success" };
            json!({
                "type": "tool", "content": tool_result.text(), "tool_call_id": tool_result.call_id.as_deref().unwrap_or_default(),
                "name": tool_result.name, "status": status
            })
        };
        results.iter().map(message).collect()
    }
}

/// The fields of a message, out of the dump that it comes in.
fn message_fields(message: Value) -> Option<Map<String, Value>> {
    let Value::Object(mut fields) = message else { return None };
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    let is_constructor = kind == "constructor";
    let is_message = KINDS.contains(&kind);
    // In `AIMessage.tool_calls` alone, `args` stands in place of the `function` of other wires.
    let has_calls = |fields: &Map<String, Value>| {
        let calls = fields.get("tool_calls").and_then(Value::as_array);
        calls.is_some_and(|calls| calls.iter().all(|call| call.get("args").is_some()))
    };
    match is_constructor {
        true => take_object(&mut fields, "kwargs"),
        false if is_message => take_object(&mut fields, "data").or(Some(fields)),
        false => Some(fields).filter(|fields| !fields.contains_key("role") && has_calls(fields)),
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

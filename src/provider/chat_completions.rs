//! The form of OpenAI's Chat Completions, which several wires share.

use serde_json::{Map, Value, json};

use super::assembly::Assembly;
use super::bound_function::BoundFunction;
use super::fields::{object, take, take_list, take_object, take_text};
use super::raw_call::{Calls, RawCall, calls_of};
use super::raw_fields::{RawFields, written};
use super::results::ToolResult;

/// `{"type":"function","function":{...}}`.
pub(super) fn function(function: &BoundFunction<'_>) -> Value {
    let mut fields = Map::new();
    fields.insert("name".into(), function.name.as_str().into());
    fields.insert("description".into(), function.description.as_str().into());
    if let Some(schema) = &function.schema {
        fields.insert("parameters".into(), schema.clone());
    }
    if function.strict {
        fields.insert("strict".into(), true.into());
    }
    object([("type", "function".into()), ("function", fields.into())])
}

/// Container of a response's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseShape {
    /// `{"choices":[{"message":{...}}]}`.
    Choices,
    /// `{"message":{...}}`.
    Message,
}

impl ResponseShape {
    fn expected(self) -> &'static str {
        match self {
            ResponseShape::Choices => {
                "an object with `choices`, each with a `message`; a message; or a list of messages"
            }
            ResponseShape::Message => "an object with `message`; a message; or a list of messages",
        }
    }
}

/// The calls of a response, a message, or a list of messages.
pub(super) fn calls(response: Value, held: ResponseShape) -> Calls {
    let (messages, is_bare) = match response {
        Value::Array(messages) => (messages, true),
        Value::Object(mut fields) => match held {
            ResponseShape::Choices if fields.contains_key("choices") => {
                let choices = take_list(&mut fields, "choices").ok_or(held.expected())?;
                let message = |choice: Value| match choice {
                    Value::Object(mut choice) => Ok(take(&mut choice, "message").unwrap_or_default()),
                    _ => Err(held.expected()),
                };
                (choices.into_iter().map(message).collect::<Result<Vec<Value>, _>>()?, false)
            }
            ResponseShape::Message if fields.contains_key("message") => {
                (vec![take(&mut fields, "message").unwrap_or_default()], false)
            }
            _ => (vec![Value::Object(fields)], true),
        },
        _ => return Err(held.expected()),
    };
    let mut calls = Vec::new();
    for message in messages {
        match message {
            Value::Object(message) if !is_bare || is_message(&message) => {
                message_calls(message, &mut calls).ok_or(held.expected())?
            }
            _ => return Err(held.expected()),
        }
    }
    Ok(calls)
}

/// Whether this is a message of this form. Other messages have a role too, and keep calls in their content.
fn is_message(message: &Map<String, Value>) -> bool {
    let is_part = |part: &Value| {
        let kind = part.get("type").and_then(Value::as_str);
        kind.is_some_and(|kind| !matches!(kind, "tool_use" | "tool_result"))
    };
    let has_role = message.get("role").is_some_and(Value::is_string);
    let has_calls = message.contains_key("tool_calls") && message.get("type").is_none();
    let content_fits = match message.get("content") {
        Some(Value::Array(parts)) => parts.iter().all(is_part),
        Some(Value::String(_) | Value::Null) => true,
        None => has_calls || message.contains_key("function_call") || !message.contains_key("parts"),
        _ => false,
    };
    (has_role || has_calls) && content_fits && message.get("type").is_none_or(|kind| kind != "message")
}

/// `None` when the calls are not in a list.
fn message_calls(mut message: Map<String, Value>, calls: &mut Vec<RawCall>) -> Option<()> {
    if message.get("tool_calls").is_some_and(|listed| !listed.is_null()) {
        calls.extend(calls_of(take_list(&mut message, "tool_calls")?, |mut call| {
            let call_id = take_text(&mut call, "id");
            let mut function = take_object(&mut call, "function").unwrap_or(call);
            RawCall { call_id, ..RawCall::of(&mut function, "id", "name", "arguments") }
        }));
    }
    // The predecessor of `tool_calls`; it has no id.
    if let Some(mut function) = take_object(&mut message, "function_call") {
        calls.push(RawCall::of(&mut function, "id", "name", "arguments"));
    }
    Some(())
}

/// Reads a chunk: a `delta` of each choice.
pub(super) fn stream_event(event: &RawFields, response: &mut Assembly) -> bool {
    let Some(choices) = event.objects("choices") else { return false };
    for choice in choices {
        let number = choice.raw("index").map_or("0", |index| index.get());
        let delta = choice.object("delta").or_else(|| choice.object("message")).unwrap_or_default();
        for call in delta.objects("tool_calls").unwrap_or_default() {
            let index = call.raw("index").map_or("", |index| index.get());
            stream_call(&format!("{number}/{index}"), &call, response);
        }
        if let Some(function) = delta.object("function_call") {
            // The predecessor of `tool_calls`.
            let arguments = function.raw("arguments");
            response.fragment(&format!("{number}/function"), function.clone().only(&["name"]), arguments);
        }
        if choice.has("finish_reason") {
            response.end();
        }
    }
    true
}

/// Reads a fragment of one call.
pub(super) fn stream_call(key: &str, call: &RawFields, response: &mut Assembly) {
    let function = call.object("function").unwrap_or_default();
    let mut fields = function.clone().only(&["name"]);
    if let Some(id) = call.text("id") {
        fields.set("id", id);
    }
    response.fragment(key, fields, function.raw("arguments"));
}

/// A message with the calls of a stream.
pub(super) fn stream_message(response: &mut Assembly) -> String {
    let calls = response.calls("arguments").into_iter().map(|mut function| {
        let mut call = RawFields::default();
        if let Some(id) = function.take("id") {
            call.set("id", id);
        }
        call.set("type", "function");
        call.set("function", function);
        call
    });
    format!(r#"{{"role":"assistant","tool_calls":{}}}"#, written(&calls.collect::<Vec<_>>()))
}

/// The body of a stream.
pub(super) fn stream_body(response: &mut Assembly) -> String {
    format!(r#"{{"choices":[{{"message":{}}}]}}"#, stream_message(response))
}

/// One message of role `tool` per result; of role `function` where the call had no id.
pub(super) fn results(results: &[ToolResult]) -> Value {
    let message = |tool_result: &ToolResult| match &tool_result.call_id {
        Some(id) => json!({"role": "tool", "tool_call_id": id, "content": tool_result.text()}),
        None => json!({"role": "function", "name": tool_result.name, "content": tool_result.text()}),
    };
    results.iter().map(message).collect()
}

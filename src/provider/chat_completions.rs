//! The form of OpenAI's Chat Completions, which several wires share.

use serde_json::{Map, Value, json};

use super::bound_function::BoundFunction;
use super::fields::{object, take, take_list, take_object, take_text};
use super::raw_call::{Calls, RawCall, calls_of};
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

/// One message of role `tool` per result; of role `function` where the call had no id.
pub(super) fn results(results: &[ToolResult]) -> Value {
    let message = |tool_result: &ToolResult| match &tool_result.call_id {
        Some(id) => json!({"role": "tool", "tool_call_id": id, "content": tool_result.text()}),
        None => json!({"role": "function", "name": tool_result.name, "content": tool_result.text()}),
    };
    results.iter().map(message).collect()
}

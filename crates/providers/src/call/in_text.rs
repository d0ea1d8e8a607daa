//! Calls that a model left in the text of its answer, in place of the list that its provider reads: an object with a name and
//! arguments, or arguments behind the mark of a format.

use serde_json::{Map, Value};

use crate::format::{RawCall, take, take_object, take_text};
use toolcrib_catalog::arguments::{ArgumentReader, WRAPPERS};

/// Fields of an answer that are text.
const TEXTS: [&str; 2] = ["content", "text"];
/// Fields of an answer in which texts are.
const AROUND: [&str; 11] = [
    "choices", "candidates", "message", "messages", "content", "parts", "output", "outputs", "steps",
    "kwargs", "data",
];
/// Roles of messages that no model wrote.
const OTHERS: [&str; 6] = ["user", "human", "system", "developer", "tool", "function"];
/// Fields that name the tool of a call.
const NAMES: [&str; 6] = ["name", "tool", "tool_name", "function", "function_name", "recipient_name"];
/// Fields of a definition, which is no call.
const DEFINITION: [&str; 3] = ["description", "inputSchema", "input_schema"];
/// What stands before and after the name of a tool whose arguments follow: Llama, Mistral, gpt-oss.
const MARKS: [(&str, &str); 3] = [("<function=", ">"), ("[TOOL_CALLS]", "[ARGS]"), (" to=", "<|message|>")];
/// Most objects of a text that are looked at.
const MAX_OBJECTS: usize = 200;

/// The calls in the texts of a response. `is_tool` says whether a name means a tool.
pub(super) fn calls_in_text(
    response: &Value,
    reader: &mut ArgumentReader,
    is_tool: &dyn Fn(&str) -> bool,
) -> Vec<RawCall> {
    let mut texts = Vec::new();
    collect_texts(response, &mut texts);
    texts.into_iter().flat_map(|text| calls_in(text, reader, is_tool)).collect()
}

fn collect_texts<'r>(response: &'r Value, texts: &mut Vec<&'r str>) {
    match response {
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(fields) => {
            let is_others = |name: &str| {
                fields.get(name).and_then(Value::as_str).is_some_and(|role| OTHERS.contains(&role))
            };
            if is_others("role") || is_others("type") {
                return;
            }
            for (name, value) in fields {
                match value {
                    Value::String(text) if TEXTS.contains(&name.as_str()) => texts.push(text),
                    Value::Array(_) | Value::Object(_) if AROUND.contains(&name.as_str()) => {
                        collect_texts(value, texts);
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn calls_in(text: &str, reader: &mut ArgumentReader, is_tool: &dyn Fn(&str) -> bool) -> Vec<RawCall> {
    let mut calls = Vec::new();
    let mut at = 0;
    for _ in 0..MAX_OBJECTS {
        let Some(next) = text[at..].find('{') else { break };
        let (before, object) = text.split_at(at + next);
        let read = match reader.object_at(object) {
            Some((Value::Object(fields), rest)) => {
                call_of(fields, named_before(before), is_tool).map(|call| (call, rest))
            }
            _ => None,
        };
        at = match read {
            Some((call, rest)) => {
                calls.push(call);
                text.len() - rest.len()
            }
            // A call may be inside.
            None => before.len() + 1,
        };
    }
    calls
}

/// The name in the mark at the end of a text.
fn named_before(text: &str) -> Option<&str> {
    MARKS.iter().find_map(|(open, close)| {
        let (_, name) = text.trim_end().strip_suffix(close)?.rsplit_once(open)?;
        name.split([' ', '<']).next()
    })
}

fn call_of(
    mut fields: Map<String, Value>,
    named_before: Option<&str>,
    is_tool: &dyn Fn(&str) -> bool,
) -> Option<RawCall> {
    if let Some(name) = named_before.filter(|name| is_tool(name)) {
        return Some(RawCall {
            name: Some(name.into()),
            arguments: Some(Value::Object(fields)),
            ..RawCall::default()
        });
    }
    let call_id = take_text(&mut fields, "id");
    // The form of OpenAI: `{"function": {"name": ..., "arguments": ...}}`.
    if fields.get("function").is_some_and(Value::is_object) {
        fields = take_object(&mut fields, "function")?;
    }
    if DEFINITION.iter().any(|name| fields.contains_key(*name)) {
        return None;
    }
    let mut named = NAMES.iter().filter_map(|name| fields.get(*name)?.as_str());
    let name = named.find(|name| is_tool(name))?.to_string();
    let arguments = WRAPPERS.iter().find_map(|name| take(&mut fields, name))?;
    Some(RawCall { call_id, name: Some(name), arguments: Some(arguments), ..RawCall::default() })
}

//! Reads the items of a batch as calls: an invalid item does not affect the others.

use serde_json::{Map, Value, json};

use crate::arguments::WRAPPERS;
use crate::catalog::functions;
use crate::finding::from_json;
use crate::functions::{ErrorCode, Function, Refusal};
use crate::tool::quoted;

/// Names that models use for the list of calls.
const CALLS: [&str; 3] = ["items", "requests", "operations"];
/// Name that models use for an input, beside those for arguments.
const BODY: &str = "body";
/// Names that models use for the function.
const FUNCTIONS: [&str; 3] = ["name", "tool", "function_name"];
/// Keys that name the function and one field of its input at once: `{"help": PATH}` and `{"exec": OP, "args": {...}}`.
const SHORTHANDS: [(&str, &str, &str); 2] = [("help", "tool_help", "path"), ("exec", "tool_exec", "op")];
/// Longest id, in bytes.
const LONGEST_ID: usize = 64;

/// One call of a batch.
pub(super) struct Item {
    pub(super) function: String,
    pub(super) input: Map<String, Value>,
    pub(super) id: Option<String>,
    /// The error of an invalid item.
    pub(super) wrong: Option<Refusal>,
}

/// The arguments with their list under the right name, and the calls in it.
pub(super) fn taken(arguments: Value) -> Result<(Value, Vec<Item>), Refusal> {
    let mut fields = match decoded(arguments).map_err(|message| refusal("", &message))? {
        Value::Object(fields) => fields,
        Value::Array(calls) => Map::from_iter([("calls".to_string(), Value::Array(calls))]),
        other => return Ok((other, Vec::new())),
    };
    if !fields.contains_key("calls")
        && let Some(name) = CALLS.into_iter().find(|name| fields.contains_key(*name))
        && let Some(calls) = fields.shift_remove(name)
    {
        fields.insert("calls".into(), calls);
    }
    let mut items = Vec::new();
    if let Some(place) = fields.get_mut("calls") {
        *place = decoded(place.take()).map_err(|message| refusal("/calls", &message))?;
        if let Value::Array(calls) = place {
            items = std::mem::take(calls).into_iter().map(Item::read).collect();
            // The items are checked one by one.
            *calls = vec![json!({ "function": Function::tool_exec().name(), "input": {} }); items.len()];
        }
    }
    Ok((Value::Object(fields), items))
}

impl Item {
    fn read(given: Value) -> Self {
        let mut fields = match decoded(given) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => {
                return Self::wrong("", None, "a call of a batch is an object with `function` and `input`");
            }
            Err(message) => return Self::wrong("", None, &message),
        };
        let id = match fields.shift_remove("id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) if (1..=LONGEST_ID).contains(&id.chars().count()) => Some(id),
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(_) => return Self::wrong("/id", None, "`id` is a string of 1 to 64 characters"),
        };
        let function = match function(&mut fields) {
            Ok(function) => function,
            Err(message) => return Self::wrong("/function", id, &message),
        };
        if !fields.contains_key("input")
            && !fields.contains_key("op")
            && let Some(name) = WRAPPERS.into_iter().chain([BODY]).find(|name| fields.contains_key(*name))
            && let Some(input) = fields.shift_remove(name)
        {
            fields.insert("input".into(), input);
        }
        let mut input = match fields.shift_remove("input").map(decoded) {
            None | Some(Ok(Value::Null)) => Map::new(),
            Some(Ok(Value::Object(input))) => input,
            Some(Err(message)) => return Self::wrong("/input", id, &message),
            Some(Ok(_)) => {
                return Self::wrong("/input", id, "`input` is an object: the input of the function");
            }
        };
        // Fields beside the input belong to it, and the function refuses unknown ones.
        for (name, value) in fields {
            input.entry(name).or_insert(value);
        }
        Self { function, input, id, wrong: None }
    }

    fn wrong(pointer: &str, id: Option<String>, message: &str) -> Self {
        let wrong = Some(refusal(pointer, message));
        Self { function: String::new(), input: Map::new(), id, wrong }
    }
}

fn refusal(pointer: &str, message: &str) -> Refusal {
    let next =
        "send this call again as {\"function\": \"tool_exec\", \"input\": {\"op\": ..., \"args\": {...}}}";
    Refusal::new(ErrorCode::ValidationError, message, next).field(pointer, message)
}

/// The function of an item, in any spelling; `op` alone means `tool_exec`.
fn function(fields: &mut Map<String, Value>) -> Result<String, String> {
    if let Some(given) = fields.shift_remove("function") {
        return match given.as_str() {
            Some(name) => known(name).ok_or_else(|| {
                format!("a batch has no function `{}`; it is one of {}", quoted(name), allowed().join(", "))
            }),
            None => Err("`function` is the name of a function, such as \"tool_exec\"".into()),
        };
    }
    for (key, function, field) in SHORTHANDS {
        if let Some(given) = fields.shift_remove(key) {
            let field = if given.is_object() { "input" } else { field };
            fields.entry(field).or_insert(given);
            return Ok(function.into());
        }
    }
    for name in FUNCTIONS {
        if let Some(function) = fields.get(name).and_then(Value::as_str).and_then(known) {
            fields.shift_remove(name);
            return Ok(function);
        }
    }
    match ["op", "tool", "operation"].iter().any(|name| fields.contains_key(*name)) {
        true => Ok(Function::tool_exec().name().into()),
        false => Err("`function` is missing: which function is to be called?".into()),
    }
}

fn known(name: &str) -> Option<String> {
    let name = Function::spelled(name)?.name();
    allowed().into_iter().find(|allowed| allowed == name)
}

/// The functions in our definition.
fn allowed() -> Vec<String> {
    let names = functions().named("tool_batch").and_then(|tool| {
        let names = "/properties/calls/items/properties/function/enum";
        tool.parameters.schema().pointer(names)?.as_array().cloned()
    });
    names.unwrap_or_default().iter().filter_map(|name| name.as_str().map(str::to_string)).collect()
}

/// A value, or the list or object in a text. The error names a repeated key.
fn decoded(value: Value) -> Result<Value, String> {
    match value {
        Value::String(text) if text.trim_start().starts_with(['[', '{']) => match from_json(&text) {
            Err(error) if error.is_data() => Err(error.to_string()),
            read => Ok(read.unwrap_or(Value::String(text))),
        },
        value => Ok(value),
    }
}

//! The form of OpenAI's Chat Completions, and the formats that differ little from it: Mistral, Cohere, Ollama, LangChain
//! (docs/reference/formats.md).

use serde_json::{Map, Value, json};

use super::format::{
    BoundFunction, Cache, Calls, Format, JSON_SCHEMA, NameRule, Native, RawCall, Stub, ToolResult, flag,
    object, objects, one_or_many, take, take_list, take_object, take_text, text, tool_list,
};
use super::view::{Keys, Root, SchemaRules, Strict};

/// The common form, to which other formats add.
pub(super) const COMMON: Format = Format {
    title: "OpenAI chat completions",
    names: NameRule::Safe,
    max_entries: None,
    entries: "/tools",
    native: Native::No,
    cache: Cache::Never,
    schema: JSON_SCHEMA,
    stub: Stub::Empty,
    takes_examples: false,
    deferral_note: None,
    own_search: |_| None,
    header: |_| None,
    function,
    body: |bound| tool_list(bound.as_list(function)),
    calls: calls_in_choices,
    needs_call_id: true,
    call_id: str::to_string,
    result,
    turn: Value::Array,
};

/// OpenAI Chat Completions, and compatible APIs.
pub(super) const OPENAI: Format = Format {
    needs_call_id: false,
    max_entries: Some(128),
    schema: SchemaRules { strict: Some(Strict::OpenAi), ..JSON_SCHEMA },
    ..COMMON
};

/// Mistral refuses unknown fields, and ids of calls in another form.
pub(super) const MISTRAL: Format = Format {
    title: "Mistral",
    needs_call_id: false,
    call_id: short_id,
    schema: SchemaRules { strict: Some(Strict::OpenAi), ..JSON_SCHEMA },
    calls: |response| {
        let mut calls = calls_in_choices(response)?;
        calls.iter_mut().for_each(|call| call.call_id = call.call_id.take().filter(|id| id != "null"));
        Ok(calls)
    },
    result: |result| {
        object([
            ("role", text("tool")),
            ("tool_call_id", result.call_id.as_deref().map(|id| short_id(id).into())),
            ("name", text(&result.name)),
            ("content", text(&result.text())),
        ])
    },
    ..COMMON
};

/// Cohere Chat, version 2; strict mode is a field of the request.
pub(super) const COHERE: Format =
    Format { title: "Cohere", names: NameRule::Underscores, calls: calls_in_message, ..COMMON };

/// Ollama knows few keywords, and has arguments as objects.
pub(super) const OLLAMA: Format = Format {
    title: "Ollama",
    needs_call_id: false,
    schema: SchemaRules {
        inline: true,
        root: Root::Bare,
        keywords: &["type", "anyOf", "items", "description", "enum", "properties", "required"],
        ..JSON_SCHEMA
    },
    calls: calls_in_message,
    result: |result| json!({"role": "tool", "tool_name": result.name, "content": result.text()}),
    ..COMMON
};

/// LangChain: the list of dicts that `bind_tools` takes, or those of tool objects where tools are deferred.
pub(super) const LANGCHAIN: Format = Format {
    title: "LangChain bind_tools",
    max_entries: Some(128),
    entries: "",
    native: Native::Single,
    schema: SchemaRules { keys: Keys::Portable, strict: Some(Strict::OpenAi), ..JSON_SCHEMA },
    deferral_note: Some(DEFERRAL),
    function: function_with_extras,
    body: |bound| bound.as_list(function_with_extras).into(),
    calls: calls_in_dumps,
    result: |result| {
        json!({
            "type": "tool", "content": result.text(), "tool_call_id": result.call_id.as_deref().unwrap_or_default(),
            "name": result.name, "status": if result.is_error { "error" } else { "success" }
        })
    },
    ..COMMON
};

/// The expected forms of a response, for errors.
const CHOICES: &str = "an object with `choices`, each with a `message`; a message; or a list of messages";
const MESSAGE: &str = "an object with `message`; a message; or a list of messages";
const DUMPS: &str = "a dumped `AIMessage`, a list of dumped messages, or `AIMessage.tool_calls`";
/// The note on deferred tools of LangChain.
const DEFERRAL: &str = "LangChain passes `extras` on from tool objects only: bind `StructuredTool(**entry)` for each entry with `extras`, \
    and the search of your provider beside them: {\"type\": \"tool_search\"} for OpenAI, \
    {\"type\": \"tool_search_tool_bm25_20251119\", \"name\": \"tool_search_tool_bm25\"} for Anthropic";
/// The types of LangChain's messages.
const KINDS: [&str; 8] =
    ["ai", "AIMessageChunk", "human", "HumanMessageChunk", "system", "tool", "function", "chat"];

/// `{"type":"function","function":{...}}`.
fn function(function: &BoundFunction<'_>) -> Value {
    let fields = object([
        ("name", text(&function.name)),
        ("description", text(&function.description)),
        ("parameters", function.schema.clone()),
        ("strict", flag(function.strict)),
    ]);
    object([("type", text("function")), ("function", Some(fields))])
}

/// The calls of `{"choices":[{"message":{...}}]}`, of a message, or of a list of messages.
fn calls_in_choices(response: Value) -> Calls {
    match response {
        Value::Object(mut fields) if fields.contains_key("choices") => {
            let choices = take_list(&mut fields, "choices").ok_or(CHOICES)?;
            let message = |choice: Value| match choice {
                Value::Object(mut choice) => Ok(take(&mut choice, "message").unwrap_or_default()),
                _ => Err(CHOICES),
            };
            calls(choices.into_iter().map(message).collect::<Result<_, _>>()?, CHOICES)
        }
        bare => bare_calls(bare, CHOICES),
    }
}

/// The calls of `{"message":{...}}`, of a message, or of a list of messages.
fn calls_in_message(response: Value) -> Calls {
    match response {
        Value::Object(mut fields) if fields.contains_key("message") => {
            calls(vec![take(&mut fields, "message").unwrap_or_default()], MESSAGE)
        }
        bare => bare_calls(bare, MESSAGE),
    }
}

fn bare_calls(messages: Value, expected: &'static str) -> Calls {
    let messages = one_or_many(messages);
    let are_ours = messages.iter().all(|message| message.as_object().is_some_and(is_message));
    if are_ours { calls(messages, expected) } else { Err(expected) }
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

fn calls(messages: Vec<Value>, expected: &'static str) -> Calls {
    let mut calls = Vec::new();
    for message in messages {
        let Value::Object(mut message) = message else { return Err(expected) };
        if message.get("tool_calls").is_some_and(|listed| !listed.is_null()) {
            calls.extend(take_list(&mut message, "tool_calls").ok_or(expected)?.into_iter().map(call));
        }
        // The predecessor of `tool_calls`; it has no id.
        if let Some(mut function) = take_object(&mut message, "function_call") {
            calls.push(RawCall::of(&mut function, "id", "name", "arguments"));
        }
    }
    Ok(calls)
}

fn call(call: Value) -> RawCall {
    match call {
        Value::Object(mut call) => {
            let call_id = take_text(&mut call, "id");
            let mut function = take_object(&mut call, "function").unwrap_or(call);
            RawCall { call_id, ..RawCall::of(&mut function, "id", "name", "arguments") }
        }
        other => {
            let malformed = Some("the call is not an object".into());
            RawCall { malformed, arguments: Some(other), ..RawCall::default() }
        }
    }
}

/// A deferred function is the arguments of `StructuredTool`: `extras` reach the provider from tool objects only.
fn function_with_extras(bound: &BoundFunction<'_>) -> Value {
    if !bound.deferred {
        return function(bound);
    }
    object([
        ("name", text(&bound.name)),
        ("description", text(&bound.description)),
        ("args_schema", bound.schema.clone()),
        ("extras", Some(object([("defer_loading", flag(true)), ("strict", flag(bound.strict))]))),
    ])
}

/// The calls of dumped messages, or of `AIMessage.tool_calls`.
fn calls_in_dumps(response: Value) -> Calls {
    // `AIMessage.tool_calls` by itself.
    let is_call = |call: &Value| call.get("args").is_some() && call.get("name").is_some();
    let call = |mut call: Map<String, Value>| RawCall::of(&mut call, "id", "name", "args");
    let messages = one_or_many(response);
    if !messages.is_empty() && messages.iter().all(is_call) {
        return Ok(objects(messages).map(call).collect());
    }
    let mut calls = Vec::new();
    for message in messages {
        let mut message = message_fields(message).ok_or(DUMPS)?;
        calls.extend(objects(take_list(&mut message, "tool_calls").unwrap_or_default()).map(call));
        let invalid = take_list(&mut message, "invalid_tool_calls").unwrap_or_default();
        calls.extend(objects(invalid).map(invalid_call));
    }
    Ok(calls)
}

/// The fields of a message, out of the dump that it comes in.
fn message_fields(message: Value) -> Option<Map<String, Value>> {
    let Value::Object(mut fields) = message else { return None };
    // In `AIMessage.tool_calls` alone, `args` stands in place of the `function` of other formats.
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

/// A message of role `tool`; of role `function` where the call had no id.
fn result(result: &ToolResult) -> Value {
    match &result.call_id {
        Some(id) => json!({"role": "tool", "tool_call_id": id, "content": result.text()}),
        None => json!({"role": "function", "name": result.name, "content": result.text()}),
    }
}

/// An id for replay on Mistral: exactly 9 letters and digits (docs/reference/formats.md). An id of another provider is
/// mapped, always to the same one.
pub(super) fn short_id(id: &str) -> String {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return id.into();
    }
    let hash = blake3::hash(id.as_bytes());
    let letter = |byte: &u8| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]);
    hash.as_bytes().iter().take(9).map(letter).collect()
}

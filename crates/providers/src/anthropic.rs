//! Anthropic Messages: deferral by search and reference, cache marks; and Amazon Bedrock Converse, which has messages
//! of blocks too (docs/reference/formats.md).

use serde_json::{Map, Value, json};

use super::chat_completions::COMMON;
use super::format::{
    BoundFunction, BoundFunctions, Cache, Calls, Format, JSON_SCHEMA, Native, RawCall, RequestHeader, Stub,
    ToolResult, flag, is, object, objects, one_or_many, take_list, take_object, text, tool_list,
};
use super::view::{Keys, Root, SchemaRules, Strict};
use toolcrib_catalog::config::SearchBy;

/// Anthropic Messages.
pub(super) const ANTHROPIC: Format = Format {
    title: "Anthropic messages",
    max_entries: Some(10_000),
    native: Native::Single,
    cache: Cache::OnByDefault,
    schema: SchemaRules { keys: Keys::Portable, strict: Some(Strict::Anthropic), ..JSON_SCHEMA },
    stub: Stub::Bare,
    takes_examples: true,
    own_search,
    header,
    function,
    body,
    calls,
    result,
    turn: |blocks| json!({"role": "user", "content": blocks}),
    ..COMMON
};

/// Amazon Bedrock Converse.
pub(super) const BEDROCK: Format = Format {
    title: "Amazon Bedrock converse",
    cache: Cache::OffByDefault,
    schema: SchemaRules {
        inline: true,
        root: Root::Bare,
        keys: Keys::Portable,
        strict: Some(Strict::Anthropic),
        ..JSON_SCHEMA
    },
    function: bedrock_function,
    body: |bound| {
        let mut tools = bound.as_list(bedrock_function);
        if tools.is_empty() {
            return json!({});
        }
        tools.extend(bound.cache.then(|| json!({"cachePoint": {"type": "default"}})));
        object([("toolConfig", Some(tool_list(tools)))])
    },
    calls: bedrock_calls,
    result: |result| {
        let content = match &result.content {
            object @ Value::Object(_) => json!({"json": object}),
            _ => json!({"text": result.text()}),
        };
        let status = if result.is_error { "error" } else { "success" };
        json!({"toolResult": {"toolUseId": result.call_id, "content": [content], "status": status}})
    },
    turn: ANTHROPIC.turn,
    ..COMMON
};

/// The expected forms of a response, for errors.
const EXPECTED: &str = "a message whose `content` is a list of blocks, or a list of messages";
const EXPECTED_BY_BEDROCK: &str =
    "an object with `output.message`, a message whose `content` is a list of blocks, or a list of these";

/// The beta of deferred tools, examples and calls by code: `_TOOL_TYPE_TO_BETA` of langchain-anthropic 1.7.7, and
/// <https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool>. Strict tools, cache marks and
/// `eager_input_streaming` need none since they are generally available.
const ADVANCED_TOOL_USE: &str = "advanced-tool-use-2025-11-20";
/// The prefix of callers that run code in the provider's sandbox.
const CODE_CALLERS: &str = "code_execution_";

fn own_search(by: SearchBy) -> Option<&'static str> {
    match by {
        SearchBy::Provider => Some("tool_search_tool_bm25"),
        SearchBy::Regex => Some("tool_search_tool_regex"),
        SearchBy::Client => None,
    }
}

fn function(function: &BoundFunction<'_>) -> Value {
    let examples = (!function.examples.is_empty()).then(|| function.examples.clone().into());
    let callers = function.callers(|caller| caller == "direct" || caller.starts_with(CODE_CALLERS));
    object([
        ("name", text(&function.name)),
        ("description", text(&function.description)),
        ("input_schema", function.schema.clone().or_else(|| Some(json!({"type": "object"})))),
        ("strict", flag(function.strict)),
        ("defer_loading", flag(function.deferred)),
        ("input_examples", examples),
        ("allowed_callers", callers),
    ])
}

fn body(bound: &BoundFunctions<'_>) -> Value {
    let search = bound.search.and_then(own_search);
    let search = search.map(|name| json!({"type": format!("{name}_20251119"), "name": name}));
    let mut tools: Vec<Value> = search.into_iter().chain(bound.as_list(function)).collect();
    // Anthropic refuses the mark on a deferred tool, which is not in the cached prefix anyway.
    let in_prefix = |tool: &&mut Value| bound.cache && tool.get("defer_loading").is_none();
    if let Some(Value::Object(last)) = tools.iter_mut().rev().find(in_prefix) {
        last.insert("cache_control".into(), json!({"type": "ephemeral"}));
    }
    tool_list(tools)
}

fn header(bound: &BoundFunctions<'_>) -> Option<RequestHeader> {
    let any = |is_it: fn(&BoundFunction<'_>) -> bool| bound.functions.iter().any(is_it);
    let reasons = [
        ("defer_loading", any(|function| function.deferred)),
        ("input_examples", any(|function| !function.examples.is_empty())),
        (
            "allowed_callers",
            any(|function| function.callers(|caller| caller.starts_with(CODE_CALLERS)).is_some()),
        ),
    ];
    let holding: Vec<&str> = reasons.iter().filter(|(_, holds)| *holds).map(|(reason, _)| *reason).collect();
    let header =
        || RequestHeader { name: "anthropic-beta", value: ADVANCED_TOOL_USE, reason: holding.join(", ") };
    (!holding.is_empty()).then(header)
}

fn calls(response: Value) -> Calls {
    let is_block = |block: &Value| block.get("type").is_some_and(Value::is_string);
    let mut calls = Vec::new();
    for message in one_or_many(response) {
        let Value::Object(mut message) = message else { return Err(EXPECTED) };
        match message.get("content") {
            _ if message.contains_key("tool_calls") => return Err(EXPECTED),
            Some(Value::Array(blocks)) if blocks.iter().all(is_block) => {}
            Some(Value::String(_)) if message.contains_key("role") => {}
            _ => return Err(EXPECTED),
        }
        let blocks = objects(take_list(&mut message, "content").unwrap_or_default());
        // Blocks of calls that the server runs itself have other types: `server_tool_use`, `mcp_tool_use`.
        let ours = blocks.filter(|block| is(block, "type", "tool_use"));
        calls.extend(ours.map(|mut block| RawCall::of(&mut block, "id", "name", "input")));
    }
    Ok(calls)
}

fn result(result: &ToolResult) -> Value {
    let reference = |name: &String| json!({"type": "tool_reference", "tool_name": name});
    // A list without references is refused; the result says as text that no tool was found.
    let content: Value = if result.found.is_empty() || result.is_error {
        result.text().into()
    } else {
        result.found.iter().map(|found| reference(&found.name)).collect()
    };
    object([
        ("type", text("tool_result")),
        ("tool_use_id", Some(json!(result.call_id))),
        ("content", Some(content)),
        ("is_error", flag(result.is_error)),
    ])
}

fn bedrock_function(function: &BoundFunction<'_>) -> Value {
    let schema = object([("json", Some(function.schema.clone().unwrap_or_default()))]);
    let spec = object([
        ("name", text(&function.name)),
        ("description", text(&function.description)),
        ("inputSchema", Some(schema)),
        ("strict", flag(function.strict)),
    ]);
    object([("toolSpec", Some(spec))])
}

fn bedrock_calls(response: Value) -> Calls {
    // Blocks have no `type`; their only key is their type.
    let is_block = |block: &Value| block.is_object() && block.get("type").is_none();
    let call = |mut block: Map<String, Value>| {
        let mut call =
            take_object(&mut block, "toolUse").filter(|call| !is(call, "type", "server_tool_use"))?;
        Some(RawCall::of(&mut call, "toolUseId", "name", "input"))
    };
    let mut calls = Vec::new();
    for message in one_or_many(response) {
        let Value::Object(mut message) = message else { return Err(EXPECTED_BY_BEDROCK) };
        if let Some(mut output) = take_object(&mut message, "output") {
            message = take_object(&mut output, "message").ok_or(EXPECTED_BY_BEDROCK)?;
        }
        let blocks = take_list(&mut message, "content").filter(|blocks| blocks.iter().all(is_block));
        calls.extend(objects(blocks.ok_or(EXPECTED_BY_BEDROCK)?).filter_map(call));
    }
    Ok(calls)
}

//! Gemini `generateContent`: all declarations in one entry, JSON Schema; and Gemini Interactions: short descriptions
//! and deferral (docs/reference/formats.md, Gemini).

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::chat_completions::COMMON;
use super::format::{
    BoundFunction, BoundFunctions, Calls, Format, JSON_SCHEMA, Native, RawCall, Stub, flag, is, object,
    objects, one_or_many, take_list, take_object, take_text, text, tool_list,
};
use super::payload::selection::TOOL_SEARCH;
use super::view::SchemaRules;
use toolcrib_catalog::config::SearchBy;

/// Gemini `generateContent`.
pub(super) const GEMINI: Format = Format {
    title: "Gemini generateContent",
    needs_call_id: false,
    max_entries: Some(512),
    entries: "/tools/0/functionDeclarations",
    schema: SchemaRules { keywords: KEYWORDS, omit_empty: true, ..JSON_SCHEMA },
    stub: Stub::Args,
    function,
    body: |bound| {
        let declarations = bound.as_list(function);
        let entry =
            (!declarations.is_empty()).then(|| object([("functionDeclarations", Some(declarations.into()))]));
        tool_list(entry.into_iter().collect())
    },
    calls,
    result: |result| {
        if result.name.is_empty() {
            return json!({"text": result.text()});
        }
        let key = if result.is_error { "error" } else { "output" };
        let response = object([
            ("id", result.call_id.as_deref().and_then(text)),
            ("name", text(&result.name)),
            ("response", Some(json!({key: result.content}))),
        ]);
        json!({"functionResponse": response})
    },
    turn: |parts| json!({"role": "user", "parts": parts}),
    ..COMMON
};

/// Gemini Interactions.
pub(super) const INTERACTIONS: Format = Format {
    title: "Gemini interactions",
    max_entries: Some(512),
    native: Native::Single,
    schema: GEMINI.schema,
    stub: Stub::Args,
    function: interactions_function,
    body: interactions_body,
    calls: interactions_calls,
    result: |result| {
        if result.search && !result.is_error {
            let tools: Vec<&Value> = result.found.iter().map(|found| &found.definition).collect();
            return json!({"type": "tool_search_result", "call_id": result.call_id, "result": tools});
        }
        json!({
            "type": "function_result", "call_id": result.call_id, "name": result.name, "result": result.text(),
            "is_error": result.is_error
        })
    },
    ..COMMON
};

/// The keywords that `parametersJsonSchema` takes.
const KEYWORDS: &[&str] = &[
    "$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items",
    "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties",
    "additionalProperties", "required", "propertyOrdering",
];

/// The expected forms of a response, for errors.
const EXPECTED: &str =
    "an object with the list `candidates`, a content with the list `parts`, or a list of these";
const EXPECTED_BY_INTERACTIONS: &str = "an object with the list `outputs` or `steps`";
/// Fields of a response without candidates.
const FEEDBACK: [&str; 4] = ["promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata"];
/// Fields of a call whose arguments come in parts, where a request asks for that; only Vertex AI has it.
const PARTIAL: [&str; 4] = ["partialArgs", "partial_args", "willContinue", "will_continue"];

fn function(function: &BoundFunction<'_>) -> Value {
    object([
        ("name", text(&function.name)),
        ("description", text(&function.description)),
        ("parametersJsonSchema", function.schema.clone()),
    ])
}

fn calls(response: Value) -> Calls {
    let mut calls = Vec::new();
    for response in one_or_many(response) {
        let Value::Object(mut response) = response else { return Err(EXPECTED) };
        match take_list(&mut response, "candidates") {
            Some(candidates) => {
                for candidate in candidates {
                    let Value::Object(candidate) = candidate else { return Err(EXPECTED) };
                    candidate_calls(candidate, &mut calls);
                }
            }
            None if response.get("parts").is_some_and(Value::is_array) => content_calls(response, &mut calls),
            // A refused prompt, and the last chunk of a stream, have no candidates.
            None if FEEDBACK.iter().any(|key| response.contains_key(*key)) => {}
            None => return Err(EXPECTED),
        }
    }
    Ok(calls)
}

/// The calls of one candidate. A malformed call comes without parts: only the reason is there.
fn candidate_calls(mut candidate: Map<String, Value>, calls: &mut Vec<RawCall>) {
    let before = calls.len();
    if let Some(content) = take_object(&mut candidate, "content") {
        content_calls(content, calls);
    }
    let reason = either(&mut candidate, ["finishReason", "finish_reason"], take_text);
    if calls.len() == before && reason.is_some_and(|reason| reason.ends_with("MALFORMED_FUNCTION_CALL")) {
        let said = either(&mut candidate, ["finishMessage", "finish_message"], take_text);
        let malformed =
            said.unwrap_or_else(|| "the provider reports that the model wrote a malformed call".into());
        calls.push(RawCall { malformed: Some(malformed), ..RawCall::default() });
    }
}

fn content_calls(mut content: Map<String, Value>, calls: &mut Vec<RawCall>) {
    let parts = take_list(&mut content, "parts").unwrap_or_default();
    calls.extend(objects(parts).filter_map(|mut part| {
        let mut call = either(&mut part, ["functionCall", "function_call"], take_object)?;
        let is_partial = PARTIAL.iter().any(|key| call.contains_key(*key));
        let malformed = is_partial.then(|| {
            "its arguments came in parts; ask for them whole, without `streamFunctionCallArguments`".into()
        });
        let signature = either(&mut part, ["thoughtSignature", "thought_signature"], take_text);
        Some(RawCall { signature, malformed, ..RawCall::of(&mut call, "id", "name", "args") })
    }));
}

/// A field in the API's spelling, or in that of the Python SDK.
fn either<T>(
    fields: &mut Map<String, Value>,
    names: [&str; 2],
    take: fn(&mut Map<String, Value>, &str) -> Option<T>,
) -> Option<T> {
    names.into_iter().find_map(|name| take(fields, name))
}

fn interactions_function(function: &BoundFunction<'_>) -> Value {
    object([
        ("type", text("function")),
        ("name", text(&function.name)),
        ("description", text(&function.description)),
        ("short_description", function.deferred.then(|| function.tool.texts.short.as_str().into())),
        ("parameters", function.schema.clone()),
        ("defer_loading", flag(function.deferred)),
    ])
}

fn interactions_body(bound: &BoundFunctions<'_>) -> Value {
    let is_search =
        |function: &BoundFunction<'_>| function.ours && function.tool.names.canonical == TOOL_SEARCH;
    let mut tools = Vec::new();
    match (bound.search, bound.functions.iter().find(|function| is_search(function))) {
        (Some(SearchBy::Client), Some(ours)) => tools.push(json!({
            "type": "tool_search", "execution": "client", "name": ours.name, "description": ours.description,
            "parameters": ours.schema
        })),
        (Some(_), _) => tools.push(json!({"type": "tool_search", "execution": "server"})),
        (None, _) => {}
    }
    let rest = bound.functions.iter().filter(|function| bound.search.is_none() || !is_search(function));
    tools.extend(rest.map(interactions_function));
    tool_list(tools)
}

fn interactions_calls(response: Value) -> Calls {
    let Value::Object(mut fields) = response else { return Err(EXPECTED_BY_INTERACTIONS) };
    let items = either(&mut fields, ["outputs", "steps"], take_list).ok_or(EXPECTED_BY_INTERACTIONS)?;
    // Searches that the server has run.
    let results =
        items.iter().filter_map(Value::as_object).filter(|item| is(item, "type", "tool_search_result"));
    let answered: HashSet<String> =
        results.filter_map(|item| item.get("call_id")?.as_str().map(str::to_string)).collect();
    let call = |mut item: Map<String, Value>| {
        let is_search = is(&item, "type", "tool_search_call") && is_for_client(&item);
        if !is_search && !is(&item, "type", "function_call") {
            return None;
        }
        let call = RawCall::of(&mut item, "id", "name", "arguments");
        if is_search {
            let is_open = call.call_id.as_ref().is_none_or(|id| !answered.contains(id));
            return is_open.then(|| RawCall { name: Some(TOOL_SEARCH.into()), search: true, ..call });
        }
        let signature = either(&mut item, ["signature", "thought_signature"], take_text);
        Some(RawCall { signature, ..call })
    };
    Ok(objects(items).filter_map(call).collect())
}

/// Whether we have to answer a search: the server's own name functions instead of a query.
fn is_for_client(item: &Map<String, Value>) -> bool {
    match item.get("execution").and_then(Value::as_str) {
        Some(by) => by == "client",
        None => item.get("arguments").is_none_or(|arguments| arguments.get("function_names").is_none()),
    }
}

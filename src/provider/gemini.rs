//! Gemini `generateContent`: all declarations in one entry, JSON Schema (docs/reference/wires.md).

use serde_json::{Map, Value, json};

use super::bound_function::{BoundFunction, BoundFunctions};
use super::fields::{object, objects, take_list, take_object, take_text};
use super::raw_call::{Calls, RawCall};
use super::results::ToolResult;
use super::rules::{Cache, JSON_SCHEMA, NameRule, Native, Rules, Stub};
use super::view::SchemaRules;
use super::wire::{Wire, tool_list};

/// The wire.
pub(super) struct Gemini;

/// The keywords that `parametersJsonSchema` takes.
pub(super) const KEYWORDS: &[&str] = &[
    "$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items",
    "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties",
    "additionalProperties", "required", "propertyOrdering",
];

/// The expected form of a response, for errors.
const EXPECTED: &str =
    "an object with the list `candidates`, a content with the list `parts`, or a list of these";
/// Fields of a response without candidates.
const FEEDBACK: [&str; 4] = ["promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata"];

/// Fields of a call whose arguments come in parts, where a request asks for that; only Vertex AI has it.
const PARTIAL: [&str; 4] = ["partialArgs", "partial_args", "willContinue", "will_continue"];

const RULES: Rules = Rules {
    names: NameRule::Safe,
    max_entries: Some(512),
    native: Native::No,
    cache: Cache::Never,
    schema: SchemaRules { keywords: KEYWORDS, omit_empty: true, ..JSON_SCHEMA },
    stub: Stub::Args,
};

impl Wire for Gemini {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn function(&self, function: &BoundFunction<'_>) -> Value {
        let mut fields = Map::new();
        fields.insert("name".into(), function.name.as_str().into());
        fields.insert("description".into(), function.description.as_str().into());
        if let Some(schema) = &function.schema {
            fields.insert("parametersJsonSchema".into(), schema.clone());
        }
        Value::Object(fields)
    }

    fn body(&self, bound: &BoundFunctions<'_>) -> Value {
        let declarations: Vec<Value> =
            bound.functions.iter().map(|function| self.function(function)).collect();
        match declarations.is_empty() {
            true => tool_list(Vec::new()),
            false => tool_list(vec![object([("functionDeclarations", declarations.into())])]),
        }
    }

    fn entries(&self, body: &Value) -> usize {
        body.pointer("/tools/0/functionDeclarations").and_then(Value::as_array).map_or(0, Vec::len)
    }

    fn calls(&self, response: Value) -> Calls {
        let responses = match response {
            Value::Array(responses) => responses,
            response => vec![response],
        };
        let mut calls = Vec::new();
        for response in responses {
            let Value::Object(mut response) = response else { return Err(EXPECTED) };
            match take_list(&mut response, "candidates") {
                Some(candidates) => {
                    for candidate in candidates {
                        let Value::Object(candidate) = candidate else { return Err(EXPECTED) };
                        candidate_calls(candidate, &mut calls);
                    }
                }
                None if response.get("parts").is_some_and(Value::is_array) => {
                    content_calls(response, &mut calls)
                }
                // A refused prompt, and the last chunk of a stream, have no candidates.
                None if FEEDBACK.iter().any(|key| response.contains_key(*key)) => {}
                None => return Err(EXPECTED),
            }
        }
        Ok(calls)
    }

    fn result_messages(&self, results: &[ToolResult]) -> Value {
        let part = |tool_result: &ToolResult| {
            if tool_result.name.is_empty() {
                return json!({"text": tool_result.text()});
            }
            let mut fields = Map::new();
            if let Some(id) = &tool_result.call_id {
                fields.insert("id".into(), id.as_str().into());
            }
            fields.insert("name".into(), tool_result.name.as_str().into());
            let key = if tool_result.is_error { "error" } else { "output" };
            fields.insert("response".into(), json!({key: tool_result.content}));
            json!({"functionResponse": fields})
        };
        json!({"role": "user", "parts": results.iter().map(part).collect::<Vec<Value>>()})
    }
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
    take: impl Fn(&mut Map<String, Value>, &str) -> Option<T>,
) -> Option<T> {
    names.into_iter().find_map(|name| take(fields, name))
}

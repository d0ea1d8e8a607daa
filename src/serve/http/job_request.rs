//! Requests of job starters, as `openapi.json` describes them: the options of `payload`, `prompt`, `parse` and `results`.

use bytes::Bytes;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use strum::VariantArray;

use super::functions::checked_json;
use super::routes::{JSON, MARKDOWN};
use crate::config::{Deferred, Mode, ModeChoice, SearchBy};
use crate::finding::{Violation, violations};
use crate::provider::Provider;
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::tool::quoted;

/// Most mistakes that one message names.
const MAX_MISTAKES: usize = 3;

/// `POST /v1/payload`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PayloadBody {
    #[serde(deserialize_with = "provider")]
    pub(super) provider: Provider,
    pub(super) mode: Option<ModeChoice>,
    pub(super) deferred: Option<Deferred>,
    pub(super) search: Option<SearchBy>,
    pub(super) discovery: Option<bool>,
    pub(super) cache: Option<bool>,
}

/// `POST /v1/prompt`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PromptBody {
    #[serde(default, deserialize_with = "some_provider")]
    pub(super) provider: Option<Provider>,
    pub(super) mode: Option<ModeChoice>,
    pub(super) deferred: Option<Deferred>,
    pub(super) discovery: Option<bool>,
    pub(super) folder: Option<String>,
    pub(super) tokens: Option<usize>,
}

/// `POST /v1/parse`. The response is read as it came, with every digit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ParseBody<'b> {
    #[serde(deserialize_with = "provider")]
    pub(super) provider: Provider,
    #[serde(borrow)]
    pub(super) response: &'b RawValue,
}

/// `POST /v1/results`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResultsBody<'b> {
    #[serde(deserialize_with = "provider")]
    pub(super) provider: Provider,
    #[serde(borrow)]
    pub(super) results: &'b RawValue,
}

fn provider<'de, D: Deserializer<'de>>(field: D) -> Result<Provider, D::Error> {
    some_provider(field)?.ok_or_else(|| D::Error::custom("no provider"))
}

/// The schema of a body has checked the name.
fn some_provider<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Provider>, D::Error> {
    Ok(Option::<String>::deserialize(field)?.and_then(|name| Provider::parse(&name)))
}

/// The fields of a body, which is checked against the schema that `openapi.json` has for it. An optional field that is null is
/// left out.
pub(super) fn read<'b, T: Deserialize<'b>>(body: &'b Bytes, operation: fn() -> Value) -> Result<T, Problem> {
    let refused = |message: &str| Problem::new(ProblemCode::ValidationError, message);
    let mut value = checked_json(body)?;
    let Some(fields) = value.as_object_mut() else {
        return Err(refused("the body is no JSON object").next("send one object with the fields by name"));
    };
    let schema = operation()["requestBody"]["content"][JSON]["schema"].take();
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    fields.retain(|name, value| !value.is_null() || required.iter().any(|required| required == name));
    let told = |wrong: Violation| {
        let nearest = wrong.nearest.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        match wrong.pointer.trim_start_matches('/') {
            "" => format!("{}{nearest}", wrong.message),
            field => format!("`{}`: {}{nearest}", quoted(field), wrong.message),
        }
    };
    let validator = jsonschema::options().offline().build(&schema);
    let validator = validator.map_err(|error| Problem::new(ProblemCode::Internal, error.to_string()))?;
    let mistakes: Vec<String> =
        violations(&validator, &schema, &value).into_iter().take(MAX_MISTAKES).map(told).collect();
    if !mistakes.is_empty() {
        return Err(refused(&format!("in the body: {}", mistakes.join("; "))));
    }
    // A number that the schema allows may still be too large.
    serde_json::from_slice(body).map_err(|_| refused("the body is not as `/openapi.json` describes it"))
}

fn words<T: VariantArray + Copy + Into<&'static str>>(summary: &str) -> Value {
    let words: Vec<&'static str> = T::VARIANTS.iter().map(|&word| word.into()).collect();
    json!({ "enum": words, "description": summary })
}

fn options() -> Value {
    json!({
        "provider": words::<Provider>("The wire."),
        "mode": words::<ModeChoice>("The way the tools reach the model; that of the configuration if it is left out."),
        "deferred": words::<Deferred>("The schema of deferred tools in the mode hybrid."),
        "discovery": { "type": "boolean", "description": "Bind the functions of the discovery protocol too." },
    })
}

/// The options of all, with these, and the ones that are required.
fn schema(names: &[&str], own: Value, required: &[&str]) -> Value {
    let mut properties = serde_json::Map::new();
    let shared = options();
    properties.extend(names.iter().map(|&name| (name.to_string(), shared[name].clone())));
    properties
        .extend(own.as_object().into_iter().flatten().map(|(name, schema)| (name.clone(), schema.clone())));
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn operation(
    id: &str,
    summary: &str,
    (schema, example): (Value, Value),
    (media, answer): (&str, Value),
) -> Value {
    json!({
        "operationId": id,
        "summary": summary,
        "requestBody": { "required": true, "content": { JSON: { "schema": schema, "example": example } } },
        "responses": {
            "200": { "description": summary, "content": { media: { "schema": answer } } },
            "default": { "$ref": "#/components/responses/Error" },
        },
    })
}

/// The operation of `POST /v1/payload`.
pub(super) fn payload() -> Value {
    let own = json!({
        "search": words::<SearchBy>("The search in the mode native."),
        "cache": { "type": "boolean", "description": "Mark the list of tools for the prompt cache." },
    });
    let schema = schema(&["provider", "mode", "deferred", "discovery"], own, &["provider"]);
    let answer = json!({
        "type": "object",
        "required": ["provider", "mode", "headers", "notes", "body"],
        "properties": { "body": { "description": "The part of the request body with the tools." } },
    });
    let example = json!({ "provider": "anthropic", "mode": "gateway" });
    operation(
        "payload",
        "The tools of a request, as the provider takes them",
        (schema, example),
        (JSON, answer),
    )
}

/// The operation of `POST /v1/prompt`.
pub(super) fn prompt() -> Value {
    let own = json!({
        "folder": { "type": "string", "description": "The folder of the docs, as the agent sees it." },
        "tokens": { "type": "integer", "minimum": 0, "description": "The most tokens of the section." },
    });
    let schema = schema(&["provider", "mode", "deferred", "discovery"], own, &[]);
    let example = json!({ "mode": Mode::Files.as_str() });
    let summary = "The section of the system prompt that goes with a payload";
    operation("prompt", summary, (schema, example), (MARKDOWN, json!({ "type": "string" })))
}

/// The operation of `POST /v1/parse`.
pub(super) fn parse() -> Value {
    let own = json!({ "response": { "description": "The body of the response." } });
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "create_issue", "input": { "title": "Door is stuck" } });
    let example = json!({ "provider": "anthropic", "response": { "content": [call] } });
    let answer = json!({ "type": "array", "items": { "type": "object" } });
    let summary = "The calls in the response of a provider, each with arguments that fit or an error";
    operation(
        "parse",
        summary,
        (schema(&["provider"], own, &["provider", "response"]), example),
        (JSON, answer),
    )
}

/// The operation of `POST /v1/results`.
pub(super) fn results() -> Value {
    let own = json!({ "results": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "name": { "type": ["string", "null"] },
                "call_id": { "type": ["string", "null"] },
                "search": { "type": "boolean" },
                "envelope": { "description": "The answer to the call: `ok`, and `result` or `error`; or any value." },
                "found": { "type": "array", "items": { "type": "string" } },
            },
        },
        "description": "The list that parse answers, with the answer to each call in `envelope`.",
    }});
    let answered = json!({ "name": "create_issue", "call_id": "toolu_1", "envelope": { "ok": true, "result": { "number": 7 } } });
    let example = json!({ "provider": "anthropic", "results": [answered] });
    let schema = schema(&["provider"], own, &["provider", "results"]);
    let summary = "The results of calls, as the message or messages that go back to the provider";
    operation("results", summary, (schema, example), (JSON, json!({})))
}

//! `/openapi.json`: this API for programs that read OpenAPI 3.1, from the definitions of the functions.

use std::sync::LazyLock;

use axum::extract::Request;
use serde_json::{Map, Value, json};

use super::Response;
use super::cached_body::{CachedBody, Vary};
use super::negotiate::Media;
use super::problem::{Problem, ProblemCode};
use crate::functions::{ErrorCode, Function};

/// Addresses that can be read: path, summary, media types.
const READ: [(&str, &str, &[&str]); 14] = [
    ("/v1", "The functions, with their definitions", &["application/json"]),
    (
        "/v1/sessions/{id}",
        "What happened in a session of the caller; `after` and `limit` page through it",
        &["application/json"],
    ),
    (
        "/v1/sessions/{id}/events",
        "The same as it happens; `Last-Event-ID` or `after` says where to begin",
        &["text/event-stream"],
    ),
    ("/tools/README.md", "The index of all tools", &["text/markdown"]),
    ("/tools/categories/{page}.md", "A page of the index, where it has several", &["text/markdown"]),
    ("/tools/{name}.md", "The documentation of a tool", &["text/markdown"]),
    (
        "/tools/{name}",
        "A tool as markdown, page or JSON, by `Accept`",
        &["text/markdown", "text/html", "application/json"],
    ),
    ("/registry.json", "All tools with their schemas", &["application/json"]),
    ("/llms.txt", "All tools, a line each", &["text/plain"]),
    ("/llms-full.txt", "The documentation of all tools", &["text/plain"]),
    ("/openapi.json", "This description", &["application/json"]),
    ("/healthz", "Whether the process lives", &["text/plain"]),
    ("/readyz", "Whether there is something to serve", &["text/plain", "application/json"]),
    ("/metrics", "Counters for Prometheus", &["text/plain"]),
];

/// `GET /openapi.json`.
pub(super) async fn answer(request: Request) -> Result<Response, Problem> {
    static TEXT: LazyLock<CachedBody> =
        LazyLock::new(|| CachedBody::new(format!("{:#}\n", document()), Media::Json));
    let (request, _) = request.into_parts();
    TEXT.answer(&request, Vary::Encoding)
}

fn document() -> Value {
    let mut paths = Map::new();
    for function in Function::all() {
        paths.insert(format!("/v1/{}", function.name()), json!({ "post": call(function) }));
    }
    paths.insert("/v1/tools/{name}".into(), json!({ "post": run() }));
    for (path, summary, media) in READ {
        paths.insert(path.into(), json!({ "get": read(path, summary, media) }));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "toolcrib",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Documentation of tools, read when it is needed.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{}, { "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Answer": answer_schema(), "Error": error_schema() },
            "responses": {
                "Error": {
                    "description": "Why there is no answer, and what to do about it.",
                    "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
                },
            },
        },
    })
}

fn call(function: &Function) -> Value {
    let tool = function.definition();
    let schema =
        tool.and_then(|tool| tool.definition.parameters.as_ref()).map(|schema| schema.value().clone());
    let mut body = json!({ "schema": schema.unwrap_or_else(|| json!({ "type": "object" })) });
    if let Some(example) = tool.and_then(|tool| tool.call.clone()) {
        body["example"] = Value::Object(example);
    }
    let answer = json!({
        "description": "The answer.",
        "content": {
            "application/json": { "schema": { "$ref": "#/components/schemas/Answer" } },
            "text/markdown": { "schema": { "type": "string" } },
        },
    });
    json!({
        "operationId": function.name(),
        "summary": tool.map_or(function.name(), |tool| tool.short.as_str()),
        "description": tool.map_or("", |tool| tool.description.as_str()),
        "requestBody": { "required": false, "content": { "application/json": body } },
        "responses": { "200": answer, "default": { "$ref": "#/components/responses/Error" } },
    })
}

/// `POST /v1/tools/NAME`.
fn run() -> Value {
    json!({
        "operationId": "call_by_name",
        "summary": "Runs a tool of the catalog, by any of its names, with its arguments as the body; the same as tool_exec",
        "parameters": [{ "name": "name", "in": "path", "required": true, "schema": { "type": "string" } }],
        "requestBody": { "required": false, "content": { "application/json": { "schema": { "type": "object" } } } },
        "responses": {
            "200": { "description": "What the tool returned, in the envelope of tool_exec.",
                     "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Answer" } } } },
            "default": { "$ref": "#/components/responses/Error" },
        },
    })
}

fn read(path: &str, summary: &str, media: &[&str]) -> Value {
    let content: Map<String, Value> =
        media.iter().map(|media| (media.to_string(), json!({ "schema": { "type": "string" } }))).collect();
    let content: Map<String, Value> = content
        .into_iter()
        .map(|(media, schema)| if media == "application/json" { (media, json!({})) } else { (media, schema) })
        .collect();
    let parameters: Vec<Value> = path
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split('}').next())
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    json!({
        "summary": summary,
        "parameters": parameters,
        "responses": {
            "200": { "description": summary, "content": content },
            "default": { "$ref": "#/components/responses/Error" },
        },
    })
}

fn answer_schema() -> Value {
    json!({
        "type": "object",
        "required": ["ok", "meta"],
        "properties": {
            "ok": { "const": true },
            "meta": {
                "type": "object",
                "required": ["registry_version"],
                "properties": { "registry_version": { "type": "string" } },
            },
        },
    })
}

fn error_schema() -> Value {
    let functions = ErrorCode::ALL.iter().map(|code| code.as_str());
    let mut codes: Vec<&str> = functions.chain(ProblemCode::all().map(|(_, name, _)| name)).collect();
    codes.sort_unstable();
    codes.dedup();
    json!({
        "type": "object",
        "required": ["ok", "error"],
        "properties": {
            "ok": { "const": false },
            "error": {
                "type": "object",
                "required": ["code", "message", "next_action"],
                "properties": {
                    "code": { "enum": codes },
                    "message": { "type": "string" },
                    "nearest": { "type": "array", "items": { "type": "string" } },
                    "next_action": { "type": "string" },
                    "field_errors": { "type": "array", "items": { "type": "object" } },
                    "example": { "type": "object" },
                },
            },
            "links": { "type": "object", "additionalProperties": { "type": "string" } },
        },
    })
}

//! `/openapi.json`: this API for programs that read OpenAPI 3.1, from the definitions of the functions.

use serde_json::{Map, Value, json};

use super::routes::{JSON, Operation, RouteEntry};
use crate::functions::{ErrorCode, Function};
use crate::serve::Route;
use crate::serve::response::problem::ProblemCode;

/// The description of these routes, at an address of the server.
pub(super) fn document(routes: &[RouteEntry], server: &str) -> Value {
    let mut paths = Map::new();
    for route in routes {
        match route.operation {
            Operation::Undescribed => {}
            Operation::CallFunction => paths.extend(Function::all().iter().map(|function| {
                (route.path.replace("{function}", function.name()), json!({ "post": call(function) }))
            })),
            Operation::CallTool => {
                paths.insert(route.path.into(), json!({ "post": run() }));
            }
            Operation::Ask(summary) => {
                paths.insert(route.path.into(), json!({ "post": ask(summary) }));
            }
            Operation::Described(method, describe) => {
                paths.insert(route.path.into(), json!({ method: describe() }));
            }
            Operation::Read(summary, media) => {
                paths.insert(route.path.into(), json!({ "get": read(route, summary, media) }));
            }
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "toolcrib",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Documentation of tools, read when it is needed.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": server }],
        "security": [{}, { "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Answer": answer_schema(), "Error": error_schema() },
            "responses": {
                "Error": {
                    "description": "The error, and the next step.",
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

/// A request without a body, whose work is done after the answer.
fn ask(summary: &str) -> Value {
    json!({
        "summary": summary,
        "responses": {
            "202": { "description": "It is begun.",
                     "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Answer" } } } },
            "default": { "$ref": "#/components/responses/Error" },
        },
    })
}

/// The answer to a request whose `If-None-Match` names the content.
pub(super) fn unchanged() -> Value {
    json!({ "description": "It is as it was: there is no body." })
}

fn read(route: &RouteEntry, summary: &str, media: &[&str]) -> Value {
    let of = |media: &str| if media == JSON { json!({}) } else { json!({ "schema": { "type": "string" } }) };
    let content: Map<String, Value> = media.iter().map(|media| (media.to_string(), of(media))).collect();
    let parameters: Vec<Value> = route
        .path
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split('}').next())
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    let mut responses = json!({
        "200": { "description": summary, "content": content },
        "default": { "$ref": "#/components/responses/Error" },
    });
    if matches!(route.label, Route::Doc | Route::Catalog) {
        responses["304"] = unchanged();
    }
    json!({ "summary": summary, "parameters": parameters, "responses": responses })
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
    let mut codes: Vec<&str> = functions.chain(ProblemCode::ALL.iter().map(|code| code.as_str())).collect();
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

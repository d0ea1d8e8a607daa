//! `/openapi.json` describes this API in OpenAPI 3.1. The file `openapi.json` has the routes. Functions are added from
//! their definitions; option values and error codes, from their types.

use std::sync::LazyLock;

use serde_json::{Value, json};
use strum::VariantArray;

use super::request_context::RequestContext;
use crate::response::{Media, Problem, ProblemCode, Response, Tagged};
use toolcrib_catalog::config::{Deferred, ModeChoice, SearchBy};
use toolcrib_gateway::functions::{ErrorCode, Function};
use toolcrib_providers::Provider;

/// `GET /openapi.json`.
pub(super) async fn describe(context: RequestContext) -> Result<Response, Problem> {
    let root = if context.catalog.root().is_empty() { "/" } else { context.catalog.root() };
    Ok(Tagged::new(format!("{:#}\n", document(root)), Media::Json).answer())
}

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let mut document: Value = serde_json::from_str(include_str!("openapi.json")).unwrap_or_default();
    document["info"]["version"] = env!("CARGO_PKG_VERSION").into();
    for function in Function::all() {
        document["paths"][format!("/v1/{}", function.name())] = json!({ "post": post_of(function) });
    }
    let values = [
        ("provider", words::<Provider>()),
        ("mode", words::<ModeChoice>()),
        ("deferred", words::<Deferred>()),
        ("search", words::<SearchBy>()),
    ];
    for path in ["/v1/payload", "/v1/prompt", "/v1/parse", "/v1/results"] {
        let body = &mut document["paths"][path]["post"]["requestBody"]["content"]["application/json"];
        for (name, values) in &values {
            if let Some(option) = body["schema"]["properties"].get_mut(name) {
                option["enum"] = values.clone();
            }
        }
    }
    let functions = ErrorCode::ALL.iter().map(|code| code.as_str());
    let mut codes: Vec<&str> = functions.chain(ProblemCode::ALL.iter().map(|code| code.as_str())).collect();
    codes.sort_unstable();
    codes.dedup();
    document["components"]["schemas"]["Error"]["properties"]["error"]["properties"]["code"]["enum"] =
        codes.into();
    document
});

fn words<T: VariantArray + Copy + Into<&'static str>>() -> Value {
    T::VARIANTS.iter().map(|&word| Value::from(word.into())).collect()
}

/// The document, for an address of the server.
pub(super) fn document(server: &str) -> Value {
    let mut document = DOCUMENT.clone();
    document["servers"] = json!([{ "url": server }]);
    document
}

/// The schema of the body of `POST PATH`.
pub(super) fn body_schema(path: &str) -> &'static Value {
    &DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
}

fn post_of(function: &Function) -> Value {
    let tool = function.definition();
    let schema = tool.and_then(|tool| tool.input.schema.as_ref()).map(|schema| schema.value().clone());
    let mut body = json!({ "schema": schema.unwrap_or_else(|| json!({ "type": "object" })) });
    if let Some(example) = tool.and_then(|tool| tool.input.call.clone()) {
        body["example"] = Value::Object(example);
    }
    json!({
        "operationId": function.name(),
        "summary": tool.map_or(function.name(), |tool| tool.texts.short.as_str()),
        "description": tool.map_or("", |tool| tool.texts.description.as_str()),
        "requestBody": { "required": false, "content": { "application/json": body } },
        "responses": {
            "200": { "$ref": "#/components/responses/Answer" },
            "default": { "$ref": "#/components/responses/Error" },
        },
    })
}

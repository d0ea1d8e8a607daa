//! The routes: the pattern, label in metrics and handlers of each, and their description.

use std::sync::{Arc, LazyLock};

use axum::routing::{MethodRouter, Router, get, post};
use serde_json::{Value, json};
use strum::VariantArray;
use tower_http::compression::CompressionLayer;

use super::{RequestContext, Response, Shared, caller, docs, functions, health, jobs, sign_in};
use crate::config::{Deferred, ModeChoice, SearchBy};
use crate::functions::{ErrorCode, Function};
use crate::provider::Provider;
use crate::serve::Route;
use crate::serve::auth::METADATA;
use crate::serve::response::{Media, Problem, ProblemCode, Tagged};

/// Path of MCP.
pub(super) const MCP: &str = "/mcp";

/// A route: its pattern, its label in metrics, and its handlers by method.
type Entry = (&'static str, Route, fn() -> MethodRouter<Arc<Shared>>);

/// Every route but that of MCP; an address belongs to the first one that has the fixed part of its path. `openapi.json` describes
/// them.
static TABLE: [Entry; 25] = [
    ("/v1/reload", Route::Function, || post(health::reload)),
    ("/v1/payload", Route::Function, || post(jobs::payload)),
    ("/v1/prompt", Route::Function, || post(jobs::prompt)),
    ("/v1/parse", Route::Function, || post(jobs::parse)),
    ("/v1/results", Route::Function, || post(jobs::results)),
    ("/v1/workspace.tar", Route::Catalog, || get(jobs::workspace)),
    ("/v1/{function}", Route::Function, || get(functions::read).post(functions::call)),
    ("/v1/tools/{*name}", Route::Function, || post(functions::run)),
    ("/v1/sessions/{id}", Route::Function, || get(functions::session)),
    ("/v1/results/{id}/blocks/{block}", Route::Function, || get(functions::result_data)),
    ("/v1", Route::Function, || get(functions::list)),
    ("/tools/", Route::Doc, || get(docs::page)),
    ("/tools/{*path}", Route::Doc, || get(docs::page)),
    ("/registry.json", Route::Catalog, || get(docs::registry)),
    ("/llms.txt", Route::Catalog, || get(docs::llms)),
    ("/llms-full.txt", Route::Catalog, || get(docs::llms_full)),
    ("/openapi.json", Route::Catalog, || get(describe)),
    ("/healthz", Route::Health, || get(health::alive)),
    ("/readyz", Route::Health, || get(health::ready)),
    ("/metrics", Route::Health, || get(health::counters)),
    (METADATA, Route::Health, || get(caller::metadata)),
    ("/.well-known/oauth-protected-resource/{*path}", Route::Health, || get(caller::metadata)),
    ("/sign-in", Route::SignIn, || get(sign_in::show).post(sign_in::sign_in)),
    ("/sign-out", Route::SignIn, || post(sign_in::sign_out)),
    ("/assets/{file}", Route::Page, || get(docs::page)),
];

/// Label of an address in metrics: that of its route, or of pages for people and unknown addresses.
pub(super) fn label(address: &str) -> Route {
    let has = |pattern: &str| match pattern.split_once('{') {
        Some((fixed, _)) => address.starts_with(fixed),
        None => address == pattern,
    };
    match TABLE.iter().find(|(pattern, ..)| has(pattern)) {
        Some((_, label, _)) => *label,
        None if address == MCP || address.starts_with("/mcp/") => Route::Mcp,
        None => Route::Page,
    }
}

/// Whether an address is open without a token: a process monitor has none, the page to sign in has a style sheet, and metadata
/// says where to get a token.
pub(super) fn is_open(address: &str) -> bool {
    let is_checked = label(address) == Route::Health && address != "/metrics";
    is_checked || address.starts_with("/assets/")
}

/// All routes but the one of MCP.
pub(super) fn routes(shared: Arc<Shared>) -> Router {
    let router =
        TABLE.iter().fold(Router::new(), |router, (pattern, _, handler)| router.route(pattern, handler()));
    router
        .fallback(docs::page)
        .method_not_allowed_fallback(async || {
            Problem::new(ProblemCode::MethodNotAllowed, "nothing is done here with this method")
        })
        .layer(CompressionLayer::new())
        .with_state(shared)
}

/// `GET /openapi.json`.
async fn describe(context: RequestContext) -> Result<Response, Problem> {
    let root = if context.catalog.root().is_empty() { "/" } else { context.catalog.root() };
    Ok(Tagged::new(format!("{:#}\n", document(root)), Media::Json).answer())
}

// `/openapi.json` describes this API in OpenAPI 3.1. The file `openapi.json` has the routes. Functions are added from their
// definitions; option values and error codes, from their types.

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
fn document(server: &str) -> Value {
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
    let schema =
        tool.and_then(|tool| tool.definition.parameters.as_ref()).map(|schema| schema.value().clone());
    let mut body = json!({ "schema": schema.unwrap_or_else(|| json!({ "type": "object" })) });
    if let Some(example) = tool.and_then(|tool| tool.call.clone()) {
        body["example"] = Value::Object(example);
    }
    json!({
        "operationId": function.name(),
        "summary": tool.map_or(function.name(), |tool| tool.short.as_str()),
        "description": tool.map_or("", |tool| tool.description.as_str()),
        "requestBody": { "required": false, "content": { "application/json": body } },
        "responses": {
            "200": { "$ref": "#/components/responses/Answer" },
            "default": { "$ref": "#/components/responses/Error" },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_of_this_api_has_every_route_but_those_of_protocols_and_forms() {
        let document = document("/");
        let described = document["paths"].as_object().unwrap();
        for (pattern, ..) in &TABLE {
            let fixed = pattern.split("{*").next().unwrap_or_default();
            let others = ["/.well-known", "/sign-", "/assets/"];
            let is_other = others.iter().any(|other| fixed.starts_with(other));
            let is_described = described.keys().any(|path| path.starts_with(fixed));
            assert!(is_other || is_described || fixed == "/v1/{function}", "{}", pattern);
        }
    }
}

//! The routes: the pattern, label in metrics and handlers of each, and their description.

use std::sync::{Arc, LazyLock};

use axum::routing::{MethodRouter, Router, any, get, post};
use serde_json::{Value, json};
use strum::VariantArray;
use tower_http::compression::CompressionLayer;

use super::{RequestContext, Response, Shared, caller, docs, functions, health, jobs, operate, sign_in};
use crate::Route;
use crate::auth::METADATA;
use crate::response::{Media, Problem, ProblemCode, Tagged};
use toolcrib_catalog::config::{Deferred, ModeChoice, SearchBy};
use toolcrib_gateway::functions::{ErrorCode, Function};
use toolcrib_providers::Provider;

/// Path of MCP.
pub(super) const MCP: &str = "/mcp";

/// Who gets an answer from a route. `routes.md` lists what the answer shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// Everybody. The answer shows nothing of the catalog.
    Open,
    /// Callers, who see their view of the catalog.
    Caller,
}
use Access::{Caller, Open};

/// A route: its pattern, its label in metrics, who gets an answer, and its handlers by method.
type Entry = (&'static str, Route, Access, fn() -> MethodRouter<Arc<Shared>>);

/// Every route but that of MCP; an address belongs to the first one that has the fixed part of its path. `openapi.json` describes
/// them.
static TABLE: [Entry; 30] = [
    ("/v1/reload", Route::Function, Caller, || post(health::reload)),
    ("/v1/payload", Route::Function, Caller, || post(jobs::payload)),
    ("/v1/prompt", Route::Function, Caller, || post(jobs::prompt)),
    ("/v1/parse", Route::Function, Caller, || post(jobs::parse)),
    ("/v1/results", Route::Function, Caller, || post(jobs::results)),
    ("/v1/workspace.tar", Route::Catalog, Caller, || get(jobs::workspace)),
    ("/v1/{function}", Route::Function, Caller, || any(functions::call)),
    ("/v1/tools/{*name}", Route::Function, Caller, || post(functions::run)),
    ("/v1/results/{id}/blocks/{block}", Route::Function, Caller, || get(functions::result_data)),
    ("/v1", Route::Function, Caller, || get(functions::list)),
    ("/tools/", Route::Doc, Caller, || get(docs::page)),
    ("/tools/{*path}", Route::Doc, Caller, || get(docs::page).post(docs::try_tool)),
    ("/registry.json", Route::Catalog, Caller, || get(docs::registry)),
    ("/llms.txt", Route::Catalog, Caller, || get(docs::llms)),
    ("/openapi.json", Route::Catalog, Caller, || get(describe)),
    ("/approvals.html", Route::Page, Caller, || get(operate::approvals)),
    ("/approvals/{id}", Route::Page, Caller, || get(operate::approval).post(operate::decision)),
    ("/sessions.html", Route::Page, Caller, || get(operate::sessions)),
    ("/sessions/{id}/events.jsonl", Route::Page, Caller, || get(operate::export)),
    ("/sessions/{id}", Route::Page, Caller, || get(operate::session)),
    ("/servers.html", Route::Page, Caller, || get(operate::servers)),
    ("/usage.html", Route::Page, Caller, || get(operate::usage)),
    ("/healthz", Route::Health, Open, || get(health::alive)),
    ("/readyz", Route::Health, Open, || get(health::ready)),
    ("/metrics", Route::Health, Caller, || get(health::counters)),
    (METADATA, Route::Health, Open, || get(caller::metadata)),
    ("/.well-known/oauth-protected-resource/{*path}", Route::Health, Open, || get(caller::metadata)),
    ("/sign-in", Route::SignIn, Open, || get(sign_in::show).post(sign_in::sign_in)),
    ("/sign-out", Route::SignIn, Open, || post(sign_in::sign_out)),
    ("/assets/{file}", Route::Page, Open, || get(docs::asset)),
];

/// Label of an address in metrics: that of its route, or of pages for people and unknown addresses.
pub(super) fn label(address: &str) -> Route {
    let has = |pattern: &str| match pattern.split_once('{') {
        Some((fixed, _)) => address.starts_with(fixed),
        None => address == pattern,
    };
    match TABLE.iter().find(|(pattern, ..)| has(pattern)) {
        Some((_, label, ..)) => *label,
        None if address == MCP || address.starts_with("/mcp/") => Route::Mcp,
        None => Route::Page,
    }
}

/// Whether an address is open without a token: a process monitor has none, the page to sign in has a style sheet, and metadata
/// says where to get a token. An address is only open if it reaches the handler of an open route: the pages behind all
/// routes show the catalog.
pub(super) fn is_open(address: &str) -> bool {
    TABLE.iter().any(|(pattern, _, access, _)| *access == Open && fits(pattern, address))
}

/// Returns true if the router answers the address with the route of this pattern.
fn fits(pattern: &str, address: &str) -> bool {
    let Some((fixed, parameter)) = pattern.split_once('{') else { return pattern == address };
    let rest = address.strip_prefix(fixed).filter(|rest| !rest.is_empty());
    rest.is_some_and(|rest| parameter.starts_with('*') || !rest.contains('/'))
}

/// All routes but the one of MCP.
pub(super) fn routes(shared: Arc<Shared>) -> Router {
    let router =
        TABLE.iter().fold(Router::new(), |router, (pattern, _, _, handler)| router.route(pattern, handler()));
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
    fn every_route_has_a_row_that_says_who_may_see_what() {
        let rows = include_str!("routes.md").lines().filter_map(|line| line.strip_prefix("| `"));
        let rows = rows.map(|row| {
            let cells: Vec<&str> = row.split(" | ").collect();
            (cells[0].trim_end_matches('`').to_string(), cells[2] == "everybody")
        });
        let routes = TABLE.iter().map(|(pattern, _, access, _)| (pattern.to_string(), *access == Open));
        let others = [MCP, "any other address"].map(|address| (address.to_string(), false));
        assert_eq!(rows.collect::<Vec<_>>(), routes.chain(others).collect::<Vec<_>>());
    }

    #[test]
    fn an_address_is_open_only_if_an_open_route_answers_it() {
        for open in ["/healthz", "/assets/site.css", "/.well-known/oauth-protected-resource/p/x/mcp"] {
            assert!(is_open(open), "{open}");
        }
        for closed in [
            "/healthz/",
            "/assets/",
            "/assets/a/b",
            "/.well-known/oauth-protected-resource/",
            "/metrics",
            "/",
        ] {
            assert!(!is_open(closed), "{closed}");
        }
    }

    #[test]
    fn the_description_of_this_api_has_every_route_but_those_of_protocols_and_forms() {
        let document = document("/");
        let described = document["paths"].as_object().unwrap();
        for (pattern, ..) in &TABLE {
            let fixed = pattern.split("{*").next().unwrap_or_default();
            let others =
                ["/.well-known", "/sign-", "/assets/", "/approvals", "/sessions", "/usage", "/servers"];
            let is_other = others.iter().any(|other| fixed.starts_with(other));
            let is_described = described.keys().any(|path| path.starts_with(fixed));
            assert!(is_other || is_described || fixed == "/v1/{function}", "{}", pattern);
        }
    }
}

//! The routes: the pattern, label in metrics and handlers of each.

use std::sync::Arc;

use axum::routing::{MethodRouter, Router, any, get, post};
use tower_http::compression::CompressionLayer;

use super::metrics::{self, Route};
use super::openapi::describe;
use super::request_context::Shared;
use super::{challenge, docs, functions, health, jobs, operate, result_data, sign_in, try_it, workspace};
use crate::auth::METADATA;
use crate::response::{Problem, ProblemCode};

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
    ("/v1/reload", Route::Function, Caller, || post(operate::reload)),
    ("/v1/payload", Route::Function, Caller, || post(jobs::payload)),
    ("/v1/prompt", Route::Function, Caller, || post(jobs::prompt)),
    ("/v1/parse", Route::Function, Caller, || post(jobs::parse)),
    ("/v1/results", Route::Function, Caller, || post(jobs::results)),
    ("/v1/workspace.tar", Route::Catalog, Caller, || get(workspace::workspace)),
    ("/v1/{function}", Route::Function, Caller, || any(functions::call)),
    ("/v1/tools/{*name}", Route::Function, Caller, || post(functions::run)),
    ("/v1/results/{id}/blocks/{block}", Route::Function, Caller, || get(result_data::result_data)),
    ("/v1", Route::Function, Caller, || get(functions::list)),
    ("/tools/", Route::Doc, Caller, || get(docs::page)),
    ("/tools/{*path}", Route::Doc, Caller, || get(docs::page).post(try_it::try_tool)),
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
    ("/metrics", Route::Health, Caller, || get(metrics::counters)),
    (METADATA, Route::Health, Open, || get(challenge::metadata)),
    ("/.well-known/oauth-protected-resource/{*path}", Route::Health, Open, || get(challenge::metadata)),
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

#[cfg(test)]
mod tests {
    use super::super::openapi::document;
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

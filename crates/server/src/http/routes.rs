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

/// A route: its pattern, its label in metrics, and its handlers by method.
type Entry = (&'static str, Route, fn() -> MethodRouter<Arc<Shared>>);

/// The routes that answer everybody. Their answers show nothing of the catalog. `routes.md` lists what each answer shows.
static OPEN: [Entry; 7] = [
    ("/healthz", Route::Health, || get(health::alive)),
    ("/readyz", Route::Health, || get(health::ready)),
    (METADATA, Route::Health, || get(challenge::metadata)),
    ("/.well-known/oauth-protected-resource/{*path}", Route::Health, || get(challenge::metadata)),
    ("/sign-in", Route::SignIn, || get(sign_in::show).post(sign_in::sign_in)),
    ("/sign-out", Route::SignIn, || post(sign_in::sign_out)),
    ("/assets/{file}", Route::Page, || get(docs::asset)),
];

/// The routes that answer callers, who see their view of the catalog; without that of MCP.
static FOR_CALLERS: [Entry; 23] = [
    ("/v1/reload", Route::Function, || post(operate::reload)),
    ("/v1/payload", Route::Function, || post(jobs::payload)),
    ("/v1/prompt", Route::Function, || post(jobs::prompt)),
    ("/v1/parse", Route::Function, || post(jobs::parse)),
    ("/v1/results", Route::Function, || post(jobs::results)),
    ("/v1/workspace.tar", Route::Catalog, || get(workspace::workspace)),
    ("/v1/{function}", Route::Function, || any(functions::call)),
    ("/v1/tools/{*name}", Route::Function, || post(functions::run)),
    ("/v1/results/{id}/blocks/{block}", Route::Function, || get(result_data::result_data)),
    ("/v1", Route::Function, || get(functions::list)),
    ("/tools/", Route::Doc, || get(docs::page)),
    ("/tools/{*path}", Route::Doc, || get(docs::page).post(try_it::try_tool)),
    ("/registry.json", Route::Catalog, || get(docs::registry)),
    ("/llms.txt", Route::Catalog, || get(docs::llms)),
    ("/openapi.json", Route::Catalog, || get(describe)),
    ("/approvals.html", Route::Page, || get(operate::approvals)),
    ("/approvals/{id}", Route::Page, || get(operate::approval).post(operate::decision)),
    ("/sessions.html", Route::Page, || get(operate::sessions)),
    ("/sessions/{id}/events.jsonl", Route::Page, || get(operate::export)),
    ("/sessions/{id}", Route::Page, || get(operate::session)),
    ("/servers.html", Route::Page, || get(operate::servers)),
    ("/usage.html", Route::Page, || get(operate::usage)),
    ("/metrics", Route::Health, || get(metrics::counters)),
];

/// Every route but that of MCP; an address belongs to the first one that has the fixed part of its path. `openapi.json` describes
/// them.
fn table() -> impl Iterator<Item = &'static Entry> {
    FOR_CALLERS.iter().chain(&OPEN)
}

/// Label of an address in metrics: that of its route, or of pages for people and unknown addresses.
pub(super) fn label(address: &str) -> Route {
    let has = |pattern: &str| match pattern.split_once('{') {
        Some((fixed, _)) => address.starts_with(fixed),
        None => address == pattern,
    };
    match table().find(|(pattern, ..)| has(pattern)) {
        Some((_, label, ..)) => *label,
        None if address == MCP || address.starts_with("/mcp/") => Route::Mcp,
        None => Route::Page,
    }
}

/// Whether an address is open without a token: a process monitor has none, the page to sign in has a style sheet, and metadata
/// says where to get a token. An address is only open if it reaches the handler of an open route: the pages behind all
/// routes show the catalog.
pub(super) fn is_open(address: &str) -> bool {
    OPEN.iter().any(|(pattern, ..)| fits(pattern, address))
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
        table().fold(Router::new(), |router, (pattern, _, handler)| router.route(pattern, handler()));
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
    use std::collections::BTreeSet;

    use super::super::openapi::document;
    use super::*;

    #[test]
    fn every_route_has_a_row_that_says_who_may_see_what() {
        let rows = include_str!("routes.md").lines().filter_map(|line| line.strip_prefix("| `"));
        let rows = rows.map(|row| {
            let cells: Vec<&str> = row.split(" | ").collect();
            (cells[0].trim_end_matches('`').to_string(), cells[2] == "everybody")
        });
        let open = OPEN.iter().map(|(pattern, ..)| (pattern.to_string(), true));
        let others = [MCP, "any other address"].into_iter();
        let others = FOR_CALLERS.iter().map(|(pattern, ..)| *pattern).chain(others);
        let routes = open.chain(others.map(|pattern| (pattern.to_string(), false)));
        assert_eq!(rows.collect::<BTreeSet<_>>(), routes.collect::<BTreeSet<_>>());
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
        for (pattern, ..) in table() {
            let fixed = pattern.split("{*").next().unwrap_or_default();
            let others =
                ["/.well-known", "/sign-", "/assets/", "/approvals", "/sessions", "/usage", "/servers"];
            let is_other = others.iter().any(|other| fixed.starts_with(other));
            let is_described = described.keys().any(|path| path.starts_with(fixed));
            assert!(is_other || is_described || fixed == "/v1/{function}", "{}", pattern);
        }
    }
}

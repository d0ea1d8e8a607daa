//! The routes: the pattern, label in metrics and handlers of each.

use std::any::Any;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request};
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, Router, any, get, post};
use tower::util::{MapRequest, MapRequestLayer};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use super::admission::admitted;
use super::layers::{answered_in_time, finished, mcp_messages};
use super::metrics::{self, Route};
use super::openapi::describe;
use super::profile::PathProfile;
use super::request_context::Shared;
use super::{
    challenge, docs, functions, health, jobs, operate, result_data, sign_in, try_it, well_known, workspace,
};
use crate::auth::METADATA;
use crate::mcp;
use crate::response::{Problem, ProblemCode};
use toolcrib_definition::guard::MISTAKE;

/// Path of MCP.
pub(super) const MCP: &str = "/mcp";

/// A route: its pattern, its label in metrics, and its handlers by method.
type Entry = (&'static str, Route, fn() -> MethodRouter<Arc<Shared>>);

/// The routes that answer everybody. Their answers show nothing of the catalog. `routes.md` lists what each answer shows.
static OPEN: [Entry; 10] = [
    ("/healthz", Route::Health, || get(health::alive)),
    ("/readyz", Route::Health, || get(health::ready)),
    (METADATA, Route::Health, || get(challenge::metadata)),
    ("/.well-known/oauth-protected-resource/{*path}", Route::Health, || get(challenge::metadata)),
    ("/.well-known/ai-catalog.json", Route::Health, || get(well_known::cards)),
    ("/mcp/server-card", Route::Health, || get(well_known::server_card)),
    ("/robots.txt", Route::Health, || get(well_known::robots)),
    ("/sign-in", Route::SignIn, || get(sign_in::show).post(sign_in::sign_in)),
    ("/sign-out", Route::SignIn, || post(sign_in::sign_out)),
    ("/assets/{file}", Route::Page, || get(docs::asset)),
];

/// The routes that answer callers, who see their view of the catalog; without that of MCP.
static FOR_CALLERS: [Entry; 29] = [
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
    ("/.well-known/llms.txt", Route::Catalog, || get(well_known::llms)),
    ("/.well-known/agent-skills/{*path}", Route::Catalog, || get(well_known::skills)),
    ("/.well-known/skills/{*path}", Route::Catalog, || get(well_known::skills)),
    ("/skill.md", Route::Catalog, || get(well_known::skill)),
    ("/sitemap.xml", Route::Catalog, || get(well_known::sitemap)),
    ("/openapi.json", Route::Catalog, || get(describe)),
    ("/", Route::Page, || get(docs::home)),
    ("/approvals.html", Route::Page, || get(operate::approvals)),
    ("/approvals/{id}", Route::Page, || get(operate::approval).post(operate::decision)),
    ("/sessions.html", Route::Page, || get(operate::sessions)),
    ("/sessions/{id}/events.jsonl", Route::Page, || get(operate::export)),
    ("/sessions/{id}", Route::Page, || get(operate::session)),
    ("/servers.html", Route::Page, || get(operate::servers)),
    ("/usage.html", Route::Page, || get(operate::usage)),
    ("/metrics", Route::Health, || get(metrics::counters)),
];

/// Every route but that of MCP. `openapi.json` describes them.
fn table() -> impl Iterator<Item = &'static Entry> {
    FOR_CALLERS.iter().chain(&OPEN)
}

/// The addresses of MCP.
const MCP_PATTERNS: [&str; 3] = [MCP, "/mcp/", "/mcp/{*rest}"];

/// Adds the label of the route that the router has found: that of pages for people and unknown addresses where it has found none.
fn labelled(mut request: Request) -> Request {
    let pattern = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let label = match table().find(|(known, ..)| *known == pattern) {
        Some((_, label, _)) => *label,
        None if MCP_PATTERNS.contains(&pattern) => Route::Mcp,
        None => Route::Page,
    };
    request.extensions_mut().insert(label);
    request
}

/// Two routers. One answers everybody; for any other address the other asks who the caller is. Below the path of a profile,
/// open routes are for callers too, since even the name of a profile is not for everybody.
pub(super) fn routes(shared: &Arc<Shared>, mcp: Option<mcp::Service>) -> Router {
    let router = |table: &[Entry]| {
        table.iter().fold(Router::new(), |router, (pattern, _, handler)| router.route(pattern, handler()))
    };
    let open = router(&OPEN).method_not_allowed_fallback(not_allowed).layer(CompressionLayer::new());
    let callers = router(&FOR_CALLERS).merge(router(&OPEN)).fallback(docs::page);
    let callers = callers.method_not_allowed_fallback(not_allowed).layer(CompressionLayer::new());
    let mcp = mcp.map(|service| {
        let add = |router: Router<Arc<Shared>>, pattern| router.route_service(pattern, service.clone());
        let router = MCP_PATTERNS.into_iter().fold(Router::new(), add);
        router.layer(from_fn_with_state(Arc::clone(shared), mcp_messages))
    });
    let callers = inside(shared, callers.merge(mcp.unwrap_or_default()));
    let callers = outside(shared, callers.layer(from_fn_with_state(Arc::clone(shared), admitted)));
    outside(shared, inside(shared, open)).fallback_service(MapRequest::new(callers, PathProfile::taken))
}

/// The layers next to the handlers.
fn inside(shared: &Arc<Shared>, router: Router<Arc<Shared>>) -> Router<Arc<Shared>> {
    let mistake = |_: Box<dyn Any + Send>| Problem::internal(MISTAKE).into_response();
    router
        .layer(from_fn_with_state(Arc::clone(shared), answered_in_time))
        .layer(CatchPanicLayer::custom(mistake))
}

/// The layers that see each request first.
fn outside(shared: &Arc<Shared>, router: Router<Arc<Shared>>) -> Router {
    router
        .layer(from_fn_with_state(Arc::clone(shared), finished))
        .layer(MapRequestLayer::new(labelled))
        .with_state(Arc::clone(shared))
}

async fn not_allowed() -> Problem {
    Problem::new(ProblemCode::MethodNotAllowed, "nothing is done here with this method")
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
    fn the_description_of_this_api_has_every_route_but_those_of_protocols_and_forms() {
        let document = document("/");
        let described = document["paths"].as_object().unwrap();
        for (pattern, ..) in table() {
            let fixed = pattern.split("{*").next().unwrap_or_default();
            let others = [
                "/.well-known", "/mcp/", "/robots.txt", "/sitemap.xml", "/skill.md", "/sign-", "/assets/",
                "/approvals", "/sessions", "/usage", "/servers",
            ];
            let is_other = fixed == "/" || others.iter().any(|other| fixed.starts_with(other));
            let is_described = described.keys().any(|path| path.starts_with(fixed));
            assert!(is_other || is_described || fixed == "/v1/{function}", "{}", pattern);
        }
    }
}

//! `GET /metrics`: counters and gauges in the text format of Prometheus. No label comes from a request.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use http::request::Parts;

use super::request_context::RequestContext;
use crate::RequestCatalog;
use crate::response::{Media, Problem, ProblemCode, Response, no_store};
use toolcrib_gateway::functions::{Counters, SemanticSearch};
use toolcrib_search::semantic::SemanticStatus;

/// Kind of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Route {
    /// The page of a tool, or the index.
    Doc,
    /// A function, a tool by name, or a session.
    Function,
    Mcp,
    /// A file that has the whole catalog in it.
    Catalog,
    /// Health of the process.
    Health,
    /// Pages for people, and addresses without content.
    Page,
    /// Signing in to the pages.
    SignIn,
}

impl Route {
    /// The route that answers a request.
    pub(super) fn of(request: &Parts) -> Self {
        request.extensions.get().copied().unwrap_or(Self::Page)
    }

    /// The answer with a problem, at addresses below `root`.
    pub(super) fn problem(self, problem: &Problem, root: &str) -> Response {
        match (self, problem.code) {
            (Self::Mcp, ProblemCode::ProfileNotAllowed | ProblemCode::UnknownProfile) => problem.rpc_answer(),
            _ => problem.answer(root),
        }
    }
}

/// Counts an answered request.
pub(super) fn answered(counts: &Counters, route: Route, status: StatusCode, took: Duration) {
    let route: &str = route.into();
    let labels = format!("route=\"{route}\",status=\"{}\"", status.as_u16());
    counts.add("toolcrib_http_requests_total", &labels, 1);
    counts.took("toolcrib_http_request_duration_seconds", &format!("route=\"{route}\""), took);
}

/// Counts a connection that was refused.
pub(super) fn connection_rejected(counts: &Counters) {
    counts.add("toolcrib_http_connections_turned_away_total", "", 1);
}

fn gauge(to: &mut String, name: &str, value: u64) {
    let family = name.split('{').next().unwrap_or_default();
    let _ = writeln!(to, "# TYPE {family} gauge\n{name} {value}");
}

fn counter(to: &mut String, name: &str, value: u64) {
    let _ = writeln!(to, "# TYPE {name} counter\n{name} {value}");
}

/// Whether the catalog on disk is the one that is served.
fn freshness(to: &mut String, request_catalog: &RequestCatalog) {
    for (state, version) in request_catalog.addresses() {
        let address = state.address.replace(['\\', '"'], "");
        let version = version.unwrap_or_default();
        let labels = format!("address=\"{address}\",registry_version=\"{version}\"");
        gauge(to, &format!("toolcrib_address_current{{{labels}}}"), state.problem.is_none().into());
    }
    gauge(to, "toolcrib_catalog_complete", request_catalog.snapshot.complete.into());
    gauge(to, "toolcrib_catalog_current", request_catalog.is_current().into());
}

/// Search by meaning.
fn meaning(to: &mut String, meaning: &SemanticSearch) {
    let state = meaning.status();
    gauge(to, "toolcrib_semantic_configured", (state != SemanticStatus::Off).into());
    gauge(to, "toolcrib_semantic_on", (state == SemanticStatus::On).into());
    let SemanticSearch::On(semantic) = meaning else { return };
    let counts = semantic.counts();
    let progress = semantic.progress();
    let searches = "toolcrib_semantic_searches_total";
    let _ = writeln!(to, "# TYPE {searches} counter\n{searches}{{outcome=\"on\"}} {}", counts.on);
    let _ = writeln!(to, "{searches}{{outcome=\"unavailable\"}} {}", counts.unavailable);
    counter(to, "toolcrib_semantic_texts_total", counts.embedded);
    gauge(to, "toolcrib_semantic_vectors", progress.embedded as u64);
    gauge(to, "toolcrib_semantic_vectors_wanted", progress.wanted as u64);
}

/// `GET /metrics`: counters in the text format of Prometheus. Counters are made of the requests of all callers, and reloads and
/// models concern hidden tools: they are for a reader who sees everything.
pub(super) async fn counters(RequestContext { shared, catalog, .. }: RequestContext) -> Response {
    let mut text = String::with_capacity(8192);
    let services = catalog.services();
    if catalog.caller.sees_everything() {
        services.counts.write(&mut text);
        let connections = Arc::strong_count(&shared.connections) - 1;
        gauge(&mut text, "toolcrib_http_connections", connections as u64);
        freshness(&mut text, &catalog);
        meaning(&mut text, &services.semantic);
        let health = services.state.health();
        gauge(&mut text, "toolcrib_state_writable", health.problem.is_none().into());
        gauge(&mut text, "toolcrib_state_volatile", health.is_volatile.into());
        counter(&mut text, "toolcrib_state_lost_events_total", health.lost);
    }
    let seen = catalog.view().catalog();
    gauge(&mut text, "toolcrib_tools", seen.tools.len() as u64);
    gauge(&mut text, &format!("toolcrib_catalog_info{{registry_version=\"{}\"}}", seen.version), 1);
    no_store(StatusCode::OK, Media::Metrics.content_type(), text)
}

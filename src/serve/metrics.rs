//! Metrics of the server, in the text format of Prometheus. No label comes from a request.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::Duration;

use http::StatusCode;

use super::RequestCatalog;
use crate::catalog::Catalog;
use crate::functions::{Counters, Function, SemanticSearch};
use crate::search::semantic::SemanticStatus;

/// Kind of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Route {
    /// The page of a tool, or the index.
    Doc,
    /// A function, a tool by name, or a session.
    Function,
    /// MCP.
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

/// A connection, for as long as it is open.
#[derive(Debug)]
pub struct Connection(Arc<Metrics>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Relaxed);
    }
}

/// The metrics.
#[derive(Debug, Default)]
pub struct Metrics {
    counters: Counters,
    connections: AtomicI64,
}

impl Metrics {
    /// Counts an answered request.
    pub fn answered(&self, route: Route, status: StatusCode, took: Duration) {
        let route: &str = route.into();
        let labels = format!("route=\"{route}\",status=\"{}\"", status.as_u16());
        self.counters.add("toolcrib_http_requests_total", &labels, 1);
        self.counters.took("toolcrib_http_request_duration_seconds", &format!("route=\"{route}\""), took);
    }

    /// Counts a call of a function by its outcome: `ok` or a code.
    pub fn called(&self, function: &Function, outcome: &str) {
        let labels = format!("function=\"{}\",outcome=\"{outcome}\"", function.name());
        self.counters.add("toolcrib_function_calls_total", &labels, 1);
    }

    /// Counts a connection until it is dropped.
    pub fn connected(self: &Arc<Self>) -> Connection {
        self.connections.fetch_add(1, Relaxed);
        Connection(Arc::clone(self))
    }

    /// Counts a connection that was refused.
    pub fn connection_rejected(&self) {
        self.counters.add("toolcrib_http_connections_turned_away_total", "", 1);
    }

    /// The text; `catalog` is the one that its reader may see. Counters are made of the requests of all callers, and reloads
    /// and models concern hidden tools: they are for a reader who sees everything.
    pub fn text(&self, request_catalog: &RequestCatalog, catalog: &Catalog, sees_everything: bool) -> String {
        let mut text = String::with_capacity(8192);
        let services = request_catalog.services();
        if sees_everything {
            self.counters.write(&mut text);
            services.counts.write(&mut text);
            let connections = self.connections.load(Relaxed).max(0) as u64;
            gauge(&mut text, "toolcrib_http_connections", connections);
            reloads(&mut text, request_catalog);
            meaning(&mut text, &services.semantic);
            let health = services.state.health();
            gauge(&mut text, "toolcrib_state_writable", health.problem.is_none().into());
            gauge(&mut text, "toolcrib_state_volatile", health.is_volatile.into());
            counter(&mut text, "toolcrib_state_lost_events_total", [("", health.lost)]);
        }
        gauge(&mut text, "toolcrib_tools", catalog.tools.len() as u64);
        let info = format!("toolcrib_catalog_info{{registry_version=\"{}\"}}", catalog.version);
        gauge(&mut text, &info, 1);
        text
    }
}

fn gauge(to: &mut String, name: &str, value: u64) {
    let family = name.split('{').next().unwrap_or_default();
    let _ = writeln!(to, "# TYPE {family} gauge\n{name} {value}");
}

fn counter<'o>(to: &mut String, name: &str, counts: impl IntoIterator<Item = (&'o str, u64)>) {
    let _ = writeln!(to, "# TYPE {name} counter");
    for (outcome, count) in counts {
        let outcome = if outcome.is_empty() { String::new() } else { format!("{{outcome=\"{outcome}\"}}") };
        let _ = writeln!(to, "{name}{outcome} {count}");
    }
}

/// Whether the catalog on disk is the one that is served.
fn reloads(to: &mut String, request_catalog: &RequestCatalog) {
    counter(to, "toolcrib_reloads_total", request_catalog.live.reloads());
    let mut is_current = request_catalog.live.stale().is_none();
    for (state, version) in request_catalog.addresses() {
        let (address, version) = (state.address.replace(['\\', '"'], ""), version.unwrap_or_default());
        let labels = format!("address=\"{address}\",registry_version=\"{version}\"");
        gauge(to, &format!("toolcrib_address_current{{{labels}}}"), state.problem.is_none().into());
        is_current &= state.problem.is_none();
    }
    gauge(to, "toolcrib_catalog_complete", request_catalog.generation().complete.into());
    gauge(to, "toolcrib_catalog_current", is_current.into());
}

/// Search by meaning.
fn meaning(to: &mut String, meaning: &SemanticSearch) {
    let state = meaning.status();
    gauge(to, "toolcrib_semantic_configured", (state != SemanticStatus::Off).into());
    gauge(to, "toolcrib_semantic_on", (state == SemanticStatus::On).into());
    let SemanticSearch::On(semantic) = meaning else { return };
    let (counts, progress) = (semantic.counts(), semantic.progress());
    let searches = [("on", counts.on), ("unavailable", counts.unavailable)];
    counter(to, "toolcrib_semantic_searches_total", searches);
    counter(to, "toolcrib_semantic_texts_total", [("", counts.embedded)]);
    gauge(to, "toolcrib_semantic_vectors", progress.embedded as u64);
    gauge(to, "toolcrib_semantic_vectors_wanted", progress.wanted as u64);
}

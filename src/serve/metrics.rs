//! How much the server does: counters without locks, written in the text format of Prometheus. No label comes from outside.

mod tools;

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use http::StatusCode;

use super::Seen;
use crate::catalog::Catalog;
use crate::functions::{ErrorCode, Function, SemanticSearch};
use crate::search::semantic::SemanticStatus;

/// What a request is counted as. The table of routes says which address is which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The doc of a tool, or the index.
    Doc,
    /// A function, a tool by name, or a session.
    Function,
    /// MCP.
    Mcp,
    /// A file that has the whole catalog in it.
    Catalog,
    /// How the process is.
    Health,
    /// Pages for people, and what lies nowhere.
    Page,
}

impl Route {
    const ALL: [(Route, &'static str); 6] = [
        (Route::Doc, "doc"),
        (Route::Function, "function"),
        (Route::Mcp, "mcp"),
        (Route::Catalog, "catalog"),
        (Route::Health, "health"),
        (Route::Page, "page"),
    ];
}

/// Upper bounds of the histogram, in microseconds.
const BOUNDS: [u64; 10] = [50, 100, 250, 500, 1_000, 5_000, 25_000, 100_000, 500_000, 2_500_000];

/// What is counted of one route.
#[derive(Debug, Default)]
struct RouteCounters {
    by_class: [AtomicU64; 5],
    by_bound: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// An answer.
    Ok,
    /// No answer in time.
    Timeout,
    /// No room for it.
    Overloaded,
    /// A refusal.
    Error(ErrorCode),
}

impl CallOutcome {
    fn all() -> impl Iterator<Item = CallOutcome> {
        let own = [CallOutcome::Ok, CallOutcome::Timeout, CallOutcome::Overloaded];
        own.into_iter().chain(ErrorCode::ALL.map(CallOutcome::Error))
    }

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            CallOutcome::Ok => "ok",
            CallOutcome::Timeout => "TIMEOUT",
            CallOutcome::Overloaded => "OVERLOADED",
            CallOutcome::Error(code) => code.as_str(),
        }
    }
}

impl From<Option<ErrorCode>> for CallOutcome {
    fn from(error: Option<ErrorCode>) -> Self {
        error.map_or(CallOutcome::Ok, CallOutcome::Error)
    }
}

/// A connection, for as long as it is open.
#[derive(Debug)]
pub struct Connection(Arc<Metrics>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Relaxed);
    }
}

/// The counts of one function, in the order of [`CallOutcome::all`].
type Outcomes = [AtomicU64; ErrorCode::ALL.len() + 3];

/// The counters.
#[derive(Debug)]
pub struct Metrics {
    routes: [RouteCounters; Route::ALL.len()],
    calls: Vec<Outcomes>,
    doc_reads: AtomicU64,
    not_modified: AtomicU64,
    bytes: AtomicU64,
    connections: AtomicI64,
    turned_away: AtomicU64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            routes: Default::default(),
            calls: Function::all().iter().map(|_| Outcomes::default()).collect(),
            doc_reads: AtomicU64::default(),
            not_modified: AtomicU64::default(),
            bytes: AtomicU64::default(),
            connections: AtomicI64::default(),
            turned_away: AtomicU64::default(),
        }
    }
}

impl Metrics {
    /// Counts an answered request.
    pub fn answered(&self, route: Route, status: StatusCode, bytes: u64, took: Duration) {
        let counted = &self.routes[route as usize];
        let class = usize::from(status.as_u16() / 100).clamp(1, 5) - 1;
        counted.by_class[class].fetch_add(1, Relaxed);
        let micros = took.as_micros() as u64;
        let bound = BOUNDS.iter().position(|&bound| micros <= bound).unwrap_or(BOUNDS.len());
        counted.by_bound[bound].fetch_add(1, Relaxed);
        counted.micros.fetch_add(micros, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
        match status {
            StatusCode::NOT_MODIFIED => self.not_modified.fetch_add(1, Relaxed),
            StatusCode::OK if route == Route::Doc => self.doc_reads.fetch_add(1, Relaxed),
            _ => 0,
        };
    }

    /// Counts a call of a function.
    pub fn called(&self, function: &Function, outcome: CallOutcome) {
        let outcomes = Function::all().iter().position(|known| known.name() == function.name());
        let outcomes = outcomes.and_then(|index| self.calls.get(index)).into_iter().flatten();
        let count = CallOutcome::all().zip(outcomes).find(|(known, _)| *known == outcome);
        if let Some((_, count)) = count {
            count.fetch_add(1, Relaxed);
        }
    }

    /// Counts a connection until it is dropped.
    pub fn connected(self: &Arc<Self>) -> Connection {
        self.connections.fetch_add(1, Relaxed);
        Connection(Arc::clone(self))
    }

    /// Counts a connection for which there was no room.
    pub fn connection_rejected(&self) {
        self.turned_away.fetch_add(1, Relaxed);
    }

    /// The text; `catalog` is what the reader of it may see. What reloads and models do with tools that are hidden from
    /// somebody is told to those who see everything.
    pub fn text(&self, seen: &Seen, catalog: &Catalog, sees_everything: bool) -> String {
        let mut page = MetricsText(String::with_capacity(8192));
        page.family(
            "toolcrib_http_requests_total",
            "counter",
            "Requests answered, by route and class of status.",
        );
        self.each_route(|name, counted| {
            for (class, count) in counted.by_class.iter().enumerate() {
                let labels = format!("route=\"{name}\",status=\"{}xx\"", class + 1);
                page.sample("toolcrib_http_requests_total", &labels, count.load(Relaxed));
            }
        });
        let took = "toolcrib_http_request_duration_seconds";
        page.family(took, "histogram", "Time from the head of a request to the head of its answer.");
        self.each_route(|name, counted| page.histogram(took, name, counted));
        page.family("toolcrib_function_calls_total", "counter", "Calls of functions, by outcome.");
        for (function, outcomes) in Function::all().iter().zip(&self.calls) {
            for (outcome, count) in CallOutcome::all().map(CallOutcome::as_str).zip(outcomes) {
                let labels = format!("function=\"{}\",outcome=\"{outcome}\"", function.name());
                page.sample("toolcrib_function_calls_total", &labels, count.load(Relaxed));
            }
        }
        let counters = [
            ("toolcrib_doc_reads_total", "Docs sent whole over HTTP.", &self.doc_reads),
            ("toolcrib_http_not_modified_total", "Answers that said: you have it.", &self.not_modified),
            ("toolcrib_http_body_bytes_total", "Bytes of bodies sent.", &self.bytes),
            ("toolcrib_http_connections_turned_away_total", "Connections without room.", &self.turned_away),
        ];
        for (name, help, count) in counters {
            page.family(name, "counter", help);
            page.sample(name, "", count.load(Relaxed));
        }
        let connections = self.connections.load(Relaxed).max(0) as u64;
        page.gauge("toolcrib_http_connections", "Connections open.", connections);
        page.gauge("toolcrib_tools", "Tools served.", catalog.tools.len() as u64);
        if sees_everything {
            page.reloads(seen);
            page.meaning(&seen.services().semantic);
        }
        page.tools(&seen.services().counts, catalog);
        page.state(&seen.services().state.health());
        page.family("toolcrib_catalog_info", "gauge", "The registry version.");
        page.sample("toolcrib_catalog_info", &format!("registry_version=\"{}\"", catalog.version), 1);
        page.0
    }

    fn each_route(&self, mut visit: impl FnMut(&str, &RouteCounters)) {
        for (route, name) in Route::ALL {
            visit(name, &self.routes[route as usize]);
        }
    }
}

/// A page of metrics while it is written.
struct MetricsText(String);

impl MetricsText {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &str, value: u64) {
        let (open, close) = if labels.is_empty() { ("", "") } else { ("{", "}") };
        let _ = writeln!(self.0, "{name}{open}{labels}{close} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, "gauge", help);
        self.sample(name, "", value);
    }

    /// Whether the catalog on disk is the one that is served.
    fn reloads(&mut self, seen: &Seen) {
        self.family("toolcrib_reloads_total", "counter", "Catalogs built anew, by what became of them.");
        for (outcome, count) in seen.reloads() {
            self.sample("toolcrib_reloads_total", &format!("outcome=\"{outcome}\""), count);
        }
        let is_current = seen.stale().is_none();
        let complete = "1 when all input could be read.";
        self.gauge("toolcrib_catalog_complete", complete, u64::from(seen.generation().complete));
        self.gauge(
            "toolcrib_catalog_current",
            "1 when the catalog on disk is served.",
            u64::from(is_current),
        );
    }

    /// Search by meaning.
    fn meaning(&mut self, meaning: &SemanticSearch) {
        let (counts, progress) = match meaning {
            SemanticSearch::On(semantic) => (semantic.counts(), semantic.progress()),
            _ => Default::default(),
        };
        let searches = "toolcrib_semantic_searches_total";
        self.family(
            searches,
            "counter",
            "Searches for which a model was configured, by whether it had a part.",
        );
        self.sample(searches, "outcome=\"on\"", counts.on);
        self.sample(searches, "outcome=\"unavailable\"", counts.unavailable);
        let embedded = "toolcrib_semantic_texts_total";
        self.family(embedded, "counter", "Texts of tools that the model was asked for.");
        self.sample(embedded, "", counts.embedded);
        let state = meaning.status();
        let gauges = [
            (
                "toolcrib_semantic_configured",
                "1 when a model is configured.",
                u64::from(state != SemanticStatus::Off),
            ),
            (
                "toolcrib_semantic_on",
                "1 when searches find it at work.",
                u64::from(state == SemanticStatus::On),
            ),
            ("toolcrib_semantic_vectors", "Vectors that are there.", progress.embedded as u64),
            ("toolcrib_semantic_vectors_wanted", "Vectors that are wanted.", progress.wanted as u64),
        ];
        for (name, help, value) in gauges {
            self.family(name, "gauge", help);
            self.sample(name, "", value);
        }
    }

    fn histogram(&mut self, name: &str, route: &str, counted: &RouteCounters) {
        let mut total = 0;
        for (index, count) in counted.by_bound.iter().enumerate() {
            total += count.load(Relaxed);
            let bound = BOUNDS.get(index).map_or("+Inf".into(), |bound| (*bound as f64 / 1e6).to_string());
            self.sample(&format!("{name}_bucket"), &format!("route=\"{route}\",le=\"{bound}\""), total);
        }
        let seconds = counted.micros.load(Relaxed) as f64 / 1e6;
        let _ = writeln!(self.0, "{name}_sum{{route=\"{route}\"}} {seconds}");
        self.sample(&format!("{name}_count"), &format!("route=\"{route}\""), total);
    }
}

//! Metrics of the server: counters without locks, written in the text format of Prometheus. No label comes from a
//! request.

mod text;
mod tools;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use http::StatusCode;
use strum::VariantArray;

use crate::functions::{ErrorCode, Function};

/// Kind of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Route {
    /// The doc of a tool, or the index.
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

/// Upper bounds of the histogram, in microseconds.
const BOUNDS: [u64; 10] = [50, 100, 250, 500, 1_000, 5_000, 25_000, 100_000, 500_000, 2_500_000];

/// Counters of one kind of address.
#[derive(Debug, Default)]
struct RouteCounters {
    by_class: [AtomicU64; 5],
    by_bound: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

/// Outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// An answer.
    Ok,
    /// Timeout.
    Timeout,
    /// Refused, since too many calls run.
    Overloaded,
    /// A refusal.
    Error(ErrorCode),
}

impl CallOutcome {
    fn all() -> impl Iterator<Item = CallOutcome> {
        let own = [CallOutcome::Ok, CallOutcome::Timeout, CallOutcome::Overloaded];
        own.into_iter().chain(ErrorCode::ALL.iter().copied().map(CallOutcome::Error))
    }

    /// The label.
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
    routes: [RouteCounters; Route::VARIANTS.len()],
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

    /// Counts a connection that was refused.
    pub fn connection_rejected(&self) {
        self.turned_away.fetch_add(1, Relaxed);
    }
}

//! Metrics of the server, in the text format of Prometheus; no label comes from a request. Limits of each call of a function,
//! over any transport: a place among the calls that run at once, a limit of time, and a count of its outcome.

use std::fmt::Write;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::RequestCatalog;
use toolcrib_catalog::config::ServeLimits;
use toolcrib_gateway::exec::Caller;
use toolcrib_gateway::functions::{
    Answer, Counters, Function, FunctionContext, SemanticSearch, Services, ToolCall,
};
use toolcrib_search::semantic::SemanticStatus;

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

/// Counts an answered request.
pub(super) fn answered(counts: &Counters, route: Route, status: StatusCode, took: Duration) {
    let route: &str = route.into();
    let labels = format!("route=\"{route}\",status=\"{}\"", status.as_u16());
    counts.add("toolcrib_http_requests_total", &labels, 1);
    counts.took("toolcrib_http_request_duration_seconds", &format!("route=\"{route}\""), took);
}

/// Counts a call of a function by its outcome: `ok` or a code.
fn called(counts: &Counters, function: &Function, outcome: &str) {
    let labels = format!("function=\"{}\",outcome=\"{outcome}\"", function.name());
    counts.add("toolcrib_function_calls_total", &labels, 1);
}

/// Counts a connection that was refused.
pub(super) fn connection_rejected(counts: &Counters) {
    counts.add("toolcrib_http_connections_turned_away_total", "", 1);
}

/// The text for this caller, with the number of open connections. Counters are made of the requests of all callers, and reloads
/// and models concern hidden tools: they are for a reader who sees everything.
pub(super) fn text(request_catalog: &RequestCatalog, caller: &Caller, connections: usize) -> String {
    let mut text = String::with_capacity(8192);
    let services = request_catalog.services();
    let catalog = request_catalog.view(caller).catalog();
    if caller.sees_everything() {
        services.counts.write(&mut text);
        gauge(&mut text, "toolcrib_http_connections", connections as u64);
        freshness(&mut text, request_catalog);
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
fn freshness(to: &mut String, request_catalog: &RequestCatalog) {
    for (state, version) in request_catalog.addresses() {
        let address = state.address.replace(['\\', '"'], "");
        let version = version.unwrap_or_default();
        let labels = format!("address=\"{address}\",registry_version=\"{version}\"");
        gauge(to, &format!("toolcrib_address_current{{{labels}}}"), state.problem.is_none().into());
    }
    gauge(to, "toolcrib_catalog_complete", request_catalog.generation().complete.into());
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
    let searches = [("on", counts.on), ("unavailable", counts.unavailable)];
    counter(to, "toolcrib_semantic_searches_total", searches);
    counter(to, "toolcrib_semantic_texts_total", [("", counts.embedded)]);
    gauge(to, "toolcrib_semantic_vectors", progress.embedded as u64);
    gauge(to, "toolcrib_semantic_vectors_wanted", progress.wanted as u64);
}

/// The limits and counters of all functions.
#[derive(Debug)]
pub struct CallLimiter {
    permits: Semaphore,
    time: Duration,
    services: Arc<Services>,
}

/// A call with a place, which is free again when this is dropped.
#[derive(Debug)]
pub struct CallPermit<'g> {
    limiter: &'g CallLimiter,
    function: &'static Function,
    _permit: SemaphorePermit<'g>,
}

/// The limit that a call has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitReached {
    /// Too many calls run at once.
    #[error("too many calls run at once")]
    Overloaded,
    /// The call took longer than this.
    #[error("there was no answer within {} seconds", .0.as_secs())]
    Timeout(Duration),
}

impl CallLimiter {
    /// A limiter with these limits, which counts among these services.
    pub fn new(limits: &ServeLimits, services: Arc<Services>) -> Self {
        let permits = Semaphore::new(limits.calls.min(Semaphore::MAX_PERMITS));
        Self { permits, time: limits.call_time(), services }
    }

    /// Takes a place among the calls that run at once. The request is read before: a client that stops half way holds none.
    pub fn acquire(&self, function: &'static Function) -> Result<CallPermit<'_>, LimitReached> {
        match self.permits.try_acquire() {
            Ok(permit) => Ok(CallPermit { limiter: self, function, _permit: permit }),
            Err(_) => {
                called(&self.services.counts, function, LimitReached::Overloaded.code());
                Err(LimitReached::Overloaded)
            }
        }
    }
}

impl CallPermit<'_> {
    /// Calls the function.
    pub async fn call(self, context: &FunctionContext, arguments: Value) -> Result<Answer, LimitReached> {
        let calling = Box::pin(self.function.call(context, arguments));
        self.answer(context, calling).await
    }

    /// Calls a tool by its own name.
    pub async fn call_tool(
        self,
        context: &FunctionContext,
        call: ToolCall<'_>,
    ) -> Result<Answer, LimitReached> {
        self.answer(context, Box::pin(call.call(context))).await
    }

    /// Waits for the answer of a call; unless it runs tools, up to the limit. Boxed, so that the transports' futures stay small.
    async fn answer(
        self,
        context: &FunctionContext,
        calling: Pin<Box<impl Future<Output = Answer>>>,
    ) -> Result<Answer, LimitReached> {
        // A call of a tool may last as long as its caller waits: one that goes away drops this future.
        let time = if self.function.runs_tools() { Duration::MAX } else { self.limiter.time };
        let answer = timeout(time, calling).await;
        let answer = answer.map_err(|_| LimitReached::Timeout(time));
        let outcome = match &answer {
            Ok(answer) => answer.error().map_or("ok", |code| code.as_str()),
            Err(stopped) => stopped.code(),
        };
        called(&self.limiter.services.counts, self.function, outcome);
        tracing::debug!(
            function = self.function.name(),
            outcome,
            trace_id = context.trace.id(),
            caller = &*context.caller.name,
            session = context.caller.session.as_deref(),
            "called"
        );
        answer
    }
}

impl LimitReached {
    /// The code, as in HTTP.
    pub fn code(self) -> &'static str {
        match self {
            LimitReached::Overloaded => "OVERLOADED",
            LimitReached::Timeout(_) => "TIMEOUT",
        }
    }

    /// The next step.
    pub fn next_action(self) -> &'static str {
        match self {
            LimitReached::Overloaded => "try again in a second",
            LimitReached::Timeout(_) => "ask for less, or try again",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_limit_a_call_is_stopped_and_counted_until_there_is_room() {
        let limits = ServeLimits { calls: 1, ..ServeLimits::default() };
        let limiter = CallLimiter::new(&limits, Arc::default());
        let function = &Function::all()[0];
        let first = limiter.acquire(function).unwrap();
        assert_eq!(limiter.acquire(function).unwrap_err(), LimitReached::Overloaded);
        drop(first);
        assert!(limiter.acquire(function).is_ok());
    }
}

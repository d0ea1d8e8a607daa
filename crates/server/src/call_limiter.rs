//! Limits of each call of a function, over any transport: a place among the calls that run at once, a limit of time, and
//! a count of its outcome.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

use crate::response::{Problem, ProblemCode};
use toolcrib_catalog::config::ServeLimits;
use toolcrib_front::shares::{Share, Shares};
use toolcrib_gateway::functions::{Answer, Counters, Function, FunctionContext, Services, ToolCall};

/// Counts a call of a function by its outcome: `ok` or a code.
fn called(counts: &Counters, function: &Function, outcome: &str) {
    let labels = format!("function=\"{}\",outcome=\"{outcome}\"", function.name());
    counts.add("toolcrib_function_calls_total", &labels, 1);
}

/// The limits and counters of all functions.
#[derive(Debug)]
pub(super) struct CallLimiter {
    /// Places of functions that run tools, which take as long as these.
    tools: Shares,
    /// Places of the others, such as search and help.
    others: Shares,
    time: Duration,
    services: Arc<Services>,
}

/// A call with a place, which is free again when this is dropped.
#[derive(Debug)]
pub(super) struct CallPermit<'g> {
    limiter: &'g CallLimiter,
    function: &'static Function,
    _place: Share,
}

impl CallLimiter {
    /// A limiter with these limits, which counts among these services.
    pub(super) fn new(limits: &ServeLimits, services: Arc<Services>) -> Self {
        let places = || Shares::new(limits.calls, limits.calls / 4);
        Self { tools: places(), others: places(), time: limits.call_time(), services }
    }

    /// Waits until no call runs. No call can begin while this waits.
    pub(super) async fn until_idle(&self) {
        tokio::join!(self.tools.until_all_back(), self.others.until_all_back());
    }

    /// Takes a place among the calls that run at once. The request is read before: a client that stops half way holds none.
    pub(super) fn acquire(
        &self,
        function: &'static Function,
        caller: &str,
    ) -> Result<CallPermit<'_>, Problem> {
        let places = if function.runs_tools() { &self.tools } else { &self.others };
        let place = places.try_take(caller, 1).ok_or_else(|| {
            called(&self.services.counts, function, ProblemCode::Overloaded.as_str());
            Problem::overloaded("too many calls run at once")
        })?;
        Ok(CallPermit { limiter: self, function, _place: place })
    }
}

impl CallPermit<'_> {
    /// Calls the function.
    pub(super) async fn call(self, context: &FunctionContext, arguments: Value) -> Result<Answer, Problem> {
        let calling = Box::pin(self.function.call(context, arguments));
        self.answer(context, calling).await
    }

    /// Calls a tool by its own name.
    pub(super) async fn call_tool(
        self,
        context: &FunctionContext,
        call: ToolCall<'_>,
    ) -> Result<Answer, Problem> {
        self.answer(context, Box::pin(call.call(context))).await
    }

    /// Waits for the answer of a call; unless it runs tools, up to the limit. Boxed, so that the transports' futures stay small.
    async fn answer(
        self,
        context: &FunctionContext,
        calling: Pin<Box<impl Future<Output = Answer>>>,
    ) -> Result<Answer, Problem> {
        // A call of a tool may last as long as its caller waits: one that goes away drops this future.
        let time = if self.function.runs_tools() { Duration::MAX } else { self.limiter.time };
        let answer = timeout(time, calling).await.map_err(|_| {
            let message = format!("there was no answer within {} seconds", time.as_secs());
            Problem::new(ProblemCode::Timeout, message)
        });
        let outcome = match &answer {
            Ok(answer) => answer.error().map_or("ok", |code| code.outcome()),
            Err(stopped) => stopped.code.as_str(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_limit_a_call_is_stopped_and_counted_until_there_is_room() {
        let limits = ServeLimits { calls: 1, ..ServeLimits::default() };
        let limiter = CallLimiter::new(&limits, Arc::default());
        let function = Function::tool_exec();
        let first = limiter.acquire(function, "").unwrap();
        assert_eq!(limiter.acquire(function, "").unwrap_err().code, ProblemCode::Overloaded);
        assert!(limiter.acquire(Function::tool_search(), "").is_ok(), "search has places of its own");
        drop(first);
        assert!(limiter.acquire(function, "").is_ok());
    }
}

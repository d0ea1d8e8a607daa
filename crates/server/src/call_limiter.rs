//! Limits of each call of a function, over any transport: a place among the calls that run at once, a limit of time, and
//! a count of its outcome.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use toolcrib_catalog::config::ServeLimits;
use toolcrib_gateway::functions::{Answer, Counters, Function, FunctionContext, Services, ToolCall};

/// Counts a call of a function by its outcome: `ok` or a code.
fn called(counts: &Counters, function: &Function, outcome: &str) {
    let labels = format!("function=\"{}\",outcome=\"{outcome}\"", function.name());
    counts.add("toolcrib_function_calls_total", &labels, 1);
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

//! What each call of a function passes, through whichever door it comes: room among the calls that run at once, a limit to
//! its time, and a count of what came of it.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::Metrics;
use super::metrics::CallOutcome;
use crate::config::ServeLimits;
use crate::functions::{Answer, Function, FunctionContext};

/// The way to all functions.
#[derive(Debug)]
pub struct CallLimiter {
    room: Semaphore,
    time: Duration,
    metrics: Arc<Metrics>,
}

/// A call that has found room, given back when it is dropped.
#[derive(Debug)]
pub struct CallPermit<'g> {
    gate: &'g CallLimiter,
    function: &'static Function,
    _room: SemaphorePermit<'g>,
}

/// Why a call has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitReached {
    /// Too many run at once.
    Overloaded,
    /// It took longer than this.
    Timeout(Duration),
}

impl CallLimiter {
    /// A gate with these limits, which counts here.
    pub fn new(limits: &ServeLimits, metrics: Arc<Metrics>) -> Self {
        let room = Semaphore::new(limits.calls.min(Semaphore::MAX_PERMITS));
        Self { room, time: limits.call_time(), metrics }
    }

    /// Takes a place among the calls that run at once.
    pub fn acquire(&self, function: &'static Function) -> Result<CallPermit<'_>, LimitReached> {
        match self.room.try_acquire() {
            Ok(room) => Ok(CallPermit { gate: self, function, _room: room }),
            Err(_) => {
                self.metrics.called(function, CallOutcome::Overloaded);
                Err(LimitReached::Overloaded)
            }
        }
    }
}

impl CallPermit<'_> {
    /// Calls the function.
    pub async fn call(self, context: &FunctionContext, arguments: Value) -> Result<Answer, LimitReached> {
        let CallLimiter { time, metrics, .. } = self.gate;
        // What runs tools keeps a time of its own, and says more when it is over.
        let time = (*time).max(self.function.timeout(&context.view.catalog().config.exec));
        let mut calling = pin!(self.function.call(context, arguments));
        // What comes from memory is there at once, and needs no clock.
        let at_once = poll_fn(|context| match calling.as_mut().poll(context) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending => Poll::Ready(None),
        });
        let answer = match at_once.await {
            Some(answer) => Ok(answer),
            None => timeout(time, calling).await,
        };
        let outcome = answer.as_ref().map_or(CallOutcome::Timeout, |answer| answer.error().into());
        metrics.called(self.function, outcome);
        tracing::debug!(
            function = self.function.name(),
            outcome = outcome.as_str(),
            trace_id = context.trace.id(),
            caller = &*context.caller.name,
            session = context.caller.session.as_deref(),
            "called"
        );
        answer.map_err(|_| LimitReached::Timeout(time))
    }
}

impl LimitReached {
    /// The code, as the HTTP door has it too.
    pub fn code(self) -> &'static str {
        match self {
            LimitReached::Overloaded => CallOutcome::Overloaded.as_str(),
            LimitReached::Timeout(_) => CallOutcome::Timeout.as_str(),
        }
    }

    /// What to do next.
    pub fn next_action(self) -> &'static str {
        match self {
            LimitReached::Overloaded => "try again in a second",
            LimitReached::Timeout(_) => "ask for less, or try again",
        }
    }
}

impl fmt::Display for LimitReached {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitReached::Overloaded => formatter.write_str("too many calls run at once"),
            LimitReached::Timeout(time) => {
                write!(formatter, "there was no answer within {} seconds", time.as_secs())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_limit_a_call_is_stopped_and_counted_until_there_is_room() {
        let metrics = Arc::new(Metrics::default());
        let limits = ServeLimits { calls: 1, ..ServeLimits::default() };
        let gate = CallLimiter::new(&limits, metrics);
        let function = &Function::all()[0];
        let first = gate.acquire(function).unwrap();
        assert_eq!(gate.acquire(function).unwrap_err(), LimitReached::Overloaded);
        drop(first);
        assert!(gate.acquire(function).is_ok());
    }
}

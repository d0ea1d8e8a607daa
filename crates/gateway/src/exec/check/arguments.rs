//! Reads the arguments of a call within a time limit, on another thread where it can take long: patterns and long texts can keep a
//! processor busy.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use super::call_fields::{leave_out_hidden, take_from_own_arguments};
use crate::context::FunctionContext;
use crate::exec::call::Call;
use crate::exec::request::CallRequest;
use crate::tool_error::{ErrorCode, Result, ToolError};
use toolcrib_catalog::Tool;
use toolcrib_catalog::arguments::{InvalidArguments, until_stopped, validate};
use toolcrib_front::shares::Shares;

/// The time in which arguments have to be read and explained.
const READING_LIMIT: Duration = Duration::from_secs(5);

/// Turns of reading arguments: patterns and long texts can keep a processor busy, so connections have threads of their own.
/// One caller gets half.
static TURNS: LazyLock<Shares> = LazyLock::new(|| {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let turns = processors.max(4);
    Shares::new(turns, turns / 2)
});

/// Makes the arguments fit the schema of the tool.
pub(super) async fn read_arguments(call: &mut Call, tool: &Arc<Tool>) -> Result<()> {
    let CallRequest { args, extra_fields, .. } = &call.request;
    let parameters = &tool.input.parameters;
    let is_quick = extra_fields.is_empty() && parameters.checks_quickly(args);
    let tool = Arc::clone(tool);
    let read = move |context: &FunctionContext, request: &mut CallRequest| {
        let beside = std::mem::take(&mut request.extra_fields);
        let secrets = context.view.catalog().secrets();
        let repaired = validate(&tool, secrets, &mut request.args, beside, &mut request.warnings)
            .map_err(InvalidArguments::shortened)?;
        // Arguments that were JSON text are an object only now, so fields of the call may have come to light.
        take_from_own_arguments(request, tool.input.parameters.schema())?;
        leave_out_hidden(request, &tool);
        Ok(repaired)
    };
    // To hand a quick check to another thread takes longer than the check.
    call.repaired = if is_quick { read(&call.context, &mut call.request) } else { apart(call, read).await }?;
    call.is_dry_run = call.request.dry_run.unwrap_or(call.is_dry_run);
    Ok(())
}

/// Does work on the request of a call on another thread, within the time limit. After that, the request has no arguments.
pub(super) async fn apart<T: Send + 'static>(
    call: &mut Call,
    work: impl FnOnce(&FunctionContext, &mut CallRequest) -> Result<T> + Send + 'static,
) -> Result<T> {
    let args = std::mem::take(&mut call.request.args);
    let extra_fields = std::mem::take(&mut call.request.extra_fields);
    let mut request = CallRequest { args, extra_fields, ..call.request.clone() };
    let context = call.context.clone();
    let caller = Arc::clone(&context.caller.name);
    let working = in_time(&caller, READING_LIMIT, move || {
        let result = work(&context, &mut request);
        (request, result)
    });
    let (request, result) = working.await?;
    call.request = request;
    result
}

/// Stops work when it is dropped: the time is over, or the caller has gone away.
struct StopGuard(Arc<AtomicBool>);

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn in_time<T: Send + 'static>(
    caller: &str,
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    if Handle::try_current().is_err() {
        return Ok(work());
    }
    let deadline = Instant::now() + limit;
    let Ok(turn) = timeout_at(deadline, TURNS.take(caller)).await else {
        let message = "the arguments of too many calls are being checked at once";
        return Err(ToolError::new(ErrorCode::RateLimited, message, "send the call again in a few seconds"));
    };
    let stop = StopGuard(Arc::new(AtomicBool::new(false)));
    let stopped = Arc::clone(&stop.0);
    let working = spawn_blocking(move || {
        let _turn = turn;
        until_stopped(&stopped, work)
    });
    match timeout_at(deadline, working).await {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(error) => Err(ToolError::internal(error)),
        },
        Err(_) => {
            let message = format!("checking the arguments takes longer than {} seconds", limit.as_secs());
            let next = "send shorter texts and fewer values; nothing was changed";
            Err(ToolError::new(ErrorCode::ValidationTimeout, message, next))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use toolcrib_catalog::functions;

    #[tokio::test]
    async fn work_over_its_time_is_stopped_and_is_the_fault_of_the_caller() {
        let tool = Arc::clone(&functions().tools[0]);
        let call = tool.input.call.clone().map(Value::Object).unwrap();
        let (done, is_done) = tokio::sync::oneshot::channel();
        let work = move || {
            while tool.input.parameters.accepts(&call) {
                std::thread::yield_now();
            }
            done.send(()).unwrap();
        };
        let error = in_time("", Duration::from_millis(10), work).await.unwrap_err();
        assert_eq!((error.code.as_str(), error.code.http_status()), ("VALIDATION_TIMEOUT", 400));
        is_done.await.unwrap();
    }
}

//! The context of a call of a tool: the caller's catalog view, the services, and our functions as tools.

use std::time::Duration;

use serde_json::Value;

use super::{Function, FunctionContext};
use crate::catalog::Catalog;
use crate::exec::backend::{BackendError, Backends};
use crate::exec::{CallContext, Caller, Doc, FunctionFuture};
use crate::state::StateStore;

impl CallContext for FunctionContext {
    fn catalog(&self) -> &Catalog {
        self.view.catalog()
    }

    fn is_forbidden(&self, index: usize) -> bool {
        self.view.is_forbidden(index)
    }

    fn doc(&self, index: usize) -> Option<Doc> {
        let page = self.view.page(index)?.as_ref().ok()?;
        Some(Doc { version: page.version.clone(), receipt: page.receipt.clone() })
    }

    fn profile(&self) -> Option<&str> {
        self.view.profile_name()
    }

    fn caller(&self) -> &Caller {
        &self.caller
    }

    fn state(&self) -> &StateStore {
        &self.services.state
    }

    fn trace_id(&self) -> &str {
        self.trace.id()
    }

    fn count(&self, outcome: &str, took: Duration) {
        let counts = &self.services.counts;
        counts.add("toolcrib_executions_total", &format!("outcome=\"{outcome}\""), 1);
        counts.took("toolcrib_execution_duration_seconds", "", took);
    }

    fn backends(&self) -> &Backends {
        &self.services.backends
    }

    fn has_context_shifts(&self) -> bool {
        self.view.has_context_shifts()
    }

    fn function<'h>(&'h self, name: &'h str, input: Value) -> FunctionFuture<'h> {
        Box::pin(as_tool(self, name, input))
    }
}

async fn as_tool(context: &FunctionContext, name: &str, input: Value) -> Result<Value, BackendError> {
    // A function that runs tools could call itself without an end.
    let function = Function::named(name).filter(|function| !function.runs_tools());
    let Some(function) = function else {
        return Err(BackendError::unconfigured(
            "this tool is to be run by a function that there is not, or that runs tools itself",
        ));
    };
    let answer = function.call(context, input).await;
    answer.into_result().map(Value::Object).map_err(BackendError::of_function)
}

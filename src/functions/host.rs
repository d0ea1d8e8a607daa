//! What a call of a tool finds around it: the caller's edition, the services, and our functions as tools.

use std::time::Duration;

use serde_json::Value;

use super::{Context, Function};
use crate::catalog::Catalog;
use crate::exec::backend::{Backends, Fault, FaultKind};
use crate::exec::{Answering, Caller, Doc, Host};
use crate::state::State;

/// The functions that run others: as tools they could go on without end.
pub(super) const RUNNERS: [&str; 5] =
    ["tool_exec", "tool_exec_read", "tool_exec_write", "tool_batch", "call_tool"];

impl Host for Context {
    fn catalog(&self) -> &Catalog {
        self.edition.catalog()
    }

    fn is_forbidden(&self, index: usize) -> bool {
        self.edition.is_forbidden(index)
    }

    fn doc(&self, index: usize) -> Option<Doc> {
        let page = self.edition.page(index)?.as_ref().ok()?;
        Some(Doc { version: page.version.clone(), receipt: page.receipt.clone() })
    }

    fn profile(&self) -> Option<&str> {
        self.edition.profile_name()
    }

    fn caller(&self) -> &Caller {
        &self.caller
    }

    fn state(&self) -> &dyn State {
        &*self.services.state
    }

    fn trace_id(&self) -> &str {
        self.trace.id()
    }

    fn count(&self, outcome: &str, took: Duration) {
        self.services.counts.executed(outcome, took);
    }

    fn backends(&self) -> &Backends {
        &self.services.backends
    }

    fn shifts(&self) -> bool {
        self.edition.shifts()
    }

    fn function<'h>(&'h self, name: &'h str, input: Value) -> Answering<'h> {
        Box::pin(as_tool(self, name, input))
    }
}

async fn as_tool(context: &Context, name: &str, input: Value) -> Result<Value, Fault> {
    let function = Function::named(name).filter(|_| !RUNNERS.contains(&name));
    let Some(function) = function else {
        return Err(Fault {
            kind: FaultKind::Unconfigured,
            message: "this tool is to be run by a function that there is not, or that runs tools itself"
                .into(),
            detail: None,
            next_action: "tell the operator; sending the call again changes nothing".into(),
        });
    };
    let answer = function.call(context, input).await;
    let mut body = answer.body().clone();
    if answer.is_ok() {
        body.shift_remove("ok");
        body.shift_remove("meta");
        return Ok(Value::Object(body));
    }
    let error = body.shift_remove("error").unwrap_or_default();
    let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default().to_string();
    let (message, next_action) = (text("message"), text("next_action"));
    Err(Fault { kind: FaultKind::Failed, message, detail: Some(error), next_action })
}

//! One call while it is checked and run, and the notes on its run.

use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::backend::McpAnswer;
use super::envelope::{CallMeta, Envelope};
use super::request::CallRequest;
use crate::context::FunctionContext;
use crate::state::StateStore;
use crate::tool_error::{Certainty, ErrorCode, ToolError};
use toolcrib_catalog::arguments::Repair;
use toolcrib_catalog::config::Config;
use toolcrib_catalog::{Callable, Tool};
use toolcrib_definition::guard::MISTAKE;
use toolcrib_definition::secret::SecretPolicy;
use toolcrib_definition::{Backend, Effect, NoSchemaMode};

/// One call. Only `exec::check` changes it. Dropped without a record, it is recorded as abandoned.
pub(super) struct Call {
    pub(super) context: FunctionContext,
    pub(super) started: Instant,
    /// The request as the caller sent it; after admission, with the op of the catalog and valid arguments.
    pub(super) request: CallRequest,
    /// The tool, once it is known.
    pub(super) tool: Option<Arc<Tool>>,
    pub(super) is_dry_run: bool,
    /// Whether the tool has a schema to validate the arguments; `None` until these are read.
    pub(super) validated: Option<bool>,
    /// The changes that made the arguments fit.
    pub(super) repaired: Vec<Repair>,
    pub(super) is_recorded: bool,
}

/// A call that may be run. It cannot be changed any more.
pub(super) struct Checked {
    pub(super) call: Call,
    pub(super) tool: Arc<Tool>,
    /// Answers a function of toolcrib that is the backend of a tool.
    pub(super) functions: Functions,
    pub(super) run_step: fn(FunctionContext, CallRequest, Functions) -> StepAnswer,
}

/// Answers the function of this name, as the backend of a tool; `None` if there is no such function, or it runs tools itself.
pub type Functions = for<'c> fn(&'c FunctionContext, &str, Value) -> Option<FunctionAnswer<'c>>;

/// The reply of a function, once it is there.
pub type FunctionAnswer<'c> = Pin<Box<dyn Future<Output = Result<Value, ToolError>> + Send + 'c>>;

/// The answer of a step, once it is there.
pub(super) type StepAnswer = Pin<Box<dyn Future<Output = Envelope> + Send>>;

/// Notes on a run, for the `meta` of its envelope.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) warnings: Vec<String>,
    pub(super) session_context: Option<Value>,
    /// The cursor of a result that was cut, for `meta.more`.
    pub(super) continuation: Option<Value>,
    /// Whether the call was handed to its backend.
    pub(super) was_run: bool,
    /// The notes on the earlier call whose answer this is.
    pub(super) replayed: Option<CallMeta>,
    /// The unchanged answer of an MCP server.
    pub(super) original: Option<Box<McpAnswer>>,
}

impl Call {
    pub(super) fn new(context: FunctionContext, request: CallRequest) -> Self {
        Self {
            context,
            started: Instant::now(),
            request,
            tool: None,
            is_dry_run: false,
            validated: None,
            repaired: Vec::new(),
            is_recorded: false,
        }
    }

    pub(super) fn op(&self) -> &str {
        &self.request.op
    }

    pub(super) fn arguments(&self) -> &Value {
        &self.request.args
    }

    /// The state of the server.
    pub(super) fn state(&self) -> &StateStore {
        &self.context.services.state
    }

    /// The configuration of the catalog.
    pub(super) fn config(&self) -> &Config {
        &self.context.view.catalog().config
    }

    /// The rules that say which values are secret.
    pub(super) fn secrets(&self) -> SecretPolicy<'_> {
        self.context.view.catalog().secrets()
    }

    /// The effect of the tool; `Read` while the tool is not known.
    pub(super) fn effect(&self) -> Effect {
        self.tool.as_ref().map_or(Effect::Read, |tool| tool.rules.effect)
    }

    /// The no-schema mode of the tool, if it has no schema.
    pub(super) fn no_schema_mode(&self) -> Option<NoSchemaMode> {
        self.validated?;
        match self.tool.as_ref()?.input.parameters.callable() {
            Callable::Unchecked(mode) => Some(*mode),
            _ => None,
        }
    }

    /// Whether its backend is several steps.
    pub(super) fn has_steps(&self) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.steps().is_some())
    }

    /// The fingerprint by which keys and approvals recognize the same call. A further text distinguishes calls.
    pub(super) fn fingerprint(&self, also: &str) -> String {
        fingerprint(self.op(), self.arguments(), also)
    }

    /// Longest silence of the backend, unless it has a limit of its own.
    pub(super) fn longest_silence(&self) -> Duration {
        self.config().exec.longest_silence()
    }

    /// The error of a call that has panicked. `was_begun`: whether its backend may have been sent something.
    pub(super) fn panicked(&self, was_begun: bool) -> ToolError {
        let error =
            |message, next| ToolError::new(ErrorCode::Internal, format!("{MISTAKE}; {message}"), next);
        if !was_begun {
            return error("nothing was changed", "tell the operator");
        }
        let error = if self.effect() == Effect::Read {
            error("nothing was changed", "tell the operator")
        } else {
            let next = "tell the operator; check whether it was done before you send it again";
            error("whether the call was run is not known", next).detail("may_have_run", true)
        };
        error.with_certainty(Certainty::Unknown)
    }
}

impl Checked {
    /// The tool that is called.
    pub(super) fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Whether the call has to be run to its end even if its caller goes away.
    pub(super) fn must_outlive_caller(&self) -> bool {
        let is_static = || matches!(self.tool.backend, Some(Backend::Static { .. }));
        let changes = self.effect() != Effect::Read && !self.is_dry_run;
        changes && (self.request.idempotency_key.is_some() || !is_static())
    }
}

impl Deref for Checked {
    type Target = Call;

    fn deref(&self) -> &Call {
        &self.call
    }
}

/// The hash of an op, its arguments, and a further text that distinguishes calls.
fn fingerprint(op: &str, arguments: &Value, also: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(op.as_bytes()).update(b"\0").update(also.as_bytes()).update(b"\0");
    add(&mut hasher, arguments);
    hasher.finalize().to_hex()[..32].to_string()
}

fn add(hasher: &mut blake3::Hasher, value: &Value) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            hasher.update(b"{").update(&fields.len().to_le_bytes());
            for (name, field) in fields {
                hasher.update(&name.len().to_le_bytes()).update(name.as_bytes());
                add(hasher, field);
            }
        }
        Value::Array(items) => {
            hasher.update(b"[").update(&items.len().to_le_bytes());
            items.iter().for_each(|item| add(hasher, item));
        }
        Value::String(text) => {
            hasher.update(b"\"").update(&text.len().to_le_bytes()).update(text.as_bytes());
        }
        plain => {
            hasher.update(b"=").update(plain.to_string().as_bytes()).update(b"\0");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::fingerprint;

    #[test]
    fn the_order_of_arguments_does_not_matter_and_everything_else_does() {
        let one = fingerprint("a.b", &json!({"x": 1, "y": [1, "2"]}), "");
        assert_eq!(one, fingerprint("a.b", &json!({"y": [1, "2"], "x": 1}), ""));
        for other in
            [json!({"x": 1, "y": [1, 2]}), json!({"x": 1, "y": ["2", 1]}), json!({"x": 1}), json!({})]
        {
            assert_ne!(one, fingerprint("a.b", &other, ""));
        }
        assert_ne!(one, fingerprint("a.c", &json!({"x": 1, "y": [1, "2"]}), ""));
        assert_ne!(one, fingerprint("a.b", &json!({"x": 1, "y": [1, "2"]}), "NOT_FOUND"));
    }
}

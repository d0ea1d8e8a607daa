//! One call while it is checked and run, and the notes on its run.

use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Number, Value};

use super::backend::McpAnswer;
use super::envelope::{CallMeta, Envelope};
use super::request::CallRequest;
use crate::context::FunctionContext;
use crate::fields::fields;
use crate::state::{Event, EventKind, StateStore, now};
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
        self.tool.as_ref().map_or(Effect::Read, |tool| tool.effect)
    }

    /// The no-schema mode of the tool, if it has no schema.
    pub(super) fn no_schema_mode(&self) -> Option<NoSchemaMode> {
        self.validated?;
        match self.tool.as_ref()?.parameters.callable() {
            Callable::Unchecked(mode) => Some(*mode),
            _ => None,
        }
    }

    /// Whether its backend is several steps.
    pub(super) fn has_steps(&self) -> bool {
        let backend = self.tool.as_ref().and_then(|tool| tool.definition.backend.as_ref());
        matches!(backend, Some(Backend::Steps(_)))
    }

    /// Longest silence of the backend, unless it has a limit of its own.
    pub(super) fn longest_silence(&self) -> Duration {
        self.config().exec.longest_silence()
    }

    /// The fields of this call that a corrected call repeats: dry run, key, receipt and session.
    pub(super) fn carried(&self) -> Map<String, Value> {
        let caller = &self.context.caller;
        let session = if caller.names_session { caller.session.as_deref() } else { None };
        fields([
            ("dry_run", self.request.dry_run.map(Value::from)),
            ("idempotency_key", self.request.idempotency_key.as_deref().map(Value::from)),
            ("receipt", self.request.receipt.as_deref().map(Value::from)),
            ("session", session.map(Value::from)),
        ])
    }

    /// The `meta` of the envelope. A replayed answer has its own warnings.
    pub(super) fn meta(&self, notes: &Notes) -> CallMeta {
        let tenths = self.started.elapsed().as_micros() / 100;
        let trace_id = Some(self.context.trace.id().to_string());
        let latency_ms = if tenths.is_multiple_of(10) {
            Number::from_u128(tenths / 10)
        } else {
            Number::from_f64(tenths as f64 / 10.0)
        };
        if let Some(replayed) = &notes.replayed {
            return CallMeta { trace_id, latency_ms, replayed: true, ..replayed.clone() };
        }
        let unchecked = if self.validated == Some(false) { self.no_schema_mode() } else { None };
        CallMeta {
            trace_id,
            latency_ms,
            warnings: Some(self.request.warnings.iter().chain(&notes.warnings).cloned().collect()),
            dry_run: self.is_dry_run,
            validated: unchecked.map(|_| false),
            no_schema_mode: unchecked,
            more: notes.continuation.clone(),
            blocks: notes.original.as_ref().map(|original| original.described_data()).unwrap_or_default(),
            context: notes.session_context.clone(),
            replayed: false,
        }
    }

    /// An event of this call for the trace, without its facts.
    pub(super) fn event(&self, kind: EventKind) -> Event {
        let caller = &self.context.caller;
        Event {
            at: now(),
            trace_id: self.context.trace.id().to_string(),
            caller: caller.name.to_string(),
            session: caller.session.as_ref().map(ToString::to_string),
            kind,
            function: self.request.function.to_string(),
            latency_us: i64::try_from(self.started.elapsed().as_micros()).unwrap_or(i64::MAX),
            ..Event::default()
        }
    }

    /// The error of a call that has panicked. `was_begun`: whether its backend may have been sent something.
    pub(super) fn panicked(&self, was_begun: bool) -> ToolError {
        let may_have_run = was_begun && self.effect() != Effect::Read;
        let (message, next) = if may_have_run {
            let message = format!("{MISTAKE}; whether the call was run is not known");
            (message, "tell the operator; check whether it was done before you send it again")
        } else {
            (format!("{MISTAKE}; nothing was changed"), "tell the operator")
        };
        let error = ToolError::new(ErrorCode::Internal, message, next);
        let error = if was_begun { error.with_certainty(Certainty::Unknown) } else { error };
        if may_have_run { error.detail("may_have_run", true) } else { error }
    }
}

impl Checked {
    /// The tool that is called.
    pub(super) fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Whether the call has to be run to its end even if its caller goes away.
    pub(super) fn must_outlive_caller(&self) -> bool {
        let is_static = || matches!(self.tool.definition.backend, Some(Backend::Static { .. }));
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

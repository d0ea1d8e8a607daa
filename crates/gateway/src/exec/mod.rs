//! A call of a tool, whatever transport it came by (EXEC-1..6).
//!
//! [`execute`] shows every phase of a call, in order. A [`ToolError`] in any phase takes the call to the last one. A
//! [`CallRequest`] becomes a [`Checked`] call, and this an [`Envelope`].

mod approval_notice;
mod approvals;
pub mod backend;
mod check;
mod record;
mod request;
mod results;
mod send;
mod steps;

use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::functions::FunctionContext;
use crate::state::{Event, EventKind, StateStore, WaitBudget, now};
use crate::tool_error::{Certainty, ErrorCode, ToolError};
use approvals::{approve, give_back};
use backend::McpAnswer;
use check::check;
use record::{hold, record, reserve, settle};
use send::{preview, send};
use toolcrib_catalog::arguments::Repair;
use toolcrib_catalog::config::Config;
use toolcrib_catalog::{Callable, Tool};
use toolcrib_definition::guard::{MISTAKE, guarded};
use toolcrib_definition::secret::SecretPolicy;
use toolcrib_definition::{Backend, Effect, NoSchemaMode};
use toolcrib_front::telemetry::{self, Operation};

pub use approval_notice::{erased, whole_arguments};
pub use approvals::{Decided, Decision, binding, decide, has_changed, readable_definition};
pub use record::{BYTES_A_TOKEN, standing_scope};
pub use request::{CallRequest, Caller, EVERY_ROLE, EffectLimit, LackedRight};
pub use results::{next_page, part_of, reached};

/// Answers a call. A write is run and recorded to its end even if its caller goes away.
pub async fn execute(context: FunctionContext, request: CallRequest, functions: Functions) -> Envelope {
    let mut call = Call::new(context, request);
    // The tool, its arguments, the allowed effect, the receipt.
    let checked = guarded(check(&mut call)).await.unwrap_or_else(|_| Err(call.panicked(false)));
    match checked {
        Err(error) => record(call, Outcome::Failed(error), Notes::default()).await,
        Ok(tool) => {
            let operation = Operation::tool(&tool.name);
            let running = async {
                match (Checked { call, tool, functions, run_step }) {
                    call if call.must_outlive_caller() => run_detached(call).await,
                    call => run(call).await,
                }
            };
            let error = |done: &Envelope| done.outcome.error().map(|code| code.as_str().to_string());
            operation.observe(running, error).await
        }
    }
}

/// Answers a step of a call, which is a call with every check. Its type is erased, since a call may have steps.
fn run_step(context: FunctionContext, request: CallRequest, functions: Functions) -> StepAnswer {
    Box::pin(execute(context, request, functions))
}

/// Runs a checked call.
async fn run(call: Checked) -> Envelope {
    let mut notes = Notes::default();
    if call.is_dry_run {
        let outcome = preview(&call, &mut notes).await.into();
        return record(call.call, outcome, notes).await;
    }
    // The idempotency key, or the answer of an earlier call with it.
    let outcome = match reserve(&call, &mut notes).await {
        Err(outcome) => outcome,
        Ok(claim) => {
            let ran = hold(claim.as_ref(), call.state(), run_approved(&call, &mut notes)).await;
            settle(claim.as_ref(), &call, ran, &mut notes).await
        }
    };
    record(call.call, outcome, notes).await
}

/// Sends a call to its backend once a person has approved it, where that is required.
async fn run_approved(call: &Checked, notes: &mut Notes) -> Result<Value, ToolError> {
    let approval = approve(call).await?;
    let ran = send(call, notes).await;
    if let (Some(approval), Err(ToolError { certainty: Certainty::NotRun, .. })) = (approval, &ran) {
        give_back(call, &approval, notes).await;
    }
    ran
}

/// Time that a write may still take after its caller has gone away.
const UNATTENDED: Duration = Duration::from_secs(600);

/// Runs a call in its own task. Once nobody waits for it, it ends in time, and is recorded as abandoned.
async fn run_detached(call: Checked) -> Envelope {
    let Ok(runtime) = Handle::try_current() else { return run(call).await };
    let op = call.op().to_string();
    let failure = Outcome::Failed(call.panicked(true).or_help_path(&op));
    let meta = call.meta(&Notes::default());
    let lost = Envelope { op, outcome: failure, repaired: Vec::new(), meta, original: None };
    let (_waiting, gone) = oneshot::channel::<()>();
    let attended = async {
        tokio::select! {
            done = run(call) => Some(done),
            () = async { _ = gone.await; sleep(UNATTENDED).await } => None,
        }
    };
    let done = runtime.spawn(telemetry::carried(WaitBudget::current().with(attended))).await;
    done.ok().flatten().unwrap_or(lost)
}

/// Answers a call of `op` by `function` that could not be read.
pub async fn refuse(
    context: FunctionContext,
    function: &'static str,
    op: String,
    mut error: ToolError,
) -> Envelope {
    error.help_path = Some("root".into());
    let request = CallRequest { function, op, ..CallRequest::default() };
    record(Call::new(context, request), Outcome::Failed(error), Notes::default()).await
}

/// One call. Only `exec::check` changes it. Dropped without a record, it is recorded as abandoned.
struct Call {
    context: FunctionContext,
    started: Instant,
    /// The request as the caller sent it; after admission, with the op of the catalog and valid arguments.
    request: CallRequest,
    /// The tool, once it is known.
    tool: Option<Arc<Tool>>,
    is_dry_run: bool,
    /// Whether the tool has a schema to validate the arguments; `None` until these are read.
    validated: Option<bool>,
    /// The changes that made the arguments fit.
    repaired: Vec<Repair>,
    is_recorded: bool,
}

/// A call that may be run. It cannot be changed any more.
struct Checked {
    call: Call,
    tool: Arc<Tool>,
    /// Answers a function of toolcrib that is the backend of a tool.
    functions: Functions,
    /// Answers a step of the call.
    run_step: fn(FunctionContext, CallRequest, Functions) -> StepAnswer,
}

/// Answers the function of this name, as the backend of a tool; `None` if there is no such function, or it runs tools itself.
pub type Functions = for<'c> fn(&'c FunctionContext, &str, Value) -> Option<FunctionAnswer<'c>>;

/// The fields of a function's answer, once they are there.
pub type FunctionAnswer<'c> =
    Pin<Box<dyn Future<Output = Result<Map<String, Value>, ToolError>> + Send + 'c>>;

/// The answer of a step, once it is there.
type StepAnswer = Pin<Box<dyn Future<Output = Envelope> + Send>>;

/// Notes on a run, for the `meta` of its envelope.
#[derive(Default)]
struct Notes {
    warnings: Vec<String>,
    /// The context of the session.
    session_context: Option<Value>,
    /// The cursor of a result that was cut, for `meta.more`.
    continuation: Option<Value>,
    /// Whether the call was handed to its backend.
    was_run: bool,
    /// The unchanged answer of an MCP server.
    original: Option<Box<McpAnswer>>,
}

impl Call {
    fn new(context: FunctionContext, request: CallRequest) -> Self {
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

    fn op(&self) -> &str {
        &self.request.op
    }

    fn arguments(&self) -> &Value {
        &self.request.args
    }

    /// The state of the server.
    fn state(&self) -> &StateStore {
        &self.context.services.state
    }

    /// The configuration of the catalog.
    fn config(&self) -> &Config {
        &self.context.view.catalog().config
    }

    /// The rules that say which values are secret.
    fn secrets(&self) -> SecretPolicy<'_> {
        self.context.view.catalog().secrets()
    }

    /// The effect of the tool; `Read` while the tool is not known.
    fn effect(&self) -> Effect {
        self.tool.as_ref().map_or(Effect::Read, |tool| tool.effect)
    }

    /// The no-schema mode of the tool, if it has no schema.
    fn no_schema_mode(&self) -> Option<NoSchemaMode> {
        let tool = self.tool.as_ref().filter(|_| self.validated.is_some())?;
        match tool.parameters.callable() {
            Callable::Unchecked(mode) => Some(*mode),
            _ => None,
        }
    }

    /// Whether its backend is several steps.
    fn has_steps(&self) -> bool {
        let backend = self.tool.as_ref().and_then(|tool| tool.definition.backend.as_ref());
        matches!(backend, Some(Backend::Steps(_)))
    }

    /// Longest silence of the backend, unless it has a limit of its own.
    fn longest_silence(&self) -> Duration {
        self.config().exec.longest_silence()
    }

    /// The fields of this call that a corrected call repeats: dry run, key, receipt and session.
    fn carried(&self) -> Map<String, Value> {
        let caller = &self.context.caller;
        let session = caller.session.as_deref().filter(|_| caller.names_session);
        let fields = [
            ("dry_run", self.request.dry_run.map(Value::from)),
            ("idempotency_key", self.request.idempotency_key.as_deref().map(Value::from)),
            ("receipt", self.request.receipt.as_deref().map(Value::from)),
            ("session", session.map(Value::from)),
        ];
        fields.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
    }

    /// The `meta` of the envelope.
    fn meta(&self, notes: &Notes) -> Map<String, Value> {
        let mut meta = Map::with_capacity(6);
        meta.insert("trace_id".into(), self.context.trace.id().into());
        let tenths = self.started.elapsed().as_micros() / 100;
        let latency =
            if tenths.is_multiple_of(10) { json!(tenths / 10) } else { json!(tenths as f64 / 10.0) };
        meta.insert("latency_ms".into(), latency);
        let warnings = self.request.warnings.iter().chain(&notes.warnings);
        meta.insert("warnings".into(), warnings.map(String::as_str).collect());
        if self.is_dry_run {
            meta.insert("dry_run".into(), true.into());
        }
        if let (Some(false), Some(mode)) = (self.validated, self.no_schema_mode()) {
            meta.insert("validated".into(), false.into());
            meta.insert("no_schema_mode".into(), json!(mode));
        }
        if let Some(more) = &notes.continuation {
            meta.insert("more".into(), more.clone());
        }
        if let Some(data) = notes.original.as_ref().and_then(|original| original.described_data()) {
            meta.insert("blocks".into(), data);
        }
        if let Some(context) = &notes.session_context {
            meta.insert("context".into(), context.clone());
        }
        meta
    }

    /// An event of this call for the trace, without its facts.
    fn event(&self, kind: EventKind) -> Event {
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
    fn panicked(&self, was_begun: bool) -> ToolError {
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
    fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Whether the call has to be run to its end even if its caller goes away.
    fn must_outlive_caller(&self) -> bool {
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

// The result of a call, and its envelope (EXEC-2, EXEC-3).

/// The answer to a call, for its caller.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The op; the caller's own text where no op was found.
    pub op: String,
    /// The result, or a failure.
    pub outcome: Outcome,
    /// The changes that made the arguments fit.
    pub repaired: Vec<Repair>,
    /// Trace id, latency, warnings, and other notes.
    pub meta: Map<String, Value>,
    /// The unchanged answer of an MCP server.
    pub original: Option<Box<McpAnswer>>,
}

/// The outcome of a call.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "it lives for a moment, and failures are rare")]
pub enum Outcome {
    /// The result of a run or of a dry run.
    Result(Value),
    /// The call was not run, or its run failed.
    Failed(ToolError),
    /// The envelope of an earlier run with the same idempotency key.
    Replayed(Map<String, Value>),
}

impl From<Result<Value, ToolError>> for Outcome {
    fn from(result: Result<Value, ToolError>) -> Self {
        result.map_or_else(Outcome::Failed, Outcome::Result)
    }
}

impl Outcome {
    /// The fields of the envelope without `meta`.
    fn into_fields(self, op: &str) -> Map<String, Value> {
        let mut fields = Map::with_capacity(4);
        fields.insert("op".into(), op.into());
        match self {
            Outcome::Result(result) => {
                fields.insert("ok".into(), true.into());
                fields.insert("result".into(), result);
            }
            Outcome::Failed(error) => {
                fields.insert("ok".into(), false.into());
                fields.insert("error".into(), Value::Object(error.envelope_fields(op)));
            }
            Outcome::Replayed(stored) => fields.extend(stored),
        }
        fields
    }

    /// The code of the error, if there is one.
    pub fn error(&self) -> Option<ErrorCode> {
        match self {
            Outcome::Result(_) => None,
            Outcome::Failed(failure) => Some(failure.code),
            Outcome::Replayed(stored) => {
                let code = stored.get("error")?.get("code")?.as_str()?;
                ErrorCode::ALL.iter().copied().find(|known| known.as_str() == code)
            }
        }
    }
}

impl Envelope {
    /// The envelope as JSON.
    pub fn fields(self) -> Map<String, Value> {
        let mut fields = self.outcome.into_fields(&self.op);
        let mut meta = match fields.shift_remove("meta") {
            Some(Value::Object(stored)) => stored,
            _ => Map::new(),
        };
        meta.extend(self.meta);
        fields.insert("meta".into(), Value::Object(meta));
        fields
    }
}

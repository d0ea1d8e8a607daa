//! One call, with all that its answer and its trace need at any step, and its result as an envelope.

use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::backend::McpAnswer;
use super::{CallContext, CallRequest};
use crate::arguments::Repair;
use crate::catalog::{Callable, Tool};
use crate::config::Config;
use crate::finding::pointer_unescape;
use crate::guard::MISTAKE;
use crate::refusal::{ErrorCode, Refusal};
use crate::secret::SecretPolicy;
use crate::state::StateStore;
use crate::tool::{Backend, Effect, NoSchemaMode};

/// One call. Only `exec::check` changes it. Dropped without a record, it is recorded as abandoned.
pub(super) struct Call {
    pub(super) context: Arc<dyn CallContext>,
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
    call: Call,
    tool: Arc<Tool>,
}

/// Notes on a run, for the `meta` of its envelope.
#[derive(Default)]
pub(super) struct RunNotes {
    pub(super) warnings: Vec<String>,
    /// The context of the session.
    pub(super) session_context: Option<Value>,
    /// The cursor of a result that was cut, for `meta.more`.
    pub(super) continuation: Option<Value>,
    /// Whether the call was handed to its backend.
    pub(super) was_run: bool,
    /// The unchanged answer of an MCP server.
    pub(super) original: Option<Box<McpAnswer>>,
}

impl Call {
    /// A call of this request.
    pub(super) fn new(context: Arc<dyn CallContext>, request: CallRequest) -> Self {
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
        self.context.state()
    }

    /// The configuration of the catalog.
    pub(super) fn config(&self) -> &Config {
        &self.context.catalog().config
    }

    /// The rules that say which values are secret.
    pub(super) fn secrets(&self) -> SecretPolicy<'_> {
        self.context.catalog().secrets()
    }

    /// The effect of the tool; `Read` while the tool is not known.
    pub(super) fn effect(&self) -> Effect {
        self.tool.as_ref().map_or(Effect::Read, |tool| tool.effect)
    }

    /// The no-schema mode of the tool, if it has no schema.
    pub(super) fn no_schema_mode(&self) -> Option<NoSchemaMode> {
        let tool = self.tool.as_ref().filter(|_| self.validated.is_some())?;
        match tool.parameters.callable() {
            Callable::Unchecked(mode) => Some(*mode),
            _ => None,
        }
    }

    /// Whether its backend is several steps.
    pub(super) fn has_steps(&self) -> bool {
        let backend = self.tool.as_ref().and_then(|tool| tool.definition.backend.as_ref());
        matches!(backend, Some(Backend::Steps(_)))
    }

    /// The timeout of the call.
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(self.config().exec.call_seconds)
    }

    /// The fields of this call that a corrected call repeats: dry run, key, receipt and session.
    pub(super) fn carried(&self) -> Map<String, Value> {
        let mut carried = Map::new();
        if let Some(dry) = self.request.dry_run {
            carried.insert("dry_run".into(), dry.into());
        }
        let caller = self.context.caller();
        let session = caller.session.as_deref().filter(|_| caller.names_session);
        let texts = [
            ("idempotency_key", self.request.idempotency_key.as_deref()),
            ("receipt", self.request.receipt.as_deref()),
            ("session", session),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                carried.insert(name.into(), text.into());
            }
        }
        carried
    }

    /// The `meta` of the envelope.
    pub(super) fn meta(&self, notes: &RunNotes) -> Map<String, Value> {
        let mut meta = Map::with_capacity(6);
        meta.insert("trace_id".into(), self.context.trace_id().into());
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

    /// The failure of a call that has panicked. `was_begun`: whether its backend may have been sent something.
    pub(super) fn panicked(&self, was_begun: bool) -> Refusal {
        let may_have_run = was_begun && self.effect() != Effect::Read;
        let (message, next) = match may_have_run {
            true => {
                let message = format!("{MISTAKE}; whether the call was run is not known");
                (message, "tell the operator; check whether it was done before you send it again")
            }
            false => (format!("{MISTAKE}; nothing was changed"), "tell the operator"),
        };
        let failure = Refusal::new(ErrorCode::Internal, message, next);
        if may_have_run { failure.detail("may_have_run", true) } else { failure }
    }
}

impl Checked {
    /// A call of this tool that has passed all checks.
    pub(super) fn new(call: Call, tool: Arc<Tool>) -> Self {
        Self { call, tool }
    }

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

impl From<Checked> for Call {
    fn from(checked: Checked) -> Self {
        checked.call
    }
}

/// The hash of an op, its arguments, and a further text that distinguishes calls.
pub(super) fn fingerprint(op: &str, arguments: &Value, also: &str) -> String {
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

// The result of a call, and its envelope (EXEC-2, EXEC-3).

/// The answer to a call, for its caller.
#[derive(Clone, Debug)]
pub struct CallResult {
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
    Failed(Refusal),
    /// The envelope of an earlier run with the same idempotency key.
    Replayed(Map<String, Value>),
}

impl Outcome {
    /// The fields of the envelope without `meta`.
    pub(super) fn fields(&self, op: &str) -> Map<String, Value> {
        let mut fields = Map::with_capacity(4);
        fields.insert("op".into(), op.into());
        match self {
            Outcome::Result(result) => {
                fields.insert("ok".into(), true.into());
                fields.insert("result".into(), result.clone());
            }
            Outcome::Failed(failure) => {
                fields.insert("ok".into(), false.into());
                fields.insert("error".into(), Value::Object(error_fields(failure, op)));
            }
            Outcome::Replayed(stored) => fields.extend(stored.clone()),
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

impl CallResult {
    /// The envelope.
    pub fn envelope(self) -> Map<String, Value> {
        let mut fields = match self.outcome {
            Outcome::Result(result) => {
                let mut fields = Map::with_capacity(4);
                fields.insert("op".into(), self.op.into());
                fields.insert("ok".into(), true.into());
                fields.insert("result".into(), result);
                fields
            }
            other => other.fields(&self.op),
        };
        let mut meta = match fields.shift_remove("meta") {
            Some(Value::Object(stored)) => stored,
            _ => Map::new(),
        };
        meta.extend(self.meta);
        fields.insert("meta".into(), Value::Object(meta));
        fields
    }
}

/// The `error` of an envelope, for a call of `op`.
fn error_fields(refusal: &Refusal, op: &str) -> Map<String, Value> {
    let mut error = Map::new();
    let mut put = |name: &str, value: Value| error.insert(name.to_string(), value);
    put("code", refusal.code.as_str().into());
    put("message", refusal.message.as_str().into());
    let mut details = refusal.hints.clone();
    details.insert("field_errors".into(), json!(refusal.field_errors));
    put("details", Value::Object(details));
    put("help_path", refusal.help_path.as_deref().unwrap_or_default().into());
    if !refusal.nearest.is_empty() {
        put("nearest", json!(refusal.nearest));
    }
    put("next_action", refusal.next_action.as_str().into());
    if let Some(args) = &refusal.example {
        let mut example = Map::with_capacity(2 + refusal.carried.len());
        example.insert("op".into(), refusal.example_op.as_deref().unwrap_or(op).into());
        example.insert("args".into(), args.clone());
        example.extend(refusal.carried.clone());
        put("example", Value::Object(example));
        for (name, pointers) in [("fill_in", &refusal.fill_in), ("dropped", &refusal.dropped)] {
            if !pointers.is_empty() {
                put(name, json!(pointers));
            }
        }
    }
    if let Some(call) = &refusal.call {
        put("call", call.clone());
    }
    if let Some(help) = &refusal.help {
        put("help", Value::Object(help.clone()));
    }
    error
}

/// The value at a pointer into an answer.
pub fn part_of(answer: &Map<String, Value>, pointer: &str) -> Option<Value> {
    let rest = pointer.strip_prefix('/')?;
    let (name, rest) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    answer.get(&*pointer_unescape(name))?.pointer(rest).cloned()
}

/// The part of a pointer that exists, with the keys there.
pub fn reached(answer: &Map<String, Value>, pointer: &str) -> String {
    let mut so_far = pointer;
    while let Some((shorter, _)) = so_far.rsplit_once('/') {
        let there =
            if shorter.is_empty() { Some(Value::Object(answer.clone())) } else { part_of(answer, shorter) };
        match there {
            Some(Value::Object(fields)) => {
                let names: Vec<&str> = fields.keys().take(12).map(String::as_str).collect();
                return format!("; at `{shorter}` there is {}", names.join(", "));
            }
            Some(Value::Array(items)) => return format!("; at `{shorter}` there are {} items", items.len()),
            _ => so_far = shorter,
        }
    }
    String::new()
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

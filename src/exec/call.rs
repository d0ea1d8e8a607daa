//! One call, with all that its answer and its trace need at any step.

use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::backend::McpAnswer;
use super::{CallContext, CallRequest};
use crate::arguments::Repair;
use crate::catalog::{Callable, Tool};
use crate::config::Config;
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
    /// The answer of an MCP server as it came.
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

//! One call on its way: what is known of it so far, and what is to be told of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::{CallContext, CallRequest, EffectLimit, audit};
use crate::arguments::Repair;
use crate::catalog::Tool;
use crate::config::Config;
use crate::guard::guarded_now;
use crate::refusal::ErrorCode;
use crate::secret::Policy as Secrets;
use crate::state::StateStore;
use crate::tool::{Effect, NoSchemaMode};

/// One call on its way.
pub(super) struct ActiveCall {
    pub(super) context: Arc<dyn CallContext>,
    pub(super) function: &'static str,
    /// As the caller named it, then as the catalog does.
    pub(super) op: String,
    /// The tool and its place, once they are known.
    pub(super) tool: Option<(usize, Arc<Tool>)>,
    /// As they were given, then as they fit.
    pub(super) arguments: Value,
    pub(super) key: Option<String>,
    pub(super) receipt: Option<String>,
    pub(super) limit: EffectLimit,
    pub(super) requested_dry_run: Option<bool>,
    pub(super) is_dry_run: bool,
    pub(super) trace_id: String,
    pub(super) started: Instant,
    pub(super) warnings: Vec<String>,
    pub(super) repaired: Vec<Repair>,
    /// Whether the arguments were checked, once that is known.
    pub(super) validated: Option<bool>,
    pub(super) no_schema_mode: Option<NoSchemaMode>,
    /// What the session is about.
    pub(super) session_context: Option<Value>,
    /// Where the result goes on.
    pub(super) continuation: Option<Value>,
    pub(super) replayed: bool,
    /// Whether it was handed to what runs it.
    pub(super) was_run: bool,
    /// Whether it was written down.
    pub(super) is_recorded: bool,
}

impl ActiveCall {
    /// A call as it was asked for, and what stood beside its arguments.
    pub(super) fn new(context: Arc<dyn CallContext>, request: CallRequest) -> (Self, Map<String, Value>) {
        let trace_id = context.trace_id().to_string();
        let call = Self {
            context,
            function: request.function,
            op: request.op,
            tool: None,
            arguments: request.args,
            key: request.idempotency_key,
            receipt: request.receipt,
            limit: request.limit,
            requested_dry_run: request.dry_run,
            is_dry_run: false,
            trace_id,
            started: Instant::now(),
            warnings: request.warnings,
            repaired: Vec::new(),
            validated: None,
            no_schema_mode: None,
            session_context: None,
            continuation: None,
            replayed: false,
            was_run: false,
            is_recorded: false,
        };
        (call, request.extra_fields)
    }

    /// What outlives it.
    pub(super) fn state(&self) -> &dyn StateStore {
        self.context.state()
    }

    /// What it is configured by.
    pub(super) fn config(&self) -> &Config {
        &self.context.catalog().config
    }

    /// What is secret in it.
    pub(super) fn secrets(&self) -> Secrets<'_> {
        self.context.catalog().secrets()
    }

    /// What the tool may change.
    pub(super) fn effect(&self) -> Effect {
        self.tool.as_ref().map_or(Effect::Read, |(_, tool)| tool.effect)
    }

    /// How long it may take.
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(self.config().exec.call_seconds)
    }

    /// What a corrected call has to say again beside op and arguments.
    pub(super) fn carried(&self) -> Map<String, Value> {
        let mut carried = Map::new();
        if let Some(dry) = self.requested_dry_run {
            carried.insert("dry_run".into(), dry.into());
        }
        let caller = self.context.caller();
        let session = caller.session.as_deref().filter(|_| caller.names_session);
        let texts = [
            ("idempotency_key", self.key.as_deref()),
            ("receipt", self.receipt.as_deref()),
            ("session", session),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                carried.insert(name.into(), text.into());
            }
        }
        carried
    }

    /// Its `meta`, as it stands.
    pub(super) fn meta(&self) -> Map<String, Value> {
        let mut meta = Map::with_capacity(6);
        meta.insert("trace_id".into(), self.trace_id.as_str().into());
        let tenths = self.started.elapsed().as_micros() / 100;
        let latency =
            if tenths.is_multiple_of(10) { json!(tenths / 10) } else { json!(tenths as f64 / 10.0) };
        meta.insert("latency_ms".into(), latency);
        meta.insert("warnings".into(), self.warnings.iter().map(String::as_str).collect());
        if self.is_dry_run {
            meta.insert("dry_run".into(), true.into());
        }
        if let (Some(false), Some(mode)) = (self.validated, self.no_schema_mode) {
            meta.insert("validated".into(), false.into());
            meta.insert("no_schema_mode".into(), json!(mode));
        }
        if let Some(more) = &self.continuation {
            meta.insert("more".into(), more.clone());
        }
        if let Some(context) = &self.session_context {
            meta.insert("context".into(), context.clone());
        }
        if self.replayed {
            meta.insert("replayed".into(), true.into());
        }
        meta
    }
}

/// A caller that goes away is no reason to forget what was asked for, and neither is a panic. Another panic here would end
/// the process.
impl Drop for ActiveCall {
    fn drop(&mut self) {
        let word = if std::thread::panicking() { ErrorCode::Internal.as_str() } else { "ABANDONED" };
        if !self.is_recorded {
            let _ = guarded_now(|| audit::record(self, word, None));
        }
    }
}

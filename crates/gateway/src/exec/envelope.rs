//! The answer to a call of a tool: its result or its error, with notes on the call (EXEC-2, EXEC-3).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};
use serde_with::skip_serializing_none;

use super::backend::{DescribedData, McpAnswer};
use crate::tool_error::{ErrorCode, Result, ToolError};
use toolcrib_catalog::arguments::Repair;
use toolcrib_definition::NoSchemaMode;

/// The answer to a call, for its caller.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The op; the caller's own text where no op was found.
    pub op: String,
    /// The result of a run or of a dry run. An error: the call was not run, or its run failed.
    pub outcome: Result<Value>,
    /// The changes that made the arguments fit.
    pub repaired: Vec<Repair>,
    pub meta: CallMeta,
    /// The unchanged answer of an MCP server.
    pub original: Option<Box<McpAnswer>>,
}

/// Notes on a call, as the `meta` of its envelope has them.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CallMeta {
    pub trace_id: Option<String>,
    pub latency_ms: Option<Number>,
    pub warnings: Option<Vec<String>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// False for arguments that no schema has checked.
    pub validated: Option<bool>,
    pub no_schema_mode: Option<NoSchemaMode>,
    /// The size of a result that was cut, and the cursor of the rest.
    pub more: Option<Value>,
    /// The data of the result that stands outside the envelope.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<DescribedData>,
    /// The context of the session.
    pub context: Option<Value>,
    /// Whether the answer is that of an earlier call with the same idempotency key.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
}

impl Envelope {
    /// The envelope as JSON without `meta`.
    pub fn fields(&self) -> Map<String, Value> {
        envelope(&self.op, &self.outcome)
    }

    pub fn error(&self) -> Option<ErrorCode> {
        self.outcome.as_ref().err().map(|error| error.code)
    }
}

/// The envelope of a call of `op` as JSON, without `meta`.
fn envelope(op: &str, outcome: &Result<Value>) -> Map<String, Value> {
    let (name, value) = match outcome {
        Ok(result) => ("result", result.clone()),
        Err(error) => ("error", error.in_envelope(op)),
    };
    let fields = [("op", op.into()), ("ok", outcome.is_ok().into()), (name, value)];
    fields.map(|(name, value)| (name.to_string(), value)).into_iter().collect()
}

/// An envelope as it is stored under an idempotency key.
pub(super) fn stored(op: &str, outcome: &Result<Value>, meta: &CallMeta) -> Value {
    let mut fields = envelope(op, outcome);
    fields.insert("meta".into(), json!(meta));
    Value::Object(fields)
}

/// The outcome and the notes of a stored envelope.
pub(super) fn read_stored(mut envelope: Value) -> (Result<Value>, CallMeta) {
    let mut take = |name: &str| envelope.get_mut(name).map(Value::take).unwrap_or_default();
    let meta = serde_json::from_value(take("meta")).unwrap_or_default();
    let outcome = match take("error") {
        Value::Null => Ok(take("result")),
        error => Err(ToolError::of_envelope(error)),
    };
    (outcome, meta)
}

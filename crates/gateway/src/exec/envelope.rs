//! The result of a call, and its envelope (EXEC-2, EXEC-3).

use serde_json::{Map, Value};

use super::backend::McpAnswer;
use crate::tool_error::{ErrorCode, Result, ToolError};
use toolcrib_catalog::arguments::Repair;

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

impl From<Result<Value>> for Outcome {
    fn from(result: Result<Value>) -> Self {
        result.map_or_else(Outcome::Failed, Outcome::Result)
    }
}

impl Outcome {
    /// The fields of the envelope without `meta`.
    pub(super) fn into_fields(self, op: &str) -> Map<String, Value> {
        let mut fields = Map::with_capacity(4);
        fields.insert("op".into(), op.into());
        match self {
            Outcome::Result(result) => {
                fields.insert("ok".into(), true.into());
                fields.insert("result".into(), result);
            }
            Outcome::Failed(error) => {
                fields.insert("ok".into(), false.into());
                fields.insert("error".into(), error.in_envelope(op));
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

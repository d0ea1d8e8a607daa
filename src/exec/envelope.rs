//! The result of a call, and its envelope (EXEC-2, EXEC-3).

use serde_json::{Map, Value, json};

use super::backend::McpAnswer;
use crate::arguments::Repair;
use crate::finding::pointer_unescape;
use crate::refusal::{ErrorCode, Refusal};

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
    /// The answer of an MCP server as it came.
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
                fields.insert("error".into(), Value::Object(error(failure, op)));
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
fn error(refusal: &Refusal, op: &str) -> Map<String, Value> {
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

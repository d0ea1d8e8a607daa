//! One event of a trace, and its kind.

use serde::{Deserialize, Serialize};
use strum::VariantArray;

use super::clock::now;
use toolcrib_definition::Effect;

/// One event of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Event {
    /// Its number; assigned when it is written.
    pub id: i64,
    /// Time in milliseconds of Unix time; zero is replaced by the current time when the event is recorded.
    pub at: i64,
    /// Id of the answer.
    pub trace_id: String,
    /// The caller; empty where everybody may come in.
    pub caller: String,
    pub session: Option<String>,
    pub kind: EventKind,
    /// The function that was called.
    pub function: String,
    pub op: Option<String>,
    /// The tool of the op.
    pub tool: Option<String>,
    /// The query or the arguments, with secrets redacted.
    pub input: serde_json::Value,
    /// The ops that were found, best first.
    pub found: Vec<String>,
    /// `ok`, [`WAITING`], or the code of the error.
    pub outcome: String,
    /// Message of the error.
    pub error: Option<String>,
    /// The profile of the caller; for calls.
    pub profile: Option<String>,
    /// Version of the catalog that the caller saw; for calls.
    pub registry_version: Option<String>,
    /// Version of the tool's doc; for calls.
    pub doc_version: Option<String>,
    /// Whether the arguments were checked; for calls.
    pub validated: Option<bool>,
    /// No-schema mode of a call without a schema.
    pub no_schema_mode: Option<String>,
    /// Effect of the tool; for calls.
    pub effect: Option<Effect>,
    /// Whether the call was a dry run.
    pub dry_run: bool,
    /// Duration in microseconds.
    pub latency_us: i64,
    /// Estimated tokens of the answer.
    pub tokens: i64,
    /// Further data, such as the version of a doc or the new context.
    pub detail: serde_json::Value,
}

/// The outcome of a call that waits for an approval, which is no failure.
pub const WAITING: &str = "waiting";

/// Returns true for the outcome of something that has failed.
pub fn is_failure(outcome: &str) -> bool {
    !matches!(outcome, "ok" | WAITING)
}

/// Longest message of an error, in bytes.
const ERROR: usize = 2 << 10;

/// Most bytes of recorded arguments, and of further data: thousands of events wait in memory.
const INPUT: usize = 16 << 10;

impl Event {
    /// The event as it is written: with the time, and with long texts cut.
    pub(super) fn stamped(mut self) -> Self {
        if self.at == 0 {
            self.at = now();
        }
        if let Some(error) = &mut self.error {
            error.truncate(error.floor_char_boundary(ERROR));
        }
        cut(&mut self.input);
        cut(&mut self.detail);
        self
    }
}

/// Puts the beginning of its JSON in place of a value that is too long.
fn cut(value: &mut serde_json::Value) {
    let text = value.to_string();
    if text.len() > INPUT {
        *value = serde_json::json!({ "cut": &text[..text.floor_char_boundary(INPUT)], "bytes": text.len() });
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(strum::EnumString, strum::IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum EventKind {
    /// A search for tools.
    Search,
    /// A doc or help was read.
    Read,
    /// A tool was expanded.
    Expand,
    /// A tool was called.
    #[default]
    Call,
    /// A result changed the session's context.
    ContextShift,
    /// A person was asked, or has decided.
    Approval,
}

impl EventKind {
    /// Every kind.
    pub const ALL: &[EventKind] = Self::VARIANTS;

    /// The word that is stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{EventQuery, StateStore};
    use crate::tool_error::ErrorCode;

    #[test]
    fn of_all_errors_a_waiting_approval_alone_is_no_failure() {
        let fine: Vec<_> = ErrorCode::ALL.iter().filter(|code| !is_failure(code.outcome())).collect();
        assert_eq!(fine, [&ErrorCode::ApprovalRequired]);
    }

    #[tokio::test]
    async fn long_arguments_are_cut_in_the_trace() {
        let state = StateStore::in_memory();
        let input = serde_json::json!({ "text": "ä".repeat(INPUT) });
        state.record(Event { input, ..Event::default() });
        let events = state.events(&EventQuery::default()).await.unwrap();
        assert_eq!(events[0].input["bytes"], 2 * INPUT + 11);
        assert!(events[0].input["cut"].as_str().unwrap().starts_with(r#"{"text":"ää"#));
    }
}

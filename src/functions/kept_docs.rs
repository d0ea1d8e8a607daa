//! Docs and schemas that a caller has read in a session: they are kept in state, so that this caller can ask for an old
//! version once the catalog has a new one.

use std::collections::HashSet;
use std::sync::Mutex;

use super::{ErrorCode, Refusal};
use crate::state::{StateStore, StoredResult, now};

/// Most ids that are remembered as kept; beyond it, all are forgotten and written again.
const MAX_KNOWN: usize = 20_000;
/// Milliseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// Form of a kept text.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeptForm {
    /// The markdown of `read_tool_doc`.
    Doc,
    /// The answer of `expand_tool`.
    Schema,
}

/// The ids of texts that this process has kept already.
#[derive(Debug, Default)]
pub struct KeptDocs(Mutex<HashSet<String>>);

impl KeptDocs {
    /// Notes an id; false if it is known.
    fn is_new(&self, id: &str) -> bool {
        let mut known = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(id.to_string())
    }
}

/// One text that is kept for its caller.
pub(super) struct KeptText<'t> {
    pub(super) form: KeptForm,
    pub(super) caller: &'t str,
    pub(super) op: &'t str,
    pub(super) version: &'t str,
}

impl KeptText<'_> {
    /// Keeps the text for this number of days.
    pub(super) async fn keep(&self, known: &KeptDocs, state: &StateStore, days: u64, text: String) {
        let id = self.id();
        if !known.is_new(&id) {
            return;
        }
        let days = i64::try_from(days).unwrap_or(i64::MAX);
        let until = now().saturating_add(days.saturating_mul(DAY));
        let kept = StoredResult { id, caller: self.caller.to_string(), text, until };
        // A failure of state shows in its health, and prevents no reading.
        let _ = state.store_result(&kept).await;
    }

    /// The text, if its caller has read it and state still has it.
    pub(super) async fn read(&self, state: &StateStore) -> Result<String, Refusal> {
        let (code, message) = match state.stored_result(self.caller, &self.id()).await {
            Ok(Some(kept)) => return Ok(kept.text),
            Ok(None) => (ErrorCode::NotFound, format!("this version of `{}` is not kept for you", self.op)),
            Err(error) => (ErrorCode::StateUnavailable, format!("old versions cannot be read now ({error})")),
        };
        let next = "leave `version` out to read the current one";
        Err(Refusal::new(code, message, next).or_help_path(self.op))
    }

    fn id(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let form = match self.form {
            KeptForm::Doc => "doc",
            KeptForm::Schema => "schema",
        };
        for part in [form, self.caller, self.op, self.version] {
            hasher.update(&part.len().to_le_bytes()).update(part.as_bytes());
        }
        format!("{form}_{}", &hasher.finalize().to_hex()[..32])
    }
}

//! Docs and schemas that a caller has read in a session: they are kept in state, so that this caller can ask for an old
//! version once the catalog has a new one.

use std::collections::HashSet;
use std::sync::Mutex;

use super::{ErrorCode, FunctionContext, Refusal};
use crate::state::{StoredResult, now};

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

/// Keeps a text for its caller, as long as traces are kept.
pub(super) async fn keep(context: &FunctionContext, form: KeptForm, op: &str, version: &str, text: String) {
    let id = id(context, form, op, version);
    if !context.services.kept_docs.is_new(&id) {
        return;
    }
    let days = i64::try_from(context.view.catalog().config.state.days).unwrap_or(i64::MAX);
    let until = now().saturating_add(days.saturating_mul(DAY));
    let kept = StoredResult { id, caller: context.caller.name.to_string(), text, until };
    // A failure of state shows in its health, and prevents no reading.
    let _ = context.services.state.store_result(&kept).await;
}

/// The text of an old version, if this caller has read it and state still has it.
pub(super) async fn old(
    context: &FunctionContext,
    form: KeptForm,
    op: &str,
    version: &str,
) -> Result<String, Refusal> {
    let id = id(context, form, op, version);
    let kept = context.services.state.stored_result(&context.caller.name, &id).await;
    let (code, message) = match kept {
        Ok(Some(kept)) => return Ok(kept.text),
        Ok(None) => (ErrorCode::NotFound, format!("this version of `{op}` is not kept for you")),
        Err(error) => (ErrorCode::StateUnavailable, format!("old versions cannot be read now ({error})")),
    };
    Err(Refusal::new(code, message, "leave `version` out to read the current one").or_help_path(op))
}

fn id(context: &FunctionContext, form: KeptForm, op: &str, version: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    let form = match form {
        KeptForm::Doc => "doc",
        KeptForm::Schema => "schema",
    };
    for part in [form, &context.caller.name, op, version] {
        hasher.update(&part.len().to_le_bytes()).update(part.as_bytes());
    }
    format!("{form}_{}", &hasher.finalize().to_hex()[..32])
}

//! Repair by a model (CALL-2): an invalid call is sent to a model once, and the answer is checked like any call.

use super::call_entry::CallEntry;
use super::error::{CallError, CallErrorCode};
use super::parser::Parser;
use crate::arguments::{Repair, RepairKind, RepairQuestion};
use crate::model::ChatModel;

impl<'a> Parser<'a> {
    /// Asks a model once to repair a call that cannot be read or is invalid. Unchanged are valid calls and calls of tools that
    /// are unknown or cannot be called. A call that the model could not repair has the outcome in [`CallError::repair`].
    pub fn repair(&self, entry: CallEntry<'a>, model: &dyn ChatModel) -> CallEntry<'a> {
        let Err(error) = &entry.outcome else { return entry };
        let Some(question) = question(&entry, error) else { return entry };
        let unrepaired = |entry: CallEntry<'a>, what: String| match entry.outcome {
            Err(error) => CallEntry { outcome: Err(CallError { repair: Some(what), ..error }), ..entry },
            Ok(_) => entry,
        };
        let answer = match question.ask(model) {
            Ok(answer) => answer,
            Err(reason) => return unrepaired(entry, reason),
        };
        let corrected = self.rebuild(entry.clone(), &answer);
        match &corrected.outcome {
            Ok(_) => {
                let mut repaired = vec![Repair { pointer: String::new(), repair: RepairKind::Model }];
                repaired.extend(corrected.repaired);
                CallEntry { repaired, outcome: corrected.outcome, ..entry }
            }
            Err(error) => {
                let what = format!("the model's answer does not fit either: {}", error.message);
                unrepaired(entry, what)
            }
        }
    }
}

/// The question to the model; `None` when it could not help.
fn question(entry: &CallEntry<'_>, error: &CallError) -> Option<RepairQuestion> {
    let is_slip = matches!(error.code, CallErrorCode::Parse | CallErrorCode::Schema);
    let tool = entry.tool().filter(|_| is_slip)?;
    RepairQuestion::of(tool, &error.given, &error.message, &error.field_errors)
}

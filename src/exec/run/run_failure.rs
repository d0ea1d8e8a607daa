//! The failure of a run, and whether the call was run all the same.

use crate::exec::backend::BackendErrorKind;
use crate::refusal::Refusal;

/// The failure of a run.
pub(super) struct RunFailure {
    pub(super) failure: Refusal,
    pub(super) certainty: Certainty,
}

/// Certainty whether a failed call was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certainty {
    /// The call was not run.
    NotRun,
    /// Some of its steps were run. Each has a key of its own, so that the same call goes on.
    Partly,
    /// Its backend answered with an error.
    Answered,
    /// The call may have been run.
    Unknown,
}

impl From<BackendErrorKind> for Certainty {
    fn from(kind: BackendErrorKind) -> Self {
        match kind {
            BackendErrorKind::Failed => Certainty::Answered,
            kind if kind.was_not_run() => Certainty::NotRun,
            _ => Certainty::Unknown,
        }
    }
}

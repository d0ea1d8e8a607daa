//! The failure of the last write of state. It is logged when it begins, changes and ends.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::StateError;

/// The failure of the last write, if it failed.
#[derive(Debug, Default)]
pub(super) struct WriteFailure(Mutex<Option<String>>);

impl WriteFailure {
    pub(super) fn current(&self) -> Option<String> {
        self.lock().clone()
    }

    pub(super) fn is_none(&self) -> bool {
        self.lock().is_none()
    }

    /// Records the result of the last attempt.
    pub(super) fn record(&self, problem: Option<&StateError>) {
        let mut known = self.lock();
        let message = problem.map(ToString::to_string);
        if *known == message {
            return;
        }
        *known = message;
        match problem {
            Some(problem) => tracing::warn!("state cannot be written: {problem}"),
            None => tracing::info!("state can be written again"),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

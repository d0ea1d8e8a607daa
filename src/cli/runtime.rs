//! The runtime of a command.

use super::error::{CommandError, failed};

/// A runtime for work that waits, on this thread.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| failed(format!("cannot start: {error}")))
}

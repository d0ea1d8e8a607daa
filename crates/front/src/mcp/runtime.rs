//! A runtime for connections, where the program has none that they could use.

use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use super::server_problem::ServerProblem;

/// Longest wait for servers to end when they are no longer needed.
pub(super) const ENDING: Duration = Duration::from_secs(6);

/// Starts a runtime.
pub(super) fn runtime() -> Result<Runtime, ServerProblem> {
    let built = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|error| format!("it cannot be contacted: {error}").into())
}

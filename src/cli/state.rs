//! The place of state: `--state`, or the configured one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::catalog::{CatalogArgs, HELP};
use super::{CommandError, failed, runtime};
use crate::config;
use crate::guard::guarded;
use crate::state::{StateStore, open};

/// The place of state.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct StateArgs {
    /// The place of idempotency keys, approvals, sessions and traces: a file, or postgres://..., in which ${NAME}
    /// stands for the environment variable NAME. Replaces `[state] url` of the configuration; without either, state
    /// is in memory and lost at the end.
    #[arg(long, value_name = "FILE | URL", value_parser = place)]
    state: Option<String>,
}

impl StateArgs {
    /// Opens state with the settings of this configuration.
    pub(super) fn open(
        &self,
        args: &CatalogArgs,
        configured: &config::State,
    ) -> Result<Arc<StateStore>, CommandError> {
        match &self.state {
            Some(at) => self.opened(Some(at), Path::new("")),
            None => self.opened(configured.url.as_deref(), &args.folder()),
        }
    }

    /// Opens existing state; for commands that only read it.
    pub(super) fn open_existing(&self, args: &CatalogArgs) -> Result<Arc<StateStore>, CommandError> {
        let (at, root) = match &self.state {
            Some(at) => (Some(at.clone()), Path::new("").to_path_buf()),
            None => (args.workspace()?.config.state.url, args.folder()),
        };
        let Some(at) = at else {
            let message = match args.is_named() {
                true => "this catalog keeps nothing: name a file with --state FILE, or with `url` below `[state]` in toolcrib.toml".into(),
                false => format!("no state is known: {HELP}, or a file with --state FILE"),
            };
            return Err(CommandError::Usage(message));
        };
        let is_file = !at.contains("://") && !at.contains("${");
        if is_file && !root.join(&at).exists() {
            return Err(CommandError::Usage(format!(
                "no state is stored yet at {}",
                root.join(&at).display()
            )));
        }
        self.opened(Some(&at), &root)
    }

    fn opened(&self, at: Option<&str>, root: &Path) -> Result<Arc<StateStore>, CommandError> {
        #[expect(clippy::disallowed_methods, reason = "this is the command line")]
        let variable = |name: &str| std::env::var(name).ok();
        open(at, root, variable).map_err(|error| failed(format!("state: {error}")))
    }
}

/// Reads a place of state.
fn place(written: &str) -> Result<String, String> {
    match written.trim() {
        "" => Err("a file or postgres://... is wanted; leave --state out to keep nothing".into()),
        place => Ok(place.to_string()),
    }
}

/// Runs a future that waits for state.
pub(super) fn block_on<T>(
    doing: impl Future<Output = Result<T, crate::state::StateError>>,
) -> Result<T, CommandError> {
    runtime()?.block_on(doing).map_err(|error| failed(format!("state: {error}")))
}

/// Deletes expired state every hour.
pub(super) async fn delete_old_state(state: Arc<StateStore>, days: Duration) {
    loop {
        tokio::time::sleep(Duration::from_secs(60 * 60)).await;
        if let Ok(Err(error)) = guarded(state.delete_older(days)).await {
            tracing::warn!(%error, "expired state cannot be deleted now");
        }
    }
}

//! The place of state: `--state`, or the configured one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::catalog::CatalogArgs;
use super::error::CommandError;
use super::io::Io;
use super::runtime::runtime;
use toolcrib_catalog::config::{self, NAME_IT};
use toolcrib_definition::guard::guarded;
use toolcrib_definition::private_file;
use toolcrib_gateway::state::{StateError, StateStore, open};

/// The place of state.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct StateArgs {
    /// The place of idempotency keys, approvals, sessions and traces: a file, or postgres://..., in which ${NAME}
    /// stands for the environment variable NAME.
    ///
    /// Replaces `[state] url` of the configuration; without either, state is in memory and lost at the end.
    #[arg(long, value_name = "FILE | URL", value_parser = place)]
    state: Option<String>,
}

impl StateArgs {
    /// Opens state with the settings of this configuration.
    pub(super) fn open(
        &self,
        io: &Io,
        args: &CatalogArgs,
        configured: &config::State,
    ) -> Result<Arc<StateStore>, CommandError> {
        match &self.state {
            Some(at) => opened(io, Some(at), configured.connections, Path::new("")),
            None => opened(io, configured.url.as_deref(), configured.connections, &args.folder()),
        }
    }

    /// Opens existing state; for commands that only read it.
    pub(super) fn open_existing(&self, io: &Io, args: &CatalogArgs) -> Result<Arc<StateStore>, CommandError> {
        let (at, root) = match &self.state {
            Some(at) => (Some(at.clone()), Path::new("").to_path_buf()),
            None => (args.workspace(io)?.config.state.url, args.folder()),
        };
        let Some(at) = at else {
            let message = if args.is_named() {
                "this catalog keeps nothing: name a file with --state FILE, or with `url` below `[state]` in toolcrib.toml".into()
            } else {
                format!("no state is known: {NAME_IT}, or a file with --state FILE")
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
        // A command that reads asks one thing at a time.
        opened(io, Some(&at), 1, &root)
    }
}

fn opened(
    io: &Io,
    at: Option<&str>,
    connections: usize,
    root: &Path,
) -> Result<Arc<StateStore>, CommandError> {
    let io = io.clone();
    Ok(open(at, connections, root, move |name: &str| io.variable(name))?)
}

/// The state of each server that has run here, for commands that name no catalog.
pub(super) fn noted_states(io: &Io) -> impl Iterator<Item = Arc<StateStore>> {
    let folder = io.state_folder(NOTES).and_then(|folder| std::fs::read_dir(folder).ok());
    let mut files: Vec<PathBuf> = folder.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.into_iter().filter_map(|file| {
        let note: Note = serde_json::from_str(&private_file::read(&file, MAX_NOTE).ok()?).ok()?;
        StateArgs { state: note.state }.open_existing(io, &CatalogArgs::named(note.catalog)).ok()
    })
}

/// A server that has run: the absolute path of its catalog, and its `--state`.
#[derive(Serialize, Deserialize)]
struct Note {
    catalog: PathBuf,
    state: Option<String>,
}

/// The folder of notes where servers keep their state.
const NOTES: &str = "serving";

/// The longest note, in bytes.
const MAX_NOTE: u64 = 64 << 10;

impl StateArgs {
    /// Whether the command line names it.
    pub(super) fn is_named(&self) -> bool {
        self.state.is_some()
    }

    /// Notes where a server keeps its state. An address may have a password in it, and is not written down.
    pub(super) fn note(&self, io: &Io, catalog: &Path) {
        let is_file = self.state.as_ref().is_none_or(|at| !at.contains("://"));
        let (Some(folder), Ok(catalog), true) =
            (io.state_folder(NOTES), std::path::absolute(catalog), is_file)
        else {
            return;
        };
        let state = self.state.as_ref().map(|at| std::path::absolute(at).unwrap_or_else(|_| at.into()));
        let state = state.map(|at| at.to_string_lossy().into_owned());
        let name =
            blake3::hash(format!("{} {state:?}", catalog.display()).as_bytes()).to_hex()[..16].to_string();
        if let Ok(text) = serde_json::to_string(&Note { catalog, state }) {
            // Without the note, the catalog has to be named.
            let _ = private_file::write(&folder.join(name), text.as_bytes());
        }
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
pub(super) fn block_on<T>(doing: impl Future<Output = Result<T, StateError>>) -> Result<T, CommandError> {
    Ok(runtime()?.block_on(doing)?)
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

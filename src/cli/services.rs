//! The services that a catalog's configuration names: models, with their keys from the environment, and the place of state.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::catalog::{CatalogArgs, state_folder};
use super::screen::Spinner;
use super::{CommandError, failed, print_note, runtime};
use toolcrib_catalog::config::{NAME_IT, SearchModel, SearchSemantic};
use toolcrib_catalog::{Catalog, config};
use toolcrib_definition::guard::guarded;
use toolcrib_definition::private_file;
use toolcrib_front::mcp::Connections;
use toolcrib_gateway::exec::backend::Backends;
use toolcrib_gateway::functions::{SemanticSearch, Services};
use toolcrib_gateway::state::{StateStore, open};
use toolcrib_search::model::{ChatEndpoint, ChatModel, EmbeddingModel, EmbeddingsApi, ModelError};
use toolcrib_search::semantic::{Options, Semantic};

/// Seconds that a command waits for the vectors of tools before it searches by words alone.
const EMBEDDING_WAIT: Duration = Duration::from_secs(60);
/// The weight of meaning when hits are ranked; words have the rest of the weight.
const MEANING: f32 = 0.7;

/// Services of a server. It does not wait for vectors, and logs why they are missing.
pub(super) fn for_server(
    args: &CatalogArgs,
    catalog: &Catalog,
    state: Arc<StateStore>,
    connections: Option<Arc<Connections>>,
) -> Services {
    let services = Services { state, ..services(args, catalog, Duration::ZERO, connections) };
    if let SemanticSearch::Broken(reason) = &services.semantic {
        tracing::warn!("semantic search: {reason}");
    }
    services
}

/// Services of a command, which runs once and waits for vectors, and the spinner that shows the wait.
pub(super) fn for_command(args: &CatalogArgs, catalog: &Catalog) -> (Services, Option<Spinner>) {
    let services = services(args, catalog, EMBEDDING_WAIT, args.connections());
    if let SemanticSearch::Broken(reason) = &services.semantic {
        print_note(format!("semantic search: {reason}"));
    }
    let waits = matches!(services.semantic, SemanticSearch::On(_));
    (services, waits.then(|| Spinner::start("waiting for vectors of tools")))
}

/// Services with the models for search.
fn services(
    args: &CatalogArgs,
    catalog: &Catalog,
    patience: Duration,
    connections: Option<Arc<Connections>>,
) -> Services {
    args.note_models();
    let search = &catalog.config.search;
    let semantic = match &search.semantic {
        None => SemanticSearch::Off,
        Some(configured) => match embed(args, configured) {
            Ok(model) => {
                let cache = configured.cache.as_ref().map(|folder| args.beside(folder));
                let timeout = configured.timeout();
                let options = Options { timeout, max_wait: patience, weight: MEANING, cache };
                SemanticSearch::On(Arc::new(Semantic::start(model, options)))
            }
            Err(reason) => SemanticSearch::Broken(reason.to_string()),
        },
    };
    let llm = search.llm.as_ref().map(|configured| chat(args, configured).map_err(|error| error.to_string()));
    let backends = match connections {
        Some(connections) => Backends::over(&args.folder(), connections),
        None => Backends::offline(),
    };
    Services { semantic, llm, backends, ..Services::default() }
}

fn embed(args: &CatalogArgs, configured: &SearchSemantic) -> Result<Arc<dyn EmbeddingModel>, ModelError> {
    let key = key(args, configured.key_env.as_deref())?;
    Ok(Arc::new(EmbeddingsApi::new(&configured.url, &configured.model, key)?))
}

fn chat(
    args: &CatalogArgs,
    configured: &SearchModel,
) -> Result<Arc<dyn ChatModel + Send + Sync>, ModelError> {
    let key = key(args, configured.key_env.as_deref())?;
    Ok(Arc::new(ChatEndpoint::for_search(configured, key)?))
}

/// The model for repairs, or the reason why it cannot be asked; `None` if no model is configured.
pub(super) fn repair(args: &CatalogArgs, catalog: &Catalog) -> Option<Result<ChatEndpoint, ModelError>> {
    args.note_models();
    let configured = catalog.config.repair.as_ref()?;
    let key = key(args, configured.api_key_env.as_deref());
    Some(key.and_then(|key| ChatEndpoint::new(configured, key)))
}

/// The API key in a variable, unless models may not be contacted.
fn key(args: &CatalogArgs, variable: Option<&str>) -> Result<Option<String>, ModelError> {
    if args.offline {
        return Err(ModelError::Configuration("with --offline, no model is asked".into()));
    }
    let Some(name) = variable else { return Ok(None) };
    #[expect(clippy::disallowed_methods, reason = "this is the command line")]
    let key = std::env::var(name);
    let missing = |_| ModelError::Configuration(format!("the environment variable {name} is not set"));
    key.map(Some).map_err(missing)
}

// The place of state: `--state`, or the configured one.

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
                false => format!("no state is known: {NAME_IT}, or a file with --state FILE"),
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

/// The folder of notes where servers keep their state.
fn notes() -> Option<PathBuf> {
    state_folder().map(|folder| folder.join("serving"))
}

/// The state of each server that has run here, for commands that name no catalog.
pub(super) fn noted_states() -> impl Iterator<Item = Arc<StateStore>> {
    let entries = notes().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files.into_iter().filter_map(|file| {
        let note: Note = serde_json::from_str(&private_file::read(&file, MAX_NOTE).ok()?).ok()?;
        StateArgs { state: note.state }.open_existing(&CatalogArgs::named(note.catalog)).ok()
    })
}

/// A server that has run: the absolute path of its catalog, and its `--state`.
#[derive(Serialize, Deserialize)]
struct Note {
    catalog: PathBuf,
    state: Option<String>,
}

/// The longest note, in bytes.
const MAX_NOTE: u64 = 64 << 10;

impl StateArgs {
    /// Whether the command line names it.
    pub(super) fn is_named(&self) -> bool {
        self.state.is_some()
    }

    /// Notes where a server keeps its state. An address may have a password in it, and is not written down.
    pub(super) fn note(&self, catalog: &Path) {
        let is_file = self.state.as_ref().is_none_or(|at| !at.contains("://"));
        let (Some(folder), Ok(catalog), true) = (notes(), std::path::absolute(catalog), is_file) else {
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
pub(super) fn block_on<T>(
    doing: impl Future<Output = Result<T, toolcrib_gateway::state::StateError>>,
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

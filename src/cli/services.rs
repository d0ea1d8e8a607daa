//! The services that a catalog's configuration names: models, with their keys from the environment.

use std::sync::Arc;
use std::time::Duration;

use super::catalog::CatalogArgs;
use super::io::Io;
use super::progress::Spinner;
use toolcrib_catalog::Catalog;
use toolcrib_catalog::config::{SearchModel, SearchSemantic};
use toolcrib_front::mcp::Connections;
use toolcrib_gateway::exec::backend::Backends;
use toolcrib_gateway::functions::{SemanticSearch, Services};
use toolcrib_gateway::state::StateStore;
use toolcrib_search::model::{ChatEndpoint, ChatModel, EmbeddingModel, EmbeddingsApi, ModelError};
use toolcrib_search::semantic::{Options, Semantic};

/// Seconds that a command waits for the vectors of tools before it searches by words alone.
const EMBEDDING_WAIT: Duration = Duration::from_secs(60);
/// The weight of meaning when hits are ranked; words have the rest of the weight.
const MEANING: f32 = 0.7;

/// Services of a server. It does not wait for vectors, and logs why they are missing.
pub(super) fn for_server(
    io: &Io,
    args: &CatalogArgs,
    catalog: &Catalog,
    state: Arc<StateStore>,
    connections: Option<Arc<Connections>>,
) -> Services {
    let services = Services { state, ..services(io, args, catalog, Duration::ZERO, connections) };
    if let SemanticSearch::Broken(reason) = &services.semantic {
        tracing::warn!("semantic search: {reason}");
    }
    services
}

/// Services of a command, which runs once and waits for vectors, and the spinner that shows the wait.
pub(super) fn for_command(io: &Io, args: &CatalogArgs, catalog: &Catalog) -> (Services, Option<Spinner>) {
    let services = services(io, args, catalog, EMBEDDING_WAIT, args.connections(io));
    if let SemanticSearch::Broken(reason) = &services.semantic {
        io.note(format!("semantic search: {reason}"));
    }
    let waits = matches!(services.semantic, SemanticSearch::On(_));
    (services, waits.then(|| Spinner::start(io, "waiting for vectors of tools")))
}

/// Services with the models for search.
fn services(
    io: &Io,
    args: &CatalogArgs,
    catalog: &Catalog,
    patience: Duration,
    connections: Option<Arc<Connections>>,
) -> Services {
    args.note_models(io);
    let search = &catalog.config.search;
    let semantic = match &search.semantic {
        None => SemanticSearch::Off,
        Some(configured) => match embed(io, args, configured) {
            Ok(model) => {
                let cache = configured.cache.as_ref().map(|folder| args.beside(folder));
                let timeout = configured.timeout();
                let options = Options { timeout, max_wait: patience, weight: MEANING, cache };
                SemanticSearch::On(Arc::new(Semantic::start(model, options)))
            }
            Err(reason) => SemanticSearch::Broken(reason.to_string()),
        },
    };
    let llm =
        search.llm.as_ref().map(|configured| chat(io, args, configured).map_err(|error| error.to_string()));
    let backends = match connections {
        Some(connections) => Backends::over(&args.folder(), connections),
        None => Backends::offline(),
    };
    Services { semantic, llm, backends, ..Services::default() }
}

fn embed(
    io: &Io,
    args: &CatalogArgs,
    configured: &SearchSemantic,
) -> Result<Arc<dyn EmbeddingModel>, ModelError> {
    let key = key(io, args, configured.key_env.as_deref())?;
    Ok(Arc::new(EmbeddingsApi::new(&configured.url, &configured.model, key)?))
}

fn chat(
    io: &Io,
    args: &CatalogArgs,
    configured: &SearchModel,
) -> Result<Arc<dyn ChatModel + Send + Sync>, ModelError> {
    let key = key(io, args, configured.key_env.as_deref())?;
    Ok(Arc::new(ChatEndpoint::for_search(configured, key)?))
}

/// The model for repairs, or the reason why it cannot be asked; `None` if no model is configured.
pub(super) fn repair(
    io: &Io,
    args: &CatalogArgs,
    catalog: &Catalog,
) -> Option<Result<ChatEndpoint, ModelError>> {
    args.note_models(io);
    let configured = catalog.config.repair.as_ref()?;
    let key = key(io, args, configured.api_key_env.as_deref());
    Some(key.and_then(|key| ChatEndpoint::new(configured, key)))
}

/// The API key in a variable, unless models may not be contacted.
fn key(io: &Io, args: &CatalogArgs, variable: Option<&str>) -> Result<Option<String>, ModelError> {
    if args.offline {
        return Err(ModelError::Configuration("with --offline, no model is asked".into()));
    }
    let Some(name) = variable else { return Ok(None) };
    let missing = || ModelError::Configuration(format!("the environment variable {name} is not set"));
    io.variable(name).map(Some).ok_or_else(missing)
}

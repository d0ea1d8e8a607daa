//! The models that a catalog's configuration names, with their keys from the environment.

use std::sync::Arc;
use std::time::Duration;

use super::catalog::CatalogArgs;
use super::print_note;
use super::screen::Spinner;
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

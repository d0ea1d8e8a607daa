//! What a call of a function has at hand; it is also the context of the calls of tools.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::Value;

use super::{CatalogView, Counters, Function};
use crate::catalog::Catalog;
use crate::exec::backend::{BackendError, Backends};
use crate::exec::{CallContext, Caller, Doc, FunctionFuture};
use crate::model::ChatModel;
use crate::search::semantic;
use crate::search::semantic::Semantic;
use crate::state::{StateStore, random_id};

/// The context of a function call.
#[derive(Clone, Debug)]
pub struct FunctionContext {
    /// The catalog view of the caller.
    pub view: Arc<CatalogView>,
    /// The services that all calls share.
    pub services: Arc<Services>,
    /// The caller.
    pub caller: Arc<Caller>,
    /// Trace id of the request.
    pub trace: Trace,
}

/// Services that outlive catalogs and are shared by all calls.
pub struct Services {
    /// Search by meaning.
    pub semantic: SemanticSearch,
    /// The model behind the scorer `llm` of `pick`, or the reason why it cannot be asked.
    pub llm: Option<Result<Arc<dyn ChatModel + Send + Sync>, String>>,
    /// The store of state.
    pub state: Arc<StateStore>,
    /// The backends of tools.
    pub backends: Backends,
    /// Counters of functions and tools.
    pub counts: Counters,
}

/// Search by meaning, where it is configured.
#[derive(Debug, Default)]
pub enum SemanticSearch {
    /// It is not.
    #[default]
    Off,
    /// Configured, and not working; with the reason, for the operator.
    Broken(String),
    /// Configured, and working.
    On(Arc<Semantic>),
}

impl FunctionContext {
    /// Whether a tool may be missing because its source could not be read. Callers from whom tools are hidden are not told: the
    /// unread source may be one of which they must not know.
    pub(super) fn lacks_sources(&self) -> bool {
        self.caller.sees_everything() && !self.view.catalog().complete
    }

    /// A call that sees this catalog view, with no services.
    pub fn of(view: Arc<CatalogView>) -> Self {
        Self { view, services: Arc::default(), caller: Arc::default(), trace: Trace::default() }
    }
}

impl Default for Services {
    fn default() -> Self {
        let state = Arc::new(StateStore::in_memory());
        let (backends, counts) = Default::default();
        let semantic = SemanticSearch::Off;
        Self { semantic, llm: None, state, backends, counts }
    }
}

impl Services {
    /// Starts preparing the vectors for searches in this catalog view.
    pub fn prepare(&self, view: &CatalogView) {
        if let SemanticSearch::On(semantic) = &self.semantic {
            semantic.prepare(view.vector_slot());
        }
    }
}

impl SemanticSearch {
    /// Status of the model for searches, with the reason if it does not work, for the operator.
    pub fn status(&self) -> semantic::SemanticStatus {
        match self {
            SemanticSearch::Off => semantic::SemanticStatus::Off,
            SemanticSearch::Broken(reason) => semantic::SemanticStatus::Unavailable(reason.clone()),
            SemanticSearch::On(semantic) => semantic.status(),
        }
    }
}

impl std::fmt::Debug for Services {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let has_llm = self.llm.is_some();
        to.debug_struct("Services")
            .field("semantic", &self.semantic)
            .field("llm", &has_llm)
            .field("state", &self.state)
            .finish()
    }
}

impl CallContext for FunctionContext {
    fn catalog(&self) -> &Catalog {
        self.view.catalog()
    }

    fn is_forbidden(&self, index: usize) -> bool {
        self.view.is_forbidden(index)
    }

    fn doc(&self, index: usize) -> Option<Doc> {
        let page = self.view.page(index)?.as_ref().ok()?;
        Some(Doc { version: page.version.clone(), receipt: page.receipt.clone() })
    }

    fn profile(&self) -> Option<&str> {
        self.view.profile_name()
    }

    fn caller(&self) -> &Caller {
        &self.caller
    }

    fn state(&self) -> &StateStore {
        &self.services.state
    }

    fn trace_id(&self) -> &str {
        self.trace.id()
    }

    fn count(&self, outcome: &str, took: Duration) {
        let counts = &self.services.counts;
        counts.add("toolcrib_executions_total", &format!("outcome=\"{outcome}\""), 1);
        counts.took("toolcrib_execution_duration_seconds", "", took);
    }

    fn backends(&self) -> &Backends {
        &self.services.backends
    }

    fn has_context_shifts(&self) -> bool {
        self.view.has_context_shifts()
    }

    fn function<'h>(&'h self, name: &'h str, input: Value) -> FunctionFuture<'h> {
        Box::pin(as_tool(self, name, input))
    }
}

async fn as_tool(context: &FunctionContext, name: &str, input: Value) -> Result<Value, BackendError> {
    // A function that runs tools could call itself without an end.
    let function = Function::named(name).filter(|function| !function.runs_tools());
    let Some(function) = function else {
        return Err(BackendError::unconfigured(
            "this tool is to be run by a function that there is not, or that runs tools itself",
        ));
    };
    let answer = function.call(context, input).await;
    answer.into_result().map(Value::Object).map_err(BackendError::of_function)
}

/// Trace id of one request, made at its first use.
#[derive(Clone, Debug, Default)]
pub struct Trace(Arc<OnceLock<String>>);

impl Trace {
    /// The id.
    pub fn id(&self) -> &str {
        self.0.get_or_init(|| random_id("tr"))
    }
}

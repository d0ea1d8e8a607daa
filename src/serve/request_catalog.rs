//! The catalog of one request: one generation, loaded when the request comes in. The code that answers the request gets
//! the catalog only from here, so that no reload comes between two steps.

use std::sync::Arc;

use super::live::{Generation, LiveCatalog, StaleCatalog};
use super::response::response_cache::ResponseCache;
use crate::exec::Caller;
use crate::functions::{CatalogView, FunctionContext, Services, Trace};

/// The catalog of one request.
#[derive(Clone, Debug)]
pub struct RequestCatalog {
    live: Arc<LiveCatalog>,
    generation: Arc<Generation>,
}

impl LiveCatalog {
    /// The current generation, for one request.
    pub fn for_request(self: &Arc<Self>) -> RequestCatalog {
        RequestCatalog { live: Arc::clone(self), generation: self.current() }
    }
}

impl RequestCatalog {
    /// The generation.
    pub fn generation(&self) -> &Generation {
        &self.generation
    }

    /// The catalog view of this caller.
    pub fn view(&self, caller: &Caller) -> &Arc<CatalogView> {
        self.generation.view(caller)
    }

    /// The HTTP cache of this caller.
    pub(super) fn cache(&self, caller: &Caller) -> &Arc<ResponseCache> {
        self.generation.cache(caller)
    }

    /// The context of a call by this caller.
    pub fn context(&self, caller: &Caller) -> FunctionContext {
        let view = Arc::clone(self.view(caller));
        let (services, caller) = (Arc::clone(self.services()), Arc::new(caller.clone()));
        FunctionContext { view, services, caller, trace: Trace::default() }
    }

    /// The services that all calls share.
    pub fn services(&self) -> &Arc<Services> {
        self.live.services()
    }

    /// The findings that keep the catalog on disk from being served, if any do.
    pub fn stale(&self) -> Option<Arc<StaleCatalog>> {
        self.live.stale()
    }

    /// Number of rebuilt catalogs by outcome.
    pub fn reloads(&self) -> [(&'static str, u64); 3] {
        self.live.reloads()
    }

    /// The notice at the top of pages while the catalog on disk is not served, for callers who see everything.
    pub fn notice(&self) -> Option<String> {
        let count = self.stale()?.findings.len();
        let errors = if count == 1 { "1 error".into() } else { format!("{count} errors") };
        let shown = match self.generation.complete {
            true => "this is the last valid one",
            false => "this is the part that could be read",
        };
        Some(format!("The catalog has {errors}; {shown}. `toolcrib check` says more."))
    }
}

//! What one request sees of the running catalog: one generation, loaded when the request comes in. Nothing that answers it
//! has another way to the catalog, so that no reload falls between two steps.

use std::sync::Arc;

use super::http::ResponseCache;
use super::live::{Generation, LiveCatalog, StaleCatalog};
use crate::exec::Caller;
use crate::functions::{CatalogView, FunctionContext, Services, Trace};

/// The running catalog as one request sees it.
#[derive(Clone, Debug)]
pub struct Seen {
    live: Arc<LiveCatalog>,
    generation: Arc<Generation>,
}

impl LiveCatalog {
    /// The catalog as it is now, for a request, which asks no more than once.
    pub fn seen(self: &Arc<Self>) -> Seen {
        Seen { live: Arc::clone(self), generation: self.current() }
    }
}

impl Seen {
    /// The generation.
    pub fn generation(&self) -> &Generation {
        &self.generation
    }

    /// What this caller may see.
    pub fn view(&self, caller: &Caller) -> &Arc<CatalogView> {
        self.generation.view(caller)
    }

    /// What the doors keep for this caller.
    pub(super) fn cache(&self, caller: &Caller) -> &Arc<ResponseCache> {
        self.generation.cache(caller)
    }

    /// What a call by this caller has at hand.
    pub fn context(&self, caller: &Caller) -> FunctionContext {
        let view = Arc::clone(self.view(caller));
        let (services, caller) = (Arc::clone(self.services()), Arc::new(caller.clone()));
        FunctionContext { view, services, caller, trace: Trace::default() }
    }

    /// What all calls share.
    pub fn services(&self) -> &Arc<Services> {
        self.live.services()
    }

    /// What is wrong with the catalog on disk, if it is not the one that is served.
    pub fn stale(&self) -> Option<Arc<StaleCatalog>> {
        self.live.stale()
    }

    /// How often a catalog that was built anew was taken, and how often it was not.
    pub fn reloads(&self) -> [(&'static str, u64); 3] {
        self.live.reloads()
    }

    /// What pages say at their top while the catalog on disk is not the one that is served, to those who see everything.
    pub fn notice(&self) -> Option<String> {
        let count = self.stale()?.findings.len();
        let errors = if count == 1 { "1 error".into() } else { format!("{count} errors") };
        let shown = match self.generation.complete {
            true => "this is the last good one",
            false => "this is what could be read of it",
        };
        Some(format!("The catalog has {errors}; {shown}. `toolcrib check` says more."))
    }
}

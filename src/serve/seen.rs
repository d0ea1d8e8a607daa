//! What one request sees of the running catalog: one generation, loaded when the request comes in. Nothing that answers it
//! has another way to the catalog, so that no reload falls between two steps.

use std::sync::Arc;

use super::http::Shelf;
use super::live::{Generation, Live, Trouble};
use crate::exec::Caller;
use crate::functions::{Context, Edition, Services, Trace};

/// The running catalog as one request sees it.
#[derive(Clone, Debug)]
pub struct Seen {
    live: Arc<Live>,
    generation: Arc<Generation>,
}

impl Seen {
    /// The catalog as it is now.
    pub(super) fn of(live: &Arc<Live>) -> Self {
        Self { live: Arc::clone(live), generation: live.now() }
    }

    /// The generation.
    pub fn generation(&self) -> &Generation {
        &self.generation
    }

    /// What this caller may see.
    pub fn edition(&self, caller: &Caller) -> &Arc<Edition> {
        self.generation.edition(caller)
    }

    /// What the doors keep for this caller.
    pub(super) fn shelf(&self, caller: &Caller) -> &Arc<Shelf> {
        self.generation.shelf(caller)
    }

    /// What a call by this caller has at hand.
    pub fn context(&self, caller: &Caller) -> Context {
        let edition = Arc::clone(self.edition(caller));
        let (services, caller) = (Arc::clone(self.services()), Arc::new(caller.clone()));
        Context { edition, services, caller, trace: Trace::default() }
    }

    /// What all calls share.
    pub fn services(&self) -> &Arc<Services> {
        self.live.services()
    }

    /// What is wrong with the catalog on disk, if it is not the one that is served.
    pub fn trouble(&self) -> Option<Arc<Trouble>> {
        self.live.trouble()
    }

    /// How often a catalog that was built anew was taken, and how often it was not.
    pub fn reloads(&self) -> [(&'static str, u64); 3] {
        self.live.reloads()
    }

    /// What pages say at their top while the catalog on disk is not the one that is served, to those who see everything.
    pub fn notice(&self) -> Option<String> {
        let count = self.trouble()?.findings.len();
        let errors = if count == 1 { "1 error".into() } else { format!("{count} errors") };
        let shown = match self.generation.complete {
            true => "this is the last good one",
            false => "this is what could be read of it",
        };
        Some(format!("The catalog has {errors}; {shown}. `toolcrib check` says more."))
    }
}

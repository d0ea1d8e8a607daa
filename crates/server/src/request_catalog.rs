//! The catalog of one request, as its caller sees it: one snapshot, loaded when the request comes in, one profile, and the
//! caller's view. The code that answers the request gets the catalog only from here, so that no reload comes between two steps.

use std::sync::Arc;

use tokio::sync::watch;

use crate::LiveCatalog;
use crate::served_view::ServedView;
use crate::site::{Person, Site};
use crate::snapshot::Snapshot;
use toolcrib_front::address::AddressState;
use toolcrib_gateway::exec::Caller;
use toolcrib_gateway::functions::{CatalogView, FunctionContext, Services, Trace};

/// The catalog of one request, as its caller sees it.
#[derive(Clone, Debug)]
pub struct RequestCatalog {
    /// The running catalog.
    pub live: Arc<LiveCatalog>,
    /// The caller, whose roles and profiles stay the same.
    pub caller: Caller,
    /// What the caller sees.
    pub(super) served: Arc<ServedView>,
    /// The snapshot of the catalog, from the start of the request to its end.
    pub(super) snapshot: Arc<Snapshot>,
    /// Position of the profile in the snapshot.
    profile: usize,
    /// The path below which the profile is served, such as `/p/creator`; empty at the root of the server.
    root: Arc<str>,
}

impl LiveCatalog {
    /// The current snapshot, for one request of this caller.
    pub fn for_caller(self: &Arc<Self>, caller: Caller) -> RequestCatalog {
        let snapshot = self.current();
        let served = Arc::clone(snapshot.profile(0).of(&caller));
        RequestCatalog { live: Arc::clone(self), caller, served, snapshot, profile: 0, root: Arc::from("") }
    }
}

impl RequestCatalog {
    /// The same snapshot with another profile, if it can be chosen.
    pub(super) fn in_profile(&self, name: Option<&str>) -> Option<Self> {
        let profile = self.snapshot.position(name)?;
        let served = Arc::clone(self.snapshot.profile(profile).of(&self.caller));
        Some(Self { profile, served, ..self.clone() })
    }

    /// The same catalog below a path.
    pub(super) fn below(self, root: Arc<str>) -> Self {
        Self { root, ..self }
    }

    /// The catalog of the session that this request belongs to.
    pub(super) fn for_session(&self) -> SessionCatalog {
        let profile = self.profile_name().map(str::to_owned);
        SessionCatalog { live: Arc::clone(&self.live), profile, root: Arc::clone(&self.root) }
    }

    /// The name of the profile; `None` for the whole catalog.
    pub fn profile_name(&self) -> Option<&str> {
        self.snapshot.profile(self.profile).name.as_deref()
    }

    /// The path before all addresses of this profile; empty at the root of the server.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// The catalog view of the caller.
    pub fn view(&self) -> &Arc<CatalogView> {
        &self.served.view
    }

    /// The catalog view with every tool of the profile.
    pub(super) fn unrestricted_view(&self) -> &Arc<CatalogView> {
        &self.snapshot.profile(self.profile).whole.view
    }

    /// The catalog view of all tools, unless one profile alone is served.
    pub(super) fn whole_catalog(&self) -> Option<&Arc<CatalogView>> {
        let usual = self.snapshot.profile(0);
        usual.name.is_none().then(|| &usual.whole.view)
    }

    /// The context of a call by the caller.
    pub fn context(&self) -> FunctionContext {
        let view = Arc::clone(self.view());
        let services = Arc::clone(self.services());
        let caller = Arc::new(self.caller.clone());
        FunctionContext { view, services, caller, trace: Trace::default() }
    }

    /// The services that all calls share.
    pub fn services(&self) -> &Arc<Services> {
        self.live.services()
    }

    /// The addresses of its registries, each with the version of it that is served, and the reason why the last request failed.
    pub fn addresses(&self) -> impl Iterator<Item = (AddressState, Option<&str>)> {
        let served = &self.snapshot.registries;
        let states = self.live.addresses.states().into_iter();
        states.map(|state| {
            let version = served.get(&state.address).map(String::as_str);
            (state, version)
        })
    }

    /// The pages of the caller.
    pub(super) fn site<'s>(&'s self, person: Option<Person<'s>>) -> Site<'s> {
        Site { person, is_operator: self.caller.sees_everything(), ..self.served.site() }
    }

    /// Whether the catalog on disk, and each registry at an address, is the one that is served.
    pub fn is_current(&self) -> bool {
        self.live.stale().is_none() && self.addresses().all(|(state, _)| state.problem.is_none())
    }

    /// The notice at the top of pages while the catalog on disk is not served, for callers who see everything.
    pub fn notice(&self) -> Option<String> {
        if !self.caller.sees_everything() {
            return None;
        }
        let count = self.live.stale()?.len();
        let errors = if count == 1 { "1 error".into() } else { format!("{count} errors") };
        let shown = if self.snapshot.complete {
            "this is the last valid one"
        } else {
            "this is the part that could be read"
        };
        Some(format!("The catalog has {errors}; {shown}. `toolcrib check` says more."))
    }
}

/// The catalog of a session, which lives longer than a snapshot, and so holds none.
#[derive(Clone, Debug)]
pub(super) struct SessionCatalog {
    live: Arc<LiveCatalog>,
    profile: Option<String>,
    root: Arc<str>,
}

impl SessionCatalog {
    /// The current snapshot with the profile of the session, if it still has that.
    pub(super) fn now(&self, caller: Caller) -> Option<RequestCatalog> {
        let catalog = self.live.for_caller(caller).in_profile(self.profile.as_deref())?;
        Some(catalog.below(Arc::clone(&self.root)))
    }

    /// The signal of each new snapshot.
    pub(super) fn subscribe(&self) -> watch::Receiver<()> {
        self.live.subscribe()
    }
}

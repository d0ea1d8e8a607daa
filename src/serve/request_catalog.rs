//! The catalog of one request: one generation, loaded when the request comes in, and one profile. The code that
//! answers the request gets the catalog only from here, so that no reload comes between two steps.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::watch;

use super::listed_tools::Listings;
use super::live::{Generation, LiveCatalog};
use super::response::ResponseCache;
use crate::catalog::{Catalog, Findings, UnknownProfile};
use crate::exec::Caller;
use crate::functions::{CatalogView, FunctionContext, Services, Trace};
use crate::render::Templates;
use crate::sources::AddressState;

/// The catalog of one request.
#[derive(Clone, Debug)]
pub struct RequestCatalog {
    /// The running catalog.
    pub live: Arc<LiveCatalog>,
    generation: Arc<Generation>,
    /// Position of the profile in the generation.
    profile: usize,
    /// The path below which this profile is served, such as `/p/creator`, where the request came there.
    root: Option<Arc<str>>,
    /// Whether a header of the request chose the profile.
    chosen_by_header: bool,
}

impl LiveCatalog {
    /// The current generation, for one request.
    pub fn for_request(self: &Arc<Self>) -> RequestCatalog {
        let (live, generation) = (Arc::clone(self), self.current());
        RequestCatalog { live, generation, profile: 0, root: None, chosen_by_header: false }
    }
}

impl RequestCatalog {
    /// The generation.
    pub fn generation(&self) -> &Generation {
        &self.generation
    }

    /// The same generation with another profile, if it can be chosen.
    pub(super) fn in_profile(self, name: Option<&str>) -> Option<Self> {
        Some(Self { profile: self.generation.position(name)?, ..self })
    }

    /// The same catalog, below this path, for a request with or without a header that chooses the profile.
    pub(super) fn below(self, root: Option<Arc<str>>, chosen_by_header: bool) -> Self {
        Self { root, chosen_by_header, ..self }
    }

    /// The catalog of the session that this request belongs to.
    pub(super) fn for_session(&self) -> SessionCatalog {
        let (live, profile) = (Arc::clone(&self.live), self.profile_name().map(str::to_owned));
        SessionCatalog { live, profile, root: self.root.clone(), chosen_by_header: self.chosen_by_header }
    }

    /// The name of the profile; `None` for the whole catalog.
    pub fn profile_name(&self) -> Option<&str> {
        self.generation.profile(self.profile).name.as_deref()
    }

    /// The path before all addresses of this profile; empty at the root of the server.
    pub fn root(&self) -> &str {
        self.root.as_deref().unwrap_or_default()
    }

    /// Whether another caller without a token gets the same answer at the same address.
    pub(super) fn is_shared(&self) -> bool {
        !self.chosen_by_header
    }

    /// The catalog view of this caller.
    pub fn view(&self, caller: &Caller) -> &Arc<CatalogView> {
        self.cache(caller).view()
    }

    /// The catalog view with every tool of the profile.
    pub(super) fn unrestricted_view(&self) -> &Arc<CatalogView> {
        self.generation.profile(self.profile).whole().view()
    }

    /// The catalog view of all tools, unless one profile alone is served.
    pub(super) fn whole_catalog(&self) -> Option<&Arc<CatalogView>> {
        let usual = self.generation.profile(0);
        usual.name.is_none().then(|| usual.whole().view())
    }

    /// The HTTP cache of this caller.
    pub(super) fn cache(&self, caller: &Caller) -> &Arc<ResponseCache> {
        self.generation.profile(self.profile).cache(caller)
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

    /// The addresses of its registries, each with the version of it that is served, and the reason why the last request failed.
    pub fn addresses(&self) -> impl Iterator<Item = (AddressState, Option<&str>)> {
        let served = &self.generation.registries;
        let states = self.live.addresses().states().into_iter();
        states.map(|state| {
            let version = served.get(&state.address).map(String::as_str);
            (state, version)
        })
    }

    /// The notice at the top of pages while the catalog on disk is not served, for callers who see everything.
    pub fn notice(&self) -> Option<String> {
        let count = self.live.stale()?.len();
        let errors = if count == 1 { "1 error".into() } else { format!("{count} errors") };
        let shown = match self.generation.complete {
            true => "this is the last valid one",
            false => "this is the part that could be read",
        };
        Some(format!("The catalog has {errors}; {shown}. `toolcrib check` says more."))
    }
}

/// The catalog of a session, which lives longer than a generation, and so holds none.
#[derive(Clone, Debug)]
pub(super) struct SessionCatalog {
    live: Arc<LiveCatalog>,
    profile: Option<String>,
    root: Option<Arc<str>>,
    chosen_by_header: bool,
}

impl SessionCatalog {
    /// The current generation with the profile of the session, if it still has that.
    pub(super) fn now(&self) -> Option<RequestCatalog> {
        let now = self.live.for_request().in_profile(self.profile.as_deref())?;
        Some(now.below(self.root.clone(), self.chosen_by_header))
    }

    /// The signal of each new generation.
    pub(super) fn subscribe(&self) -> watch::Receiver<()> {
        self.live.subscribe()
    }
}

// The caches of one profile, by the roles of callers. Every combination that some caller can reach is made with its
// generation, so that their number depends on the configuration alone.

/// The caches of one profile.
#[derive(Debug)]
pub(super) struct ProfileCaches {
    /// The profile; `None` for the whole catalog.
    pub(super) name: Option<String>,
    whole: Arc<ResponseCache>,
    /// The cache for callers without any role.
    open: Arc<ResponseCache>,
    by_roles: BTreeMap<Vec<String>, Arc<ResponseCache>>,
}

impl ProfileCaches {
    /// The cache of a caller.
    pub(super) fn cache(&self, caller: &Caller) -> &Arc<ResponseCache> {
        match &caller.roles {
            Some(roles) if !caller.sees_everything() => self.by_roles.get(roles).unwrap_or(&self.open),
            _ => &self.whole,
        }
    }

    /// The cache of a caller who sees everything.
    pub(super) fn whole(&self) -> &Arc<ResponseCache> {
        &self.whole
    }

    /// The caches without findings.
    pub(super) fn without_findings(&self) -> impl Iterator<Item = &Arc<ResponseCache>> {
        std::iter::once(&self.open).chain(self.by_roles.values())
    }

    /// All catalog views.
    pub(super) fn views(&self) -> impl Iterator<Item = &Arc<CatalogView>> {
        std::iter::once(&self.whole).chain(self.without_findings()).map(|cache| cache.view())
    }
}

/// Makes the caches of one generation, and shares those of equal catalog views.
pub(super) struct CacheBuilder<'g> {
    pub(super) catalog: &'g Catalog,
    pub(super) findings: &'g Findings,
    pub(super) templates: &'g Arc<Templates>,
    pub(super) listings: &'g Listings,
    /// Catalog views that hold for this generation.
    pub(super) views: Vec<Arc<CatalogView>>,
    /// Caches without findings that hold for this generation.
    pub(super) caches: Vec<Arc<ResponseCache>>,
}

impl CacheBuilder<'_> {
    /// The caches of a profile for these callers.
    pub(super) fn profile<'c>(
        &mut self,
        name: Option<&str>,
        callers: impl Iterator<Item = &'c Caller>,
    ) -> Result<ProfileCaches, UnknownProfile> {
        // Callers with the same view share its cache, but only a caller who sees everything gets the findings.
        let whole =
            ResponseCache::new(self.view(name, None)?, self.findings.clone(), self.listings.policy(name));
        let open = self.cache(name, &[])?;
        let mut by_roles = BTreeMap::new();
        for caller in callers.filter(|caller| caller.may_use(name) && !caller.sees_everything()) {
            let roles = caller.roles.clone().unwrap_or_default();
            by_roles.insert(roles.clone(), self.cache(name, &roles)?);
        }
        Ok(ProfileCaches { name: name.map(str::to_string), whole: Arc::new(whole), open, by_roles })
    }

    fn view(
        &mut self,
        profile: Option<&str>,
        roles: Option<&[String]>,
    ) -> Result<Arc<CatalogView>, UnknownProfile> {
        let made = CatalogView::new(self.catalog, profile, roles, Arc::clone(self.templates))?;
        if let Some(known) = self.views.iter().find(|known| known.is_like(&made)) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(made);
        self.views.push(Arc::clone(&made));
        Ok(made)
    }

    fn cache(
        &mut self,
        profile: Option<&str>,
        roles: &[String],
    ) -> Result<Arc<ResponseCache>, UnknownProfile> {
        let view = self.view(profile, Some(roles))?;
        if let Some(known) = self.caches.iter().find(|known| Arc::ptr_eq(known.view(), &view)) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(ResponseCache::new(view, Findings::default(), self.listings.policy(profile)));
        self.caches.push(Arc::clone(&made));
        Ok(made)
    }
}

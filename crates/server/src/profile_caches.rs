//! The caches of one profile, by the roles of callers. Every combination that some caller can reach is made with its
//! snapshot, so that their number depends on the configuration alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::listing::Listings;
use crate::response_cache::ResponseCache;
use toolcrib_catalog::{Catalog, Findings, UnknownProfile};
use toolcrib_gateway::exec::Caller;
use toolcrib_gateway::functions::CatalogView;
use toolcrib_render::Templates;

/// The caches of one profile.
#[derive(Debug)]
pub(super) struct ProfileCaches {
    /// The profile; `None` for the whole catalog.
    pub(super) name: Option<String>,
    /// The cache for callers who see everything.
    pub(super) whole: Arc<ResponseCache>,
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

    /// All caches.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<ResponseCache>> {
        [&self.whole, &self.open].into_iter().chain(self.by_roles.values())
    }
}

/// Makes the caches of one snapshot.
pub(super) struct CacheBuilder<'g> {
    pub(super) catalog: &'g Catalog,
    pub(super) findings: &'g Findings,
    pub(super) templates: &'g Arc<Templates>,
    pub(super) listings: &'g Listings,
    /// Caches with the configuration of this snapshot, to be shared by equal catalog views.
    pub(super) known: Vec<Arc<ResponseCache>>,
}

impl CacheBuilder<'_> {
    /// The caches of a profile for these callers.
    pub(super) fn profile(
        &mut self,
        name: Option<&str>,
        callers: &[Caller],
    ) -> Result<ProfileCaches, UnknownProfile> {
        let mut by_roles = BTreeMap::new();
        for caller in callers.iter().filter(|caller| caller.may_use(name) && !caller.sees_everything()) {
            let roles = caller.roles.clone().unwrap_or_default();
            let cache = self.cache(name, Some(&roles))?;
            by_roles.insert(roles, cache);
        }
        let whole = self.cache(name, None)?;
        let open = self.cache(name, Some(&[]))?;
        Ok(ProfileCaches { name: name.map(str::to_string), whole, open, by_roles })
    }

    /// The cache of callers with these roles; `None` for those who see everything, who alone get the findings. All others with
    /// equal catalog views share a cache.
    fn cache(
        &mut self,
        profile: Option<&str>,
        roles: Option<&[String]>,
    ) -> Result<Arc<ResponseCache>, UnknownProfile> {
        let view = CatalogView::new(self.catalog, profile, roles, Arc::clone(self.templates))?;
        let alike: Vec<_> = self.known.iter().filter(|known| known.view.is_like(&view)).collect();
        if let Some(shared) = alike.iter().find(|known| roles.is_some() && known.findings.is_none()) {
            return Ok(Arc::clone(shared));
        }
        let view = alike.first().map_or_else(|| Arc::new(view), |known| Arc::clone(&known.view));
        let findings = roles.is_none().then(|| self.findings.clone());
        let made = Arc::new(ResponseCache::new(view, findings, self.listings.policy(profile)));
        self.known.push(Arc::clone(&made));
        Ok(made)
    }
}

//! The caches of one profile, by the roles of callers. Every combination that some caller can reach is made with its
//! generation, so that their number depends on the configuration alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::listed_tools::Listings;
use super::response::response_cache::ResponseCache;
use crate::catalog::{Catalog, Findings, UnknownProfile};
use crate::exec::Caller;
use crate::functions::CatalogView;
use crate::render::Templates;

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

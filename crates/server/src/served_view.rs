//! What callers with the same roles see of a profile: the catalog view, and what the server derives from it at the first
//! request. Every combination of roles that some caller can have gets its view with its snapshot, so that their number
//! depends on the configuration alone, and they are dropped together.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::ListingPolicy;
use crate::listed_tools::ListedTools;
use crate::listing::Listings;
use crate::response::{Problem, Response, Tagged};
use crate::site::{Site, SiteIndex};
use toolcrib_catalog::config::Mode;
use toolcrib_catalog::{Catalog, Findings, UnknownProfile};
use toolcrib_definition::finding::Finding;
use toolcrib_gateway::exec::Caller;
use toolcrib_gateway::functions::CatalogView;
use toolcrib_render::Templates;

/// A catalog view as the server serves it.
#[derive(Debug)]
pub(crate) struct ServedView {
    pub(super) view: Arc<CatalogView>,
    /// Findings of the input; `None` for callers who may see only a part of it.
    findings: Option<Findings>,
    /// The policy of the lists of clients.
    pub(super) listing: ListingPolicy,
    listed_tools: OnceLock<ListedTools>,
    site: OnceLock<SiteIndex>,
    /// Complete answers by their paths.
    bodies: RwLock<HashMap<String, Tagged>>,
}

impl ServedView {
    /// The answer that is cached for a path.
    pub(crate) fn cached(&self, path: &str) -> Option<Response> {
        self.bodies.read().unwrap_or_else(PoisonError::into_inner).get(path).map(Tagged::answer)
    }

    /// The answer that is cached for a path; `make` makes it at its first request.
    pub(crate) fn answer(
        &self,
        path: &str,
        make: impl FnOnce() -> Result<Tagged, Problem>,
    ) -> Result<Response, Problem> {
        if let Some(cached) = self.cached(path) {
            return Ok(cached);
        }
        let body = make()?;
        let answer = body.answer();
        self.bodies.write().unwrap_or_else(PoisonError::into_inner).insert(path.into(), body);
        Ok(answer)
    }

    /// Whether clients list tools of the catalog.
    pub(crate) fn lists_tools(&self) -> bool {
        self.listing.mode != Mode::Gateway || self.view.profile().full().next().is_some()
    }

    /// The catalog's tools that clients list.
    pub(crate) fn listed_tools(&self) -> &ListedTools {
        self.listed_tools.get_or_init(|| ListedTools::of(&self.view, self.listing))
    }

    /// Findings of the input that callers get.
    pub(crate) fn findings(&self) -> &[Finding] {
        self.findings.as_deref().unwrap_or_default()
    }

    /// The pages for people.
    pub(crate) fn site(&self) -> Site<'_> {
        let catalog = self.view.catalog();
        let index = self.site.get_or_init(|| SiteIndex::new(catalog, &self.view.profile()));
        Site::new(index, catalog, self.findings(), self.view.templates()).served()
    }
}

/// The views of one profile, by the roles of callers.
#[derive(Debug)]
pub(super) struct ProfileViews {
    /// The profile; `None` for the whole catalog.
    pub(super) name: Option<String>,
    /// The view of callers who see everything.
    pub(super) whole: Arc<ServedView>,
    /// The view of callers without any role.
    open: Arc<ServedView>,
    by_roles: BTreeMap<Vec<String>, Arc<ServedView>>,
}

impl ProfileViews {
    /// The view of a caller.
    pub(super) fn of(&self, caller: &Caller) -> &Arc<ServedView> {
        match &caller.roles {
            Some(roles) if !caller.sees_everything() => self.by_roles.get(roles).unwrap_or(&self.open),
            _ => &self.whole,
        }
    }

    /// All views.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<ServedView>> {
        [&self.whole, &self.open].into_iter().chain(self.by_roles.values())
    }
}

/// Makes the views of one snapshot.
pub(super) struct ViewBuilder<'g> {
    pub(super) catalog: &'g Catalog,
    pub(super) findings: &'g Findings,
    pub(super) templates: &'g Arc<Templates>,
    pub(super) listings: &'g Listings,
    /// Views with the configuration of this snapshot, shared where they are equal.
    pub(super) known: Vec<Arc<ServedView>>,
}

impl ViewBuilder<'_> {
    /// The views of a profile for these callers.
    pub(super) fn profile(
        &mut self,
        name: Option<&str>,
        callers: &[Caller],
    ) -> Result<ProfileViews, UnknownProfile> {
        let mut by_roles = BTreeMap::new();
        for caller in callers.iter().filter(|caller| caller.may_use(name) && !caller.sees_everything()) {
            let roles = caller.roles.clone().unwrap_or_default();
            let view = self.view(name, Some(&roles))?;
            by_roles.insert(roles, view);
        }
        let whole = self.view(name, None)?;
        let open = self.view(name, Some(&[]))?;
        Ok(ProfileViews { name: name.map(str::to_string), whole, open, by_roles })
    }

    /// The view of callers with these roles; `None` for those who see everything, who alone get the findings. All others
    /// with equal catalog views share a view.
    fn view(
        &mut self,
        profile: Option<&str>,
        roles: Option<&[String]>,
    ) -> Result<Arc<ServedView>, UnknownProfile> {
        let view = CatalogView::new(self.catalog, profile, roles, Arc::clone(self.templates))?;
        let alike: Vec<_> = self.known.iter().filter(|known| known.view.is_like(&view)).collect();
        if let Some(shared) = alike.iter().find(|known| roles.is_some() && known.findings.is_none()) {
            return Ok(Arc::clone(shared));
        }
        let made = Arc::new(ServedView {
            view: alike.first().map_or_else(|| Arc::new(view), |known| Arc::clone(&known.view)),
            findings: roles.is_none().then(|| self.findings.clone()),
            listing: self.listings.policy(profile),
            listed_tools: OnceLock::new(),
            site: OnceLock::new(),
            bodies: RwLock::default(),
        });
        self.known.push(Arc::clone(&made));
        Ok(made)
    }
}

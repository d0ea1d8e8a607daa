//! The cache of one catalog view: bodies by their paths, made at their first request and dropped with their snapshot.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::ListingPolicy;
use crate::listed_tools::ListedTools;
use crate::response::{Media, Problem, Response, Tagged};
use crate::site::{Site, SiteIndex};
use toolcrib_catalog::config::Mode;
use toolcrib_catalog::{Findings, registry};
use toolcrib_definition::finding::Finding;
use toolcrib_gateway::functions::CatalogView;

/// Most tools with which `registry.json` is cached; for more it is made anew each time.
const MAX_CACHED_TOOLS: usize = 1000;

/// The bodies of one catalog view.
#[derive(Debug)]
pub(crate) struct ResponseCache {
    pub(super) view: Arc<CatalogView>,
    /// Findings of the input; `None` for callers who may see only a part of it.
    pub(super) findings: Option<Findings>,
    /// The policy of the lists of clients.
    pub(super) listing: ListingPolicy,
    listed_tools: OnceLock<ListedTools>,
    site: OnceLock<SiteIndex>,
    bodies: RwLock<HashMap<String, Tagged>>,
}

impl ResponseCache {
    /// An empty cache.
    pub(crate) fn new(view: Arc<CatalogView>, findings: Option<Findings>, listing: ListingPolicy) -> Self {
        Self {
            view,
            findings,
            listing,
            listed_tools: OnceLock::new(),
            site: OnceLock::new(),
            bodies: RwLock::default(),
        }
    }

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
        let templates = self.view.templates();
        let index = self.site.get_or_init(|| SiteIndex::new(catalog, &self.view.profile()));
        Site::new(index, catalog, self.findings(), templates).served()
    }

    /// `registry.json`; kept unless it is large.
    pub(crate) fn registry(&self) -> Result<Response, Problem> {
        let make = || Tagged::new(registry(self.view.catalog(), &self.view.profile()), Media::Json);
        if self.view.catalog().tools.len() <= MAX_CACHED_TOOLS {
            self.answer("registry.json", || Ok(make()))
        } else {
            Ok(make().answer())
        }
    }
}

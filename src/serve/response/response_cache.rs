//! The cache of one catalog view: bodies ready to be sent. Made at their first request, read without a lock, and
//! dropped with their generation.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::media::Media;
use super::{Response, Tagged};
use crate::catalog::{Findings, registry};
use crate::config::Mode;
use crate::finding::Finding;
use crate::functions::CatalogView;
use crate::render::Llms;
use crate::serve::ListingPolicy;
use crate::serve::listed_tools::ListedTools;
use crate::site::{Site, SiteIndex};

/// Most tools with which `registry.json` is cached; for more it is made anew each time.
const MAX_CACHED_TOOLS: usize = 1000;

/// The bodies of one catalog view. Errors are those of templates.
#[derive(Debug)]
pub(crate) struct ResponseCache {
    view: Arc<CatalogView>,
    docs: Vec<OnceLock<Result<Tagged, String>>>,
    index: OnceLock<Result<IndexFiles, String>>,
    site: OnceLock<SiteIndex>,
    /// Findings of the input, unless the caller may see only a part of it.
    findings: Findings,
    registry: OnceLock<Tagged>,
    /// Assets of pages: style sheets, scripts, and the index of the search.
    files: HashMap<String, OnceLock<Arc<Tagged>>>,
    listing: ListingPolicy,
    listed_tools: OnceLock<ListedTools>,
    /// The list of functions and tools: at the root of the server, and below the path of the profile.
    tool_list_bodies: [OnceLock<Tagged>; 2],
}

/// Files that are laid out from all tools.
#[derive(Debug)]
pub(crate) struct IndexFiles {
    /// `README.md`, and pages below `categories/`.
    pub(crate) files: HashMap<String, Tagged>,
    /// `llms.txt` and `llms-full.txt`.
    pub(crate) llms: Llms,
}

impl ResponseCache {
    /// An empty cache.
    pub(crate) fn new(view: Arc<CatalogView>, findings: Findings, shown: ListingPolicy) -> Self {
        let docs = view.catalog().tools.iter().map(|_| OnceLock::new()).collect();
        let (index, registry, site) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let names = view.templates().assets().keys().map(String::as_str).chain(["search-index.js"]);
        let files = names.map(|name| (name.to_string(), OnceLock::new())).collect();
        Self {
            view,
            docs,
            index,
            registry,
            site,
            findings,
            files,
            listing: shown,
            listed_tools: OnceLock::new(),
            tool_list_bodies: Default::default(),
        }
    }

    /// The catalog view of these bodies.
    pub(crate) fn view(&self) -> &Arc<CatalogView> {
        &self.view
    }

    /// The doc of a tool, `tools/NAME.md`.
    pub(crate) fn doc(&self, index: usize) -> Option<&Result<Tagged, String>> {
        let make = || match self.view.page(index) {
            Some(Ok(page)) => Ok(Tagged::new(page.markdown.clone(), Media::Markdown)),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("there is no such tool".into()),
        };
        Some(self.docs.get(index)?.get_or_init(make))
    }

    /// The files that are laid out from all tools.
    pub(crate) fn index(&self) -> Result<&IndexFiles, &String> {
        self.index.get_or_init(|| self.lay_out()).as_ref()
    }

    /// Whether these files are made already, which takes time in a large catalog.
    pub(crate) fn is_laid_out(&self) -> bool {
        self.index.get().is_some()
    }

    fn lay_out(&self) -> Result<IndexFiles, String> {
        let (view, profile) = (&self.view, self.view.profile());
        let llms = Llms::lay_out(view.catalog(), &profile);
        let pages = view.index().as_ref().map_err(ToString::to_string)?.iter();
        let files = pages
            .map(|page| (page.path.clone(), Tagged::new(page.markdown.clone(), Media::Markdown)))
            .collect();
        Ok(IndexFiles { files, llms })
    }

    /// The policy of the lists of clients.
    pub(crate) fn listing(&self) -> ListingPolicy {
        self.listing
    }

    /// Whether clients list tools of the catalog.
    pub(crate) fn lists_tools(&self) -> bool {
        self.listing.mode != Mode::Gateway || self.view.profile().full().next().is_some()
    }

    /// The catalog's tools that clients list.
    pub(crate) fn listed_tools(&self) -> &ListedTools {
        self.listed_tools.get_or_init(|| ListedTools::of(&self.view, self.listing))
    }

    /// The slot for the list of functions and tools, with addresses below the path of the profile or not.
    pub(crate) fn tool_list_body(&self, below_profile: bool) -> &OnceLock<Tagged> {
        &self.tool_list_bodies[usize::from(below_profile)]
    }

    /// Findings of the input.
    pub(crate) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The pages for people.
    pub(crate) fn site(&self) -> Site<'_> {
        let (catalog, templates) = (self.view.catalog(), self.view.templates());
        let index = self.site.get_or_init(|| SiteIndex::new(catalog, &self.view.profile()));
        Site::new(index, catalog, &self.findings, templates).served()
    }

    /// The slot for an asset of pages.
    pub(crate) fn file(&self, path: &str) -> Option<&OnceLock<Arc<Tagged>>> {
        self.files.get(path)
    }

    /// `registry.json`; kept unless it is large.
    pub(crate) fn registry(&self) -> Response {
        let make = || Tagged::new(registry(self.view.catalog(), &self.view.profile()), Media::Json);
        match self.view.catalog().tools.len() <= MAX_CACHED_TOOLS {
            true => self.registry.get_or_init(make).answer(),
            false => make().answer(),
        }
    }
}

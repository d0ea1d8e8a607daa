//! What the HTTP door keeps of one edition: bodies ready to be sent. Made when they are first asked for, read without a
//! lock, and dropped with their generation.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::kept::Kept;
use super::negotiate::Media;
use crate::catalog::registry;
use crate::finding::Finding;
use crate::functions::Edition;
use crate::render::{Docs, Llms};
use crate::serve::Shown;
use crate::serve::mcp::Bound;
use crate::site::{Site, SiteIndex};

/// With more tools than this, `registry.json` is made anew each time, and not kept.
const KEPT_TOOLS: usize = 1000;

/// The bodies of one edition. The text of an error is what its template said.
#[derive(Debug)]
pub(in crate::serve) struct Shelf {
    edition: Arc<Edition>,
    docs: Vec<OnceLock<Result<Kept, String>>>,
    index: OnceLock<Result<Index, String>>,
    site: OnceLock<SiteIndex>,
    /// What was found in the input, unless the caller may see less than all of it.
    findings: Arc<[Finding]>,
    registry: OnceLock<Kept>,
    /// What pages need: style sheets, scripts, and the index of the search.
    files: HashMap<String, OnceLock<Arc<Kept>>>,
    shown: Shown,
    bound: OnceLock<Bound>,
    called: OnceLock<Kept>,
}

/// What is laid out from all tools.
#[derive(Debug)]
pub(super) struct Index {
    /// `README.md`, and pages below `categories/`.
    pub(super) files: HashMap<String, Kept>,
    /// `llms.txt` and `llms-full.txt`.
    pub(super) llms: Llms,
    /// Different whenever any of these files, or the registry, is.
    pub(super) version: String,
}

impl Shelf {
    /// An empty shelf.
    pub(in crate::serve) fn new(edition: Arc<Edition>, findings: Arc<[Finding]>, shown: Shown) -> Self {
        let docs = edition.catalog().tools.iter().map(|_| OnceLock::new()).collect();
        let (index, registry, site) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let names = edition.templates().assets().keys().map(String::as_str).chain(["search-index.js"]);
        let files = names.map(|name| (name.to_string(), OnceLock::new())).collect();
        let (bound, called) = (OnceLock::new(), OnceLock::new());
        Self { edition, docs, index, registry, site, findings, files, shown, bound, called }
    }

    /// Whose bodies these are.
    pub(in crate::serve) fn edition(&self) -> &Arc<Edition> {
        &self.edition
    }

    /// The doc of a tool, `tools/NAME.md`.
    pub(super) fn doc(&self, index: usize) -> Option<&Result<Kept, String>> {
        let make = || match self.edition.page(index) {
            Some(Ok(page)) => Ok(Kept::new(page.markdown.clone(), Media::Markdown)),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("there is no such tool".into()),
        };
        Some(self.docs.get(index)?.get_or_init(make))
    }

    /// What is laid out from all tools.
    pub(super) fn index(&self) -> Result<&Index, &String> {
        self.index.get_or_init(|| self.lay_out()).as_ref()
    }

    /// Whether that is done already, which takes time in a large catalog.
    pub(super) fn is_laid_out(&self) -> bool {
        self.index.get().is_some()
    }

    fn lay_out(&self) -> Result<Index, String> {
        let (edition, profile) = (&self.edition, self.edition.profile());
        let llms = Llms::lay_out(edition.catalog(), &profile);
        let mut hasher = blake3::Hasher::new();
        hasher.update(llms.brief(edition.catalog(), 0).as_bytes());
        let docs = Docs::new(edition.catalog(), profile, edition.templates());
        hasher.update(docs.key().as_bytes());
        let version = hasher.finalize().to_hex()[..20].to_string();
        let pages = edition.index().as_ref().map_err(ToString::to_string)?.iter();
        let files = pages
            .map(|page| (page.path.clone(), Kept::new(page.markdown.clone(), Media::Markdown)))
            .collect();
        Ok(Index { files, llms, version })
    }

    /// What the lists of clients show.
    pub(super) fn shown(&self) -> Shown {
        self.shown
    }

    /// The tools that clients are bound.
    pub(in crate::serve) fn bound(&self) -> &Bound {
        self.bound.get_or_init(|| Bound::of(&self.edition, self.shown))
    }

    /// The place of the list of what can be called.
    pub(super) fn called(&self) -> &OnceLock<Kept> {
        &self.called
    }

    /// What was found in the input.
    pub(super) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The pages for people.
    pub(super) fn site(&self) -> Site<'_> {
        let (catalog, templates) = (self.edition.catalog(), self.edition.templates());
        let index = self.site.get_or_init(|| SiteIndex::new(catalog, &self.edition.profile()));
        Site::new(index, catalog, &self.findings, templates).served()
    }

    /// The place of a file that pages need.
    pub(super) fn file(&self, path: &str) -> Option<&OnceLock<Arc<Kept>>> {
        self.files.get(path)
    }

    /// `registry.json`, unless it is too large to be kept.
    pub(super) fn registry(&self) -> Option<&Kept> {
        let is_small = self.edition.catalog().tools.len() <= KEPT_TOOLS;
        let make = || Kept::new(registry(self.edition.catalog(), &self.edition.profile()), Media::Json);
        is_small.then(|| self.registry.get_or_init(make))
    }

    /// Whether `registry.json` has been made already.
    pub(super) fn has_registry(&self) -> bool {
        self.registry.get().is_some()
    }
}

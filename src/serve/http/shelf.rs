//! What the HTTP door keeps of one edition: bodies ready to be sent. Made when they are first asked for, read without a
//! lock, and dropped with their generation.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::kept::Kept;
use super::negotiate::Media;
use super::pages;
use super::problem::{Problem, ProblemCode};
use crate::finding::Finding;
use crate::functions::Edition;
use crate::site::SiteIndex;

/// The bodies of one edition. The text of an error is what its template said.
#[derive(Debug)]
pub(in crate::serve) struct Shelf {
    edition: Arc<Edition>,
    findings: Arc<Vec<Finding>>,
    docs: Vec<OnceLock<Result<Kept, String>>>,
    index: OnceLock<Result<HashMap<String, Kept>, String>>,
    site: OnceLock<SiteIndex>,
    assets: OnceLock<Result<HashMap<String, Kept>, String>>,
}

impl Shelf {
    /// An empty shelf, with the findings that may be shown to whom it is for.
    pub(in crate::serve) fn new(edition: Arc<Edition>, findings: Arc<Vec<Finding>>) -> Self {
        let docs = edition.catalog().tools.iter().map(|_| OnceLock::new()).collect();
        let (index, site, assets) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { edition, findings, docs, index, site, assets }
    }

    /// Whose bodies these are.
    pub(in crate::serve) fn edition(&self) -> &Arc<Edition> {
        &self.edition
    }

    /// What was found in the input.
    pub(super) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// What its pages share.
    pub(super) fn site(&self) -> &SiteIndex {
        self.site.get_or_init(|| SiteIndex::new(self.edition.catalog(), &self.edition.profile()))
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

    /// A file of the index: `README.md`, or a page below `categories/`.
    pub(super) fn index(&self, path: &str) -> Result<Option<&Kept>, &String> {
        let make = || {
            let pages = self.edition.index().as_ref().map_err(|error| error.to_string())?;
            let kept = pages
                .iter()
                .map(|page| (page.path.clone(), Kept::new(page.markdown.clone(), Media::Markdown)));
            Ok(kept.collect())
        };
        self.index.get_or_init(make).as_ref().map(|files| files.get(path))
    }

    /// Something that all pages need, such as `assets/site.css`.
    pub(super) fn asset(&self, path: &str) -> Result<Option<&Kept>, Problem> {
        if !path.starts_with("assets/") && !path.ends_with(".js") {
            return Ok(None);
        }
        match self.assets.get_or_init(|| pages::assets(self, self.site())) {
            Ok(assets) => Ok(assets.get(path)),
            Err(problem) => Err(Problem::new(ProblemCode::Internal, problem)),
        }
    }
}

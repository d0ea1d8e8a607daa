//! What the HTTP door keeps of one edition: bodies ready to be sent. Made when they are first asked for, read without a
//! lock, and dropped with their generation.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::kept::Kept;
use super::negotiate::Media;
use crate::functions::Edition;
use crate::render::Docs;

/// The bodies of one edition. The text of an error is what its template said.
#[derive(Debug)]
pub(in crate::serve) struct Shelf {
    edition: Arc<Edition>,
    docs: Vec<OnceLock<Result<Kept, String>>>,
    index: OnceLock<Result<HashMap<String, Kept>, String>>,
}

impl Shelf {
    /// An empty shelf.
    pub(in crate::serve) fn new(edition: Arc<Edition>) -> Self {
        let docs = edition.catalog().tools.iter().map(|_| OnceLock::new()).collect();
        Self { edition, docs, index: OnceLock::new() }
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

    /// A file of the index: `README.md`, or a page below `categories/`.
    pub(super) fn index(&self, path: &str) -> Result<Option<&Kept>, &String> {
        let make = || {
            let edition = &self.edition;
            let docs = Docs::new(edition.catalog(), edition.profile(), edition.templates());
            let files = docs.index_files().map_err(|error| error.to_string())?;
            Ok(files.into_iter().map(|(path, text)| (path, Kept::new(text, Media::Markdown))).collect())
        };
        self.index.get_or_init(make).as_ref().map(|files| files.get(path))
    }
}

//! The set of files to generate.

use super::error::{FolderError, Problem};

/// A file: its path and its bytes.
pub type Content = (String, Vec<u8>);

/// Renders one file.
type Maker<'a> = Box<dyn Fn() -> Result<String, Problem> + Send + Sync + 'a>;

/// The files to generate. Each content is rendered on demand, in parallel, so that a large set is never in memory; if any
/// cannot be rendered, nothing is written.
pub struct Files<'a> {
    /// Paths of the files: relative, separated by `/`, unique even where case is ignored.
    pub paths: Vec<String>,
    makers: Vec<Maker<'a>>,
    /// The hash of all inputs of the contents: sets with the same key are equal. Empty: not known.
    pub key: String,
    /// Whether files outside the set are removed; not so when the set may be incomplete.
    pub(super) prune: bool,
}

impl<'a> Files<'a> {
    /// No files, without a key.
    pub(crate) fn new(prune: bool) -> Self {
        Self { paths: Vec::new(), makers: Vec::new(), key: String::new(), prune }
    }

    /// Adds a file, and the function that makes its content.
    pub fn push<E: Into<Problem>>(
        &mut self,
        path: String,
        make: impl Fn() -> Result<String, E> + Send + Sync + 'a,
    ) {
        self.paths.push(path);
        self.makers.push(Box::new(move || make().map_err(Into::into)));
    }

    /// The content of one file.
    pub(super) fn content(&self, index: usize) -> Result<Vec<u8>, FolderError> {
        let failed = |source| FolderError::Render { path: self.paths[index].clone(), source };
        Ok(self.makers[index]().map_err(failed)?.into_bytes())
    }
}

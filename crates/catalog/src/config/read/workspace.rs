//! A configuration with its folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::overlay::Overlay;
use crate::config::settings::Config;
use crate::config::source::Source;
use toolcrib_definition::document::Document;
use toolcrib_definition::finding::Finding;
use toolcrib_definition::ground::is_within;

/// The name of the configuration file.
pub(super) const FILE_NAME: &str = "toolcrib.toml";

/// A configuration with its folder: all that is needed to load a catalog.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// The folder that all paths are relative to.
    pub root: PathBuf,
    /// The configuration; the default one when there is no file.
    pub config: Config,
    /// Overlays of the presets, then those of the file.
    pub overlays: Vec<Overlay>,
    /// Number of overlays that come from presets.
    pub preset_overlays: usize,
    /// The configuration file, kept to locate findings.
    pub document: Option<Document>,
    /// Mistakes in the configuration.
    pub findings: Vec<Finding>,
    /// Definitions in memory, in addition to those of the sources.
    pub definitions: Option<Document>,
    /// The registry at each address that a source names, or why it could not be fetched. Addresses without an
    /// entry were not fetched.
    pub fetched: BTreeMap<String, Result<Arc<str>, FetchError>>,
    /// The parts left out of a configuration that was found, not named by the operator. Nothing that it names runs.
    pub found: Option<LeftOut>,
    /// Whether nobody named the folder, so that nothing outside of it is read.
    pub is_confined: bool,
}

/// Reason why an address gives no registry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// Others could answer at this address.
    #[error(
        "an answer over http:// can be changed in transit; use https:// without a user name, or a server on this machine"
    )]
    Unsafe,
    /// There is no complete answer.
    #[error("{0}")]
    NoAnswer(String),
    /// The answer is not a usable registry.
    #[error("{0}")]
    NoRegistry(String),
}

/// The unused parts of a configuration that was found, not named by the operator.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeftOut {
    /// Live servers and addresses of definitions.
    pub sources: bool,
    pub models: bool,
    /// Templates of pages.
    pub templates: bool,
    /// Programs and servers that run tools, and state that is no file of the folder.
    pub backends: bool,
}

impl Workspace {
    /// The same workspace, without definition files.
    pub fn without_files(mut self) -> Self {
        self.config.sources = vec![Source::default()];
        self
    }

    /// Whether a file may be read: one outside of the folder only if somebody named the catalog.
    pub fn may_read(&self, path: &Path) -> bool {
        !self.is_confined || is_within(&self.root, path)
    }
}

//! The configuration of a bundle that stands alone, and the templates that it names. Sources and overlays have been
//! applied, and are left out.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Config;
use crate::bundle::{Bundle, BundleError, is_magic};
use crate::finding::{Code, Finding, Place};

/// The part of a bundle with its configuration; empty in one that needs the configuration beside it.
pub const CONFIGURATION: usize = 4;
/// The ending of the names of bundles.
const ENDING: &str = "crib";

/// The configuration of a bundle.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct BundledConfig {
    /// The settings.
    pub config: Config,
    /// The templates that replace built-in ones, by their names.
    pub templates: BTreeMap<String, String>,
}

impl BundledConfig {
    /// These settings, without everything that the catalog is made from.
    pub fn new(config: &Config, templates: BTreeMap<String, String>) -> Self {
        let mut config = Config { overlays: Vec::new(), presets: Vec::new(), ..config.clone() };
        config.render.templates = None;
        config.eval.queries = Vec::new();
        // Live servers are named by their numbers, so that the other sources keep their places.
        config.sources.iter_mut().for_each(|source| source.path = String::new());
        Self { config, templates }
    }

    /// The configuration of a bundle.
    pub fn read(bundle: &Bundle) -> Result<Self, BundleError> {
        let part = bundle.part(CONFIGURATION)?;
        if part.is_empty() {
            let problem = "it is an entry of the cache, which needs its configuration; `toolcrib bundle build` makes a bundle";
            return Err(BundleError::Invalid(problem.into()));
        }
        serde_json::from_slice(&part).map_err(|error| BundleError::Invalid(error.to_string()))
    }

    /// Its bytes; `None` where some of it would not come back as it is.
    pub fn written(&self) -> Option<Vec<u8>> {
        let written = serde_json::to_vec(self).ok()?;
        let back: Self = serde_json::from_slice(&written).ok()?;
        (serde_json::to_vec(&back).ok()? == written).then_some(written)
    }
}

/// Whether a path is that of a bundle: by its ending, or by its first bytes.
pub fn is_bundle(path: &Path) -> bool {
    let begins = || {
        let mut first = [0; 8];
        let read = File::open(path).and_then(|mut file| io::Read::read_exact(&mut file, &mut first));
        read.is_ok() && is_magic(&first)
    };
    path.is_file() && (path.extension().is_some_and(|ending| ending == ENDING) || begins())
}

/// The finding about a bundle that cannot be used.
pub fn unreadable_bundle(path: &Path, error: &BundleError) -> Finding {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let finding = Finding::new(Code::BundleUnreadable, error.to_string()).at(Place::new(&*file, ""));
    finding.help("build it again with `toolcrib bundle build`, or copy it again")
}

//! The manifest: the record of the files in a folder that are ours, `.toolcrib.json`.
//!
//! It depends only on the generated files, so that it can be committed. While files are being replaced it serves as
//! the journal: `key` is then empty, and `replacing` has the hashes of the old contents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::disk;
use super::error::FolderError;
use super::paths::{MANIFEST, problem};

const VERSION: u64 = 1;

/// Hashes of contents, by path.
pub(super) type Hashes = BTreeMap<String, String>;

/// The files that we wrote, by path, with the hashes of their contents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) version: u64,
    pub(super) key: String,
    /// The folders that we created.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) dirs: BTreeSet<String>,
    pub(super) files: Hashes,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) replacing: Hashes,
}

impl Manifest {
    pub(super) fn new(key: &str) -> Self {
        Manifest { version: VERSION, key: key.into(), ..Manifest::default() }
    }

    /// Reads the manifest of a folder; a folder without one has no files of ours.
    pub(super) fn read(root: &Path) -> Result<Self, FolderError> {
        let path = root.join(MANIFEST);
        let mut content = Vec::new();
        let broken = |problem: &str| FolderError::Manifest { path: path.clone(), problem: problem.into() };
        match disk::read(&path, &mut content)? {
            disk::Entry::Missing => return Ok(Manifest::new("")),
            disk::Entry::File(_) => {}
            disk::Entry::Link => return Err(FolderError::Symlink { path }),
            _ => return Err(broken("it is not a file")),
        }
        let text = String::from_utf8(content).map_err(|_| broken("it is not text"))?;
        Self::parse(&text, path.as_path())
    }

    fn parse(text: &str, at: &Path) -> Result<Self, FolderError> {
        let broken = |problem: String| FolderError::Manifest { path: at.into(), problem };
        let value: Value = serde_json::from_str(text).map_err(|error| broken(error.to_string()))?;
        if let Some(version) = value.get("version").and_then(Value::as_u64).filter(|it| *it != VERSION) {
            return Err(broken(format!("it has version {version}, and this toolcrib reads {VERSION}")));
        }
        let manifest: Manifest = serde_json::from_value(value).map_err(|error| broken(error.to_string()))?;
        // A manifest can come from an untrusted repository and must not lead out of the folder.
        for name in manifest.files.keys().chain(&manifest.dirs) {
            if let Some(problem) = problem(name) {
                return Err(broken(format!("it lists `{}`: {problem}", name.escape_debug())));
            }
        }
        Ok(manifest)
    }

    /// The bytes to write: one file a line, sorted.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text.into_bytes()
    }

    /// Whether a file has exactly the content that we wrote, or were about to replace when we were killed.
    pub(super) fn wrote(&self, path: &str, hash: &str) -> bool {
        [&self.files, &self.replacing].iter().any(|map| map.get(path).is_some_and(|known| known == hash))
    }
}

/// The hash under which a content is recorded: 128 bits of BLAKE3 in hex.
pub(super) fn hash(content: &[u8]) -> String {
    blake3::hash(content).to_hex()[..32].to_string()
}

//! The manifest: the record of the files in a folder that are ours, `.toolcrib.json`.
//!
//! It depends only on the generated files, so that it can be committed. While files are being replaced it serves as
//! the journal: `key` is then empty, and `replacing` has the hashes of the old contents.
//!
//! Paths of generated files are relative, and each must mean the same file on every system.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use super::disk;

/// The manifest: what was generated, and the hash of each file.
pub const MANIFEST: &str = ".toolcrib.json";

/// The folder in which files are written before they are moved to their places.
pub(super) const STAGE: &str = ".toolcrib-tmp";

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

/// The longest name that common file systems take.
const MAX_NAME: usize = 255;
/// The longest whole path; the shortest limit among common systems is 1,024 with the root.
const MAX_PATH: usize = 768;

/// Checks every path alone and all of them together.
pub(super) fn check_paths(paths: &[String]) -> Result<(), FolderError> {
    let bad = |path: &str, problem: String| Err(FolderError::BadPath { path: path.into(), problem });
    let mut seen: HashMap<String, &str> = HashMap::with_capacity(paths.len());
    for path in paths {
        if let Some(problem) = problem(path) {
            return bad(path, problem.into());
        }
        if let Some(twin) = seen.insert(fold(path), path) {
            return bad(path, format!("it is the same as `{twin}` where case is ignored"));
        }
    }
    let mut known: HashSet<&str> = HashSet::new();
    for path in paths {
        for folder in ancestors(path).take_while(|folder| known.insert(folder)) {
            if seen.contains_key(&fold(folder)) {
                return bad(path, format!("`{folder}` is to be a file as well as a folder"));
            }
        }
    }
    Ok(())
}

/// The reason why a path cannot name a generated file, if there is one.
fn problem(path: &str) -> Option<&'static str> {
    if path.len() > MAX_PATH {
        return Some("it is longer than 768 bytes");
    }
    let first = path.split('/').next().unwrap_or_default();
    if first.eq_ignore_ascii_case(MANIFEST) || first.eq_ignore_ascii_case(STAGE) {
        return Some("toolcrib keeps its own records under that name");
    }
    path.split('/').find_map(name_problem)
}

fn name_problem(name: &str) -> Option<&'static str> {
    let forbidden = ['\\', ':', '*', '?', '"', '<', '>', '|'];
    let problems = [
        (name.is_empty(), "a name in it is empty"),
        (name == "." || name == "..", "it has a `.` or `..` part"),
        (name.len() > MAX_NAME, "a name in it is longer than 255 bytes"),
        (name.contains(forbidden), "it has a character that Windows forbids in names"),
        (name.contains(char::is_control), "it has a control character"),
        (name.ends_with(['.', ' ']), "a name in it ends with a dot or a space"),
        (is_device(name), "a name in it is a device on Windows"),
        (name.eq_ignore_ascii_case(".git"), "`.git` belongs to version control"),
    ];
    problems.into_iter().find(|(is_wrong, _)| *is_wrong).map(|(_, problem)| problem)
}

/// Whether Windows takes the name for a device, which it does with any extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ').to_ascii_uppercase();
    let numbered = |stem: &str| {
        let digit = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
        digit.is_some_and(|d| d.chars().count() == 1 && d.starts_with(|c: char| "0123456789¹²³".contains(c)))
    };
    matches!(&*stem, "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$") || numbered(&stem)
}

/// The normalised form of a name: equal where case or the Unicode form is ignored.
fn fold(path: &str) -> String {
    if path.is_ascii() { path.to_ascii_lowercase() } else { path.to_lowercase().nfc().collect() }
}

/// The folders of a path, innermost first, without the root.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(parent(path), |folder| parent(folder))
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(folder, _)| folder)
}

/// Every folder of these paths, outer ones first.
pub(super) fn folders_of<'a>(paths: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut folders = BTreeSet::new();
    for path in paths {
        for folder in ancestors(path) {
            if !folders.insert(folder) {
                break;
            }
        }
    }
    folders
}

// Errors of a write to a folder, each with a stable code and a next step.

/// Most paths that a message names; the others are counted.
const NAMED: usize = 5;

/// A reason why a folder could not be written or checked.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A generated path that no folder can hold on every system.
    #[error("`{}` cannot be the path of a generated file: {problem}", path.escape_debug())]
    BadPath {
        /// The path as it was given.
        path: String,
        /// The mistake in it.
        problem: String,
    },
    /// A content could not be rendered; nothing was written.
    #[error("cannot render {path}: {source}")]
    Render {
        /// The file of the content.
        path: String,
        /// The reason.
        source: super::Problem,
    },
    /// Files of the user are in the places of generated files; nothing was written.
    #[error("{} holds {} of yours, in the way of generated ones: {}", root.display(), count(paths), some(paths))]
    Occupied {
        /// The folder.
        root: PathBuf,
        /// Every such path, relative to the folder, sorted.
        paths: Vec<String>,
    },
    /// A folder on the way to a generated file is a symbolic link; nothing was written.
    #[error("{} is a symbolic link, and generated files are not written through it", path.display())]
    Symlink {
        /// The link.
        path: PathBuf,
    },
    /// The path of the folder is something else.
    #[error("{} is not a folder", path.display())]
    NotAFolder {
        /// The path in question.
        path: PathBuf,
    },
    /// The manifest is not one that toolcrib wrote, or is damaged; nothing was written.
    #[error("{} is not a manifest of toolcrib: {problem}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The mistake in it.
        problem: String,
    },
    /// The system refused; files written so far are whole, and the next run writes the rest.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The action that failed, as a verb.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl FolderError {
    /// The next step.
    pub fn hint(&self) -> String {
        match self {
            FolderError::BadPath { .. } => "rename the tool or category that this path comes from".into(),
            FolderError::Render { .. } => {
                "correct the part that the message names; nothing was written".into()
            }
            FolderError::Occupied { .. } => {
                "move these away or delete them, or choose another folder; only files listed in .toolcrib.json are ever replaced".into()
            }
            FolderError::Symlink { .. } => "replace the link with a real folder, or remove it".into(),
            FolderError::NotAFolder { .. } => "choose another folder, or move this away".into(),
            FolderError::Manifest { .. } => {
                "update toolcrib, restore the file from version control, or move the folder away".into()
            }
            FolderError::Io { .. } => {
                "check permissions and free space, then run the same command again".into()
            }
        }
    }

    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FolderError {
        let path = path.to_path_buf();
        move |source| FolderError::Io { action, path, source }
    }
}

fn count(paths: &[String]) -> String {
    if paths.len() == 1 { "a file".into() } else { format!("{} files", paths.len()) }
}

fn some(paths: &[String]) -> String {
    let named = paths.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

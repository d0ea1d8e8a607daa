//! The files that a catalog is read from, as they are now: to know later whether any of them has changed.

use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::files;
use crate::config::Workspace;

/// A file that was changed so shortly before it was looked at may change again without a new time.
const UNSETTLED: Duration = Duration::from_secs(2);

/// The state of the files of a catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFiles {
    files: Vec<InputFile>,
}

/// One file: its path relative to the catalog, and its state, without which it does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct InputFile {
    path: String,
    state: Option<FileState>,
}

/// Facts of a file that change with its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileState {
    length: u64,
    modified: Option<Duration>,
    changed: (i64, i64),
    number: (u64, u64),
    /// Whether its times are old enough to tell a later change.
    pub(crate) is_settled: bool,
}

impl InputFiles {
    /// The state of all definition files of a workspace, and of the files that these refer to.
    pub fn of<'p>(workspace: &Workspace, parts: impl IntoIterator<Item = &'p String>) -> Self {
        let listed = files::list(workspace, &mut Vec::new());
        let listed = listed.into_iter().map(|file| file.shown);
        let mut paths: Vec<String> = listed.chain(parts.into_iter().cloned()).collect();
        paths.sort_unstable();
        paths.dedup();
        let state = |path: &String| workspace.root.join(path).metadata().ok().map(|it| FileState::of(&it));
        let file = |path: String| InputFile { state: state(&path), path };
        Self { files: paths.into_iter().map(file).collect() }
    }

    /// Whether every file is as it was then, by facts that any later change would have changed.
    pub fn are_surely(&self, then: &Self) -> bool {
        self.are_maybe(then) && then.files.iter().flat_map(|file| &file.state).all(|state| state.is_settled)
    }

    /// Whether every file has the facts that it had then.
    pub fn are_maybe(&self, then: &Self) -> bool {
        let facts = |files: &Self| -> Vec<InputFile> {
            let settled = |state: &FileState| FileState { is_settled: true, ..state.clone() };
            files
                .files
                .iter()
                .map(|file| InputFile { state: file.state.as_ref().map(settled), ..file.clone() })
                .collect()
        };
        facts(self) == facts(then)
    }

    /// The hash of the paths and contents of all files; `None` where one cannot be read.
    pub fn content(&self, root: &Path) -> Option<String> {
        let mut hasher = blake3::Hasher::new();
        for file in &self.files {
            hasher.update(&(file.path.len() as u64).to_le_bytes()).update(file.path.as_bytes());
            let Some(state) = &file.state else {
                hasher.update(b"absent");
                continue;
            };
            let text = std::fs::read(root.join(&file.path)).ok()?;
            if text.len() as u64 != state.length {
                return None;
            }
            hasher.update(&state.length.to_le_bytes()).update(&text);
        }
        Some(hasher.finalize().to_hex().to_string())
    }
}

impl FileState {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        #[expect(clippy::disallowed_methods, reason = "the age of a file, which no output depends on")]
        let now = SystemTime::now();
        let modified = metadata.modified().ok();
        let changed = changed(metadata);
        let age = |time: SystemTime| now.duration_since(time).unwrap_or_default();
        let is_settled = modified.is_some_and(|time| age(time) > UNSETTLED)
            && SystemTime::UNIX_EPOCH
                .checked_add(Duration::from_secs(changed.0.try_into().unwrap_or_default()))
                .is_some_and(|time| age(time) > UNSETTLED);
        Self {
            length: metadata.len(),
            modified: modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok()),
            changed,
            number: number(metadata),
            is_settled,
        }
    }
}

#[cfg(unix)]
fn changed(metadata: &Metadata) -> (i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(unix)]
fn number(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> (i64, i64) {
    (0, 0)
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

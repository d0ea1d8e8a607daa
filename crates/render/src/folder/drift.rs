//! The changes that a run would make, with a diff.

use std::path::Path;

use rayon::prelude::*;

use super::diff::unified;
use super::disk::{self, Entry};
use super::error::FolderError;
use super::files::Files;
use super::lock::lock_shared;
use super::paths::check_paths;
use super::plan::Plan;

/// Bytes of a diff from which on no more files are added to it.
pub(super) const DIFF_LIMIT: usize = 1 << 20;

/// Files that are compared before their differences are added; bounds the memory in use at once.
const BATCH: usize = 64;

/// Changes that a run would make; all lists are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    /// Files that are missing.
    pub created: Vec<String>,
    /// Files whose content is not current.
    pub changed: Vec<String>,
    /// Files that are no longer generated.
    pub removed: Vec<String>,
    /// A unified diff from the folder to the generated files, by path; a note at its end says if it was cut.
    pub diff: String,
}

impl Drift {
    /// Whether the folder is current.
    pub fn is_empty(&self) -> bool {
        self.created.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }

    /// Adds the change of a file that is outside of any set.
    pub(crate) fn add(&mut self, path: &str, old: Option<&[u8]>, new: &[u8]) {
        let list = if old.is_none() { &mut self.created } else { &mut self.changed };
        list.push(path.to_string());
        self.diff += &unified(path, old, Some(new));
    }

    /// Adds the changes of another set.
    pub(crate) fn extend(&mut self, other: Drift) {
        self.created.extend(other.created);
        self.changed.extend(other.changed);
        self.removed.extend(other.removed);
        self.diff += &other.diff;
    }
}

/// Reports the changes of `sync` with a prefix before each path, and fails where `sync` would. Writes nothing.
pub fn check(root: &Path, prefix: &str, files: &Files<'_>) -> Result<Drift, FolderError> {
    check_paths(&files.paths)?;
    let _lock = lock_shared(root)?;
    let plan = Plan::make(root, files)?;
    let render = plan.stale.iter().map(|&index| (files.paths[index].as_str(), Some(index)));
    let remove = plan.removed.keys().map(|path| (path.as_str(), None));
    let mut work: Vec<(&str, Option<usize>)> = render.chain(remove).collect();
    work.sort_unstable();

    let mut drift = Drift::default();
    let mut left_out = 0;
    for batch in work.chunks(BATCH) {
        let is_full = drift.diff.len() >= DIFF_LIMIT;
        let changes: Vec<Option<(Entry, String)>> = batch
            .par_iter()
            .map_init(Vec::new, |old, &(path, index)| {
                let was = disk::read(&root.join(path), old)?;
                let new = index.map(|index| files.content(index)).transpose()?;
                let old = matches!(was, Entry::File(_)).then_some(old.as_slice());
                if old == new.as_deref() {
                    return Ok(None);
                }
                let diff = || unified(&format!("{prefix}{path}"), old, new.as_deref());
                Ok(Some((was, if is_full { String::new() } else { diff() })))
            })
            .collect::<Result<_, FolderError>>()?;
        for (&(path, index), change) in batch.iter().zip(changes) {
            let Some((was, text)) = change else { continue };
            if drift.diff.len() < DIFF_LIMIT {
                drift.diff += &text;
            } else {
                left_out += 1;
            }
            let list = match (index, was) {
                (None, _) => &mut drift.removed,
                (Some(_), Entry::Missing) => &mut drift.created,
                (Some(_), _) => &mut drift.changed,
            };
            list.push(format!("{prefix}{path}"));
        }
    }
    if left_out > 0 {
        drift.diff += &format!("# cut here; {left_out} more changed files are not shown\n");
    }
    Ok(drift)
}

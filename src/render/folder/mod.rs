//! Writes generated text files into a folder, and owns only those.
//!
//! A run plans by reading, stages every changed content beside the manifest, and records in the manifest the files
//! that will be ours. Only then it moves the files to their places. An error before that changes nothing; a kill at
//! any moment leaves each file old or new, and every one of them known as ours. A folder that the run has made is moved
//! to its place as a whole. It cannot defend against a process that replaces folders by symbolic links meanwhile.

mod contents;
mod diff;
mod disk;
mod error;
mod keep;
mod lock;
mod manifest;
mod path;
mod plan;
mod reserved;
mod stage;
#[cfg(all(test, unix))]
mod tests;
mod whole;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;

use rayon::prelude::*;

use disk::Entry;
use manifest::Manifest;
use plan::Plan;
use stage::Stage;

pub use contents::{Content, contents};
pub use diff::unified;
pub use disk::write_whole;
pub use error::FolderError;
pub use reserved::MANIFEST;

/// Most bytes of diff that a check returns.
const DIFF_LIMIT: usize = 1 << 20;
/// Files that are rendered before they are written or compared; bounds the memory in use at once.
const BATCH: usize = 64;

/// Reason why a content could not be rendered.
pub type Problem = Box<dyn std::error::Error + Send + Sync>;

/// Renders the file at an index of a set.
pub type Render<'r> = dyn Fn(usize) -> Result<String, Problem> + Sync + 'r;

/// The files to generate. Each content is rendered on demand, in parallel, so that a large set is never in memory. In a
/// run that writes, the last file is rendered after all others, so that it may be made of what they left behind.
pub struct FileSet<'a> {
    /// Paths of the files: relative, separated by `/`, unique even where case is ignored.
    pub paths: Vec<String>,
    /// Renders the file at an index of `paths`; the text has no keep-markers. If any cannot be rendered, nothing is
    /// written.
    pub render: &'a Render<'a>,
    /// The hash of all inputs of the contents: sets with the same key are equal. Empty: not known.
    pub key: String,
    /// Whether files outside the set are removed; not so when the set may be incomplete.
    pub prune: bool,
}

impl FileSet<'_> {
    /// The content of one file, with the user's blocks of the old one.
    fn content(&self, index: usize, old: &[u8]) -> Result<Vec<u8>, FolderError> {
        let path = &self.paths[index];
        let new =
            (self.render)(index).map_err(|source| FolderError::Render { path: path.clone(), source })?;
        Ok(if keep::applies_to(path) { keep::carry(old, new) } else { new.into_bytes() })
    }
}

/// Result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Files that were not there before.
    pub created: usize,
    /// Files that got a new content.
    pub updated: usize,
    /// Files that are no longer generated and were deleted.
    pub removed: usize,
    /// Files that were current and have not been touched.
    pub unchanged: usize,
    /// Files outside the set that stay: they have a keep-block, pruning is off, or they were edited. Edited ones are
    /// the user's from now on.
    pub kept: Vec<String>,
}

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
    pub(super) fn add(&mut self, path: &str, old: Option<&[u8]>, new: &[u8]) {
        let list = if old.is_none() { &mut self.created } else { &mut self.changed };
        list.push(path.to_string());
        self.diff += &diff::unified(path, old, Some(new));
    }

    /// Adds the changes of another set.
    pub(super) fn extend(&mut self, other: Drift) {
        self.created.extend(other.created);
        self.changed.extend(other.changed);
        self.removed.extend(other.removed);
        self.diff += &other.diff;
    }
}

/// Makes the files in `root` equal to the set. `progress` is called with the number of newly finished files, from any
/// thread.
pub fn sync(root: &Path, files: &FileSet, progress: &(dyn Fn(usize) + Sync)) -> Result<Report, FolderError> {
    if !disk::has_root(root)? {
        path::check(&files.paths)?;
    }
    hold(root)?.sync(files, progress)
}

/// A folder that no other run writes to.
pub struct Held<'a> {
    root: &'a Path,
    /// Whether this run has made it.
    is_new: bool,
    _lock: File,
}

/// Waits until no other run writes to the folder, and makes others wait until the result is dropped. The folder is
/// created if it does not exist.
pub fn hold(root: &Path) -> Result<Held<'_>, FolderError> {
    let is_new = !disk::has_root(root)?;
    if is_new {
        fs::create_dir_all(root).map_err(FolderError::io("create", root))?;
    }
    Ok(Held { root, is_new, _lock: lock::exclusive(root)? })
}

impl Held<'_> {
    /// Does the work of [`sync`]. The lock ends with it, since a folder that was moved to the place of this one has
    /// another.
    pub fn sync(self, files: &FileSet, progress: &(dyn Fn(usize) + Sync)) -> Result<Report, FolderError> {
        path::check(&files.paths)?;
        let filled = if self.is_new { whole::fill(self.root, files, progress)? } else { None };
        filled.map_or_else(|| write(self.root, files, progress), Ok)
    }
}

/// The results of work on files, in parallel; the last file has its turn after all others.
fn in_batches<T: Send>(
    indices: &[usize],
    work: impl Fn(&[usize]) -> Result<Vec<T>, FolderError> + Sync,
) -> Result<Vec<T>, FolderError> {
    let (others, last) = indices.split_at(indices.len().saturating_sub(1));
    let mut done: Vec<T> =
        others.par_chunks(BATCH).map(&work).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    done.extend(work(last)?);
    Ok(done)
}

/// Brings a locked folder to the state of the set.
fn write(root: &Path, files: &FileSet, progress: &(dyn Fn(usize) + Sync)) -> Result<Report, FolderError> {
    whole::clear(root);
    let stage = Stage::open(root)?;
    let plan = Plan::make(root, files)?;
    progress(files.paths.len() - plan.stale.len());
    let rendered = in_batches(&plan.stale, |batch| {
        let mut old = Vec::new();
        let rendered =
            batch.iter().map(|&index| stage.render(&plan.manifest, files, index, &mut old)).collect();
        progress(batch.len());
        rendered
    })?;
    stage.apply(&plan, files, &rendered)?;

    let count = |entry: fn(&Entry) -> bool| rendered.iter().filter(|r| r.is_staged && entry(&r.was)).count();
    let created = count(|was| *was == Entry::Missing);
    let updated = count(|was| *was != Entry::Missing);
    let mut kept: Vec<String> = plan.kept.into_keys().chain(plan.released).collect();
    kept.sort_unstable();
    Ok(Report {
        created,
        updated,
        removed: plan.removed.len(),
        unchanged: files.paths.len() - created - updated,
        kept,
    })
}

/// The files of a folder that are ours, edited or not.
pub fn owned(root: &Path) -> Result<BTreeSet<String>, FolderError> {
    let mut owned = BTreeSet::new();
    for path in Manifest::read(root)?.files.into_keys() {
        if disk::look(&root.join(&path))? != Entry::Missing {
            owned.insert(path);
        }
    }
    Ok(owned)
}

/// The files of a folder that `sync` wrote and nobody has changed since.
pub fn unedited(root: &Path) -> Result<BTreeSet<String>, FolderError> {
    let manifest = Manifest::read(root)?;
    let mut content = Vec::new();
    let mut same = BTreeSet::new();
    for (path, hash) in &manifest.files {
        disk::read(&root.join(path), &mut content)?;
        if manifest::hash(&content) == *hash {
            same.insert(path.clone());
        }
    }
    Ok(same)
}

/// Reports the changes of `sync` with a prefix before each path, and fails where `sync` would. Writes nothing.
pub fn check(root: &Path, prefix: &str, files: &FileSet) -> Result<Drift, FolderError> {
    path::check(&files.paths)?;
    let _lock = if disk::has_root(root)? { lock::shared(root) } else { None };
    let plan = Plan::make(root, files)?;
    let render = plan.stale.iter().map(|&index| (files.paths[index].as_str(), Some(index)));
    let remove = plan.removed.keys().map(|path| (path.as_str(), None));
    let mut work: Vec<(&str, Option<usize>)> = render.chain(remove).collect();
    work.sort_unstable();

    let mut drift = Drift::default();
    let mut diff = diff::Diff::new(DIFF_LIMIT);
    for batch in work.chunks(BATCH) {
        let is_full = diff.is_full();
        let changes: Vec<Option<(Entry, String)>> = batch
            .par_iter()
            .map_init(Vec::new, |old, &(path, index)| {
                let was = disk::read(&root.join(path), old)?;
                let new = index.map(|index| files.content(index, old)).transpose()?;
                let old = matches!(was, Entry::File(_)).then_some(old.as_slice());
                let is_current = old == new.as_deref();
                let shown = format!("{prefix}{path}");
                let text = if is_full || is_current {
                    String::new()
                } else {
                    diff::unified(&shown, old, new.as_deref())
                };
                Ok((!is_current).then_some((was, text)))
            })
            .collect::<Result<_, FolderError>>()?;
        for (&(path, index), change) in batch.iter().zip(&changes) {
            let Some((was, text)) = change else { continue };
            diff.push(text);
            let path = format!("{prefix}{path}");
            match (index, was) {
                (None, _) => drift.removed.push(path),
                (Some(_), Entry::Missing) => drift.created.push(path),
                (Some(_), _) => drift.changed.push(path),
            }
        }
    }
    drift.diff = diff.finish();
    Ok(drift)
}

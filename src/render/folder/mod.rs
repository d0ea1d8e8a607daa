//! Writes generated text files into a folder, and owns only those.
//!
//! 1. [`plan`] looks at everything by reading: the files to render, the files to remove, and obstacles.
//! 2. [`stage`] writes every changed content beside the manifest, records in the [`manifest`] the files that will be
//!    ours, and only then moves the files to their places.
//!
//! An error before that changes nothing; a kill at any moment leaves each file old or new, and every one of them known
//! as ours. It cannot defend against a process that replaces folders by symbolic links meanwhile.

mod disk;
mod manifest;
mod plan;
mod stage;
#[cfg(all(test, unix))]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use rayon::prelude::*;
use similar::TextDiff;

use disk::Entry;
use manifest::{Manifest, check_paths, folders_of};
use plan::Plan;
use stage::Stage;

use super::templates::TemplateError;

pub use disk::{lock, write_whole};
pub use manifest::{FolderError, MANIFEST};

/// Bytes of a diff from which on no more files are added to it.
const DIFF_LIMIT: usize = 1 << 20;
/// Time after which the diff of one file becomes coarser.
const DIFF_TIME: Duration = Duration::from_secs(5);
/// Files that are rendered before they are written or compared; bounds the memory in use at once.
const BATCH: usize = 64;

/// A file: its path and its bytes.
pub type Content = (String, Vec<u8>);

/// Reason why a content could not be rendered.
pub type Problem = Box<dyn std::error::Error + Send + Sync>;

/// Renders the file at an index of a set.
pub type Render<'r> = dyn Fn(usize) -> Result<String, Problem> + Sync + 'r;

/// The files to generate. Each content is rendered on demand, in parallel, so that a large set is never in memory.
pub struct FileSet<'a> {
    /// Paths of the files: relative, separated by `/`, unique even where case is ignored.
    pub paths: Vec<String>,
    /// Renders the file at an index of `paths`; if any cannot be rendered, nothing is
    /// written.
    pub render: &'a Render<'a>,
    /// The hash of all inputs of the contents: sets with the same key are equal. Empty: not known.
    pub key: String,
    /// Whether files outside the set are removed; not so when the set may be incomplete.
    pub prune: bool,
}

impl FileSet<'_> {
    /// The content of one file.
    fn content(&self, index: usize) -> Result<Vec<u8>, FolderError> {
        let failed = |source| FolderError::Render { path: self.paths[index].clone(), source };
        Ok((self.render)(index).map_err(failed)?.into_bytes())
    }
}

/// Files to generate, each with its path and a function that makes its content.
pub struct Files<'a> {
    paths: Vec<String>,
    makers: Vec<Box<dyn Fn() -> Result<String, TemplateError> + Send + Sync + 'a>>,
    /// As that of a set.
    pub(crate) key: String,
    prune: bool,
}

impl<'a> Files<'a> {
    /// No files; `prune` is that of the set.
    pub(crate) fn new(prune: bool) -> Self {
        Self { paths: Vec::new(), makers: Vec::new(), key: String::new(), prune }
    }

    /// Adds a file.
    pub(crate) fn push(
        &mut self,
        path: String,
        make: impl Fn() -> Result<String, TemplateError> + Send + Sync + 'a,
    ) {
        self.paths.push(path);
        self.makers.push(Box::new(make));
    }

    /// Does something with the set of these files.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&FileSet<'_>) -> T) -> T {
        let render = |index: usize| Ok(self.makers[index]()?);
        let (paths, key) = (self.paths.clone(), self.key.clone());
        act(&FileSet { paths, render: &render, key, prune: self.prune })
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
    /// Files outside the set that stay: pruning is off, or they were edited. Edited ones are
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
        self.diff += &unified(path, old, Some(new));
    }

    /// Adds the changes of another set.
    pub(super) fn extend(&mut self, other: Drift) {
        self.created.extend(other.created);
        self.changed.extend(other.changed);
        self.removed.extend(other.removed);
        self.diff += &other.diff;
    }
}

/// Makes the files in `root` equal to the set; the folder is created if it does not exist. `progress` is called with the
/// number of newly finished files, from any thread.
pub fn sync(root: &Path, files: &FileSet, progress: &(dyn Fn(usize) + Sync)) -> Result<Report, FolderError> {
    check_paths(&files.paths)?;
    let _lock = lock(root)?;
    write(root, files, progress)
}

/// The results of work on files, in parallel.
fn in_batches<T: Send>(
    indices: &[usize],
    work: impl Fn(&[usize]) -> Result<Vec<T>, FolderError> + Send + Sync,
) -> Result<Vec<T>, FolderError> {
    let done: Vec<Vec<T>> = indices.par_chunks(BATCH).map(work).collect::<Result<_, _>>()?;
    Ok(done.into_iter().flatten().collect())
}

/// Brings a locked folder to the state of the set.
pub(super) fn write(
    root: &Path,
    files: &FileSet,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Report, FolderError> {
    check_paths(&files.paths)?;
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
    check_paths(&files.paths)?;
    let _lock = disk::lock_shared(root)?;
    let plan = Plan::make(root, files)?;
    let render = plan.stale.iter().map(|&index| (files.paths[index].as_str(), Some(index)));
    let remove = plan.removed.keys().map(|path| (path.as_str(), None));
    let mut work: Vec<(&str, Option<usize>)> = render.chain(remove).collect();
    work.sort_unstable();

    let (mut drift, mut left_out) = (Drift::default(), 0);
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
            match drift.diff.len() < DIFF_LIMIT {
                true => drift.diff += &text,
                false => left_out += 1,
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

/// The unified diff of one file; `None` is a file that does not exist.
fn unified(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> String {
    let name = |side: &str, content: Option<&[u8]>| match content {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_string(),
    };
    let (from, to) = (name("a", old), name("b", new));
    let old = String::from_utf8_lossy(old.unwrap_or_default());
    let new = String::from_utf8_lossy(new.unwrap_or_default());
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(&*old, &*new);
    diff.unified_diff().header(&from, &to).to_string()
}

/// The contents of a set, and the manifest that a run would leave beside them, for a folder that is on no disk here.
pub fn contents(files: &FileSet) -> Result<Vec<Content>, FolderError> {
    check_paths(&files.paths)?;
    let render = |batch: &[usize]| {
        batch.iter().map(|&index| Ok((files.paths[index].clone(), files.content(index)?))).collect()
    };
    let all: Vec<usize> = (0..files.paths.len()).collect();
    let mut contents: Vec<Content> = in_batches(&all, render)?;
    let mut manifest = Manifest::new(&files.key);
    manifest.dirs =
        folders_of(files.paths.iter().map(String::as_str)).into_iter().map(String::from).collect();
    manifest.files = contents.iter().map(|(path, content)| (path.clone(), manifest::hash(content))).collect();
    contents.push((MANIFEST.to_string(), manifest.to_bytes()));
    Ok(contents)
}

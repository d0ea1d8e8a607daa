//! Writes generated text files into a folder, and owns only those.
//!
//! 1. [`lock`](mod@lock) keeps other runs out.
//! 2. A [`plan`] looks at everything by reading ([`disk`]): the files to render, the files to remove, and obstacles.
//! 3. [`stage`] writes every changed content beside the manifest, records in the [`manifest`] the files that will be
//!    ours, and only then moves the files to their places.
//! 4. [`drift`] shows what a run would change, without changing it.
//!
//! An error before that changes nothing; a kill at any moment leaves each file old or new, and every one of them known
//! as ours. It cannot defend against a process that replaces folders by symbolic links meanwhile.

mod diff;
mod disk;
mod drift;
pub(crate) mod error;
mod files;
mod lock;
mod manifest;
mod paths;
mod plan;
mod stage;
#[cfg(all(test, unix))]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;

use rayon::prelude::*;

use disk::Entry;
use manifest::Manifest;
use paths::{check_paths, folders_of};
use plan::Plan;
use stage::{Rendered, Stage};

pub use disk::{UNFINISHED, replace_whole, write_whole};
pub use drift::{Drift, check};
pub use error::{FolderError, Problem};
pub use files::{Content, Files};
pub use lock::lock;
pub use paths::MANIFEST;

/// Result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
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
    /// Files that were edited since an earlier run, and got a new content.
    pub replaced: Vec<String>,
}

/// Makes the files in `root` equal to the set; the folder is created if it does not exist. `progress` is called with the
/// number of newly finished files, from any thread.
pub fn sync(
    root: &Path,
    files: &Files<'_>,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Written, FolderError> {
    check_paths(&files.paths)?;
    let _lock = lock(root)?;
    write(root, files, progress)
}

/// Brings a locked folder to the state of the set.
pub(super) fn write(
    root: &Path,
    files: &Files<'_>,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Written, FolderError> {
    check_paths(&files.paths)?;
    let stage = Stage::open(root)?;
    let plan = Plan::make(root, files)?;
    progress(files.paths.len() - plan.stale.len());
    let render = |old: &mut Vec<u8>, &index: &usize| {
        let rendered = stage.render(&plan.manifest, files, index, old);
        progress(1);
        rendered
    };
    let rendered: Vec<Rendered> =
        plan.stale.par_iter().map_init(Vec::new, render).collect::<Result<_, _>>()?;
    stage.apply(&plan, files, &rendered)?;

    let staged = || rendered.iter().filter(|rendered| rendered.is_staged);
    let created = staged().filter(|rendered| rendered.was == Entry::Missing).count();
    let updated = staged().count() - created;
    let mut kept: Vec<String> = plan.kept.into_keys().chain(plan.released).collect();
    kept.sort_unstable();
    let edited = staged().filter(|rendered| rendered.was_edited());
    let replaced = edited.map(|rendered| files.paths[rendered.index].clone()).collect();
    Ok(Written {
        created,
        updated,
        removed: plan.removed.len(),
        unchanged: files.paths.len() - created - updated,
        kept,
        replaced,
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

/// The contents of a set, and the manifest that a run would leave beside them, for a folder that is on no disk here.
pub fn contents(files: &Files<'_>) -> Result<Vec<Content>, FolderError> {
    check_paths(&files.paths)?;
    let paths = files.paths.par_iter().enumerate();
    let content = |(index, path): (usize, &String)| Ok((path.clone(), files.content(index)?));
    let mut contents: Vec<Content> = paths.map(content).collect::<Result<_, FolderError>>()?;
    let mut manifest = Manifest::new(&files.key);
    manifest.dirs =
        folders_of(files.paths.iter().map(String::as_str)).into_iter().map(String::from).collect();
    manifest.files = contents.iter().map(|(path, content)| (path.clone(), manifest::hash(content))).collect();
    contents.push((MANIFEST.to_string(), manifest.to_bytes()));
    Ok(contents)
}

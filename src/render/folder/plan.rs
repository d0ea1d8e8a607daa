//! The plan of a run, made by reading only: the files to render, the files to remove, and the obstacles.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use rayon::prelude::*;

use super::FileSet;
use super::disk::{self, Entry};
use super::manifest::{self, FolderError, Hashes, Manifest, folders_of};

/// The state of a folder against a set of files.
pub(super) struct Plan {
    /// The manifest on disk.
    pub(super) manifest: Manifest,
    /// Indexes of the files that have to be rendered and compared; all others are current.
    pub(super) stale: Vec<usize>,
    /// Files to remove, with their hashes.
    pub(super) removed: Hashes,
    /// Files that are no longer generated but stay ours, with their hashes, since pruning is off.
    pub(super) kept: Hashes,
    /// Edited files that are no longer generated. They are the user's from now on, so that a later run reports them
    /// as obstacles instead of overwriting them.
    pub(super) released: Vec<String>,
    /// Folders to create, outer ones first.
    pub(super) dirs: Vec<String>,
}

impl Plan {
    /// Looks at everything before anything is written; `Occupied` names all obstacles.
    pub(super) fn make(root: &Path, files: &FileSet) -> Result<Plan, FolderError> {
        let manifest = Manifest::read(root)?;
        let paths = || files.paths.iter().map(String::as_str);
        let wanted: HashSet<&str> = paths().collect();
        let unwanted: Vec<&str> =
            manifest.files.keys().map(String::as_str).filter(|path| !wanted.contains(path)).collect();
        let folders = look_at_folders(root, paths().chain(unwanted.iter().copied()))?;

        let states: Vec<State> = files
            .paths
            .par_iter()
            .map_init(Vec::new, |content, path| State::of(root, path, &manifest, &files.key, content))
            .collect::<Result<_, _>>()?;
        let (mut stale, mut occupied) = (Vec::new(), BTreeSet::new());
        for (index, (state, path)) in states.into_iter().zip(&files.paths).enumerate() {
            match state {
                State::Current => {}
                State::Stale => stale.push(index),
                State::Taken => drop(occupied.insert(path.clone())),
            }
        }
        let orphans: Vec<Orphan> = unwanted
            .par_iter()
            .map_init(Vec::new, |content, path| Orphan::of(root, path, &manifest, files.prune, content))
            .collect::<Result<_, _>>()?;
        let (mut removed, mut kept, mut released) = (Hashes::new(), Hashes::new(), Vec::new());
        for (path, orphan) in unwanted.into_iter().map(str::to_string).zip(orphans) {
            match orphan {
                Orphan::Gone => {}
                Orphan::Remove(hash) => drop(removed.insert(path, hash)),
                Orphan::Keep(hash) => drop(kept.insert(path, hash)),
                Orphan::Release => released.push(path),
            }
        }
        let mut dirs = Vec::new();
        for folder in folders_of(paths()) {
            match folders.get(folder) {
                Some(Entry::Folder) => continue,
                Some(Entry::File(_) | Entry::Other) if !removed.contains_key(folder) => {
                    occupied.insert(folder.to_string());
                }
                _ => dirs.push(folder.to_string()),
            }
        }
        if !occupied.is_empty() {
            return Err(FolderError::Occupied { root: root.into(), paths: occupied.into_iter().collect() });
        }
        Ok(Plan { manifest, stale, removed, kept, released, dirs })
    }
}

/// State of a file of the set on disk.
enum State {
    Current,
    Stale,
    /// The path holds something that is not ours to replace.
    Taken,
}

impl State {
    fn of(
        root: &Path,
        path: &str,
        manifest: &Manifest,
        key: &str,
        content: &mut Vec<u8>,
    ) -> Result<State, FolderError> {
        let place = root.join(path);
        let Some(known) = manifest.files.get(path) else {
            return Ok(if disk::look(&place)? == Entry::Missing { State::Stale } else { State::Taken });
        };
        let is_same_set = !key.is_empty() && manifest.key == key;
        let entry = if is_same_set { disk::read(&place, content)? } else { disk::look(&place)? };
        Ok(match entry {
            Entry::File(_) if is_same_set && manifest::hash(content) == *known => State::Current,
            Entry::File(_) | Entry::Missing | Entry::Link => State::Stale,
            Entry::Folder | Entry::Other => State::Taken,
        })
    }
}

/// The use of a file that is no longer generated.
enum Orphan {
    Gone,
    /// With its hash, as those that stay.
    Remove(String),
    Keep(String),
    /// It is the user's.
    Release,
}

impl Orphan {
    fn of(
        root: &Path,
        path: &str,
        manifest: &Manifest,
        prune: bool,
        content: &mut Vec<u8>,
    ) -> Result<Self, FolderError> {
        let entry = disk::read(&root.join(path), content)?;
        let hash = manifest::hash(content);
        let is_ours = matches!(entry, Entry::File(_)) && manifest.wrote(path, &hash);
        Ok(match (entry, is_ours) {
            (Entry::Missing, _) => Orphan::Gone,
            (_, true) if prune => Orphan::Remove(hash),
            (_, true) => Orphan::Keep(hash),
            (_, false) if prune => Orphan::Release,
            _ => Orphan::Keep(manifest.files.get(path).cloned().unwrap_or_default()),
        })
    }
}

/// The kinds of the folders of these paths. A symbolic link among them could lead anywhere and is an error.
fn look_at_folders<'a>(
    root: &Path,
    paths: impl Iterator<Item = &'a str>,
) -> Result<BTreeMap<String, Entry>, FolderError> {
    let mut found = BTreeMap::new();
    for folder in folders_of(paths) {
        let path = root.join(folder);
        match disk::look(&path)? {
            Entry::Link => return Err(FolderError::Symlink { path }),
            entry => drop(found.insert(folder.to_string(), entry)),
        }
    }
    Ok(found)
}

//! The state of a folder against a set of files. Making a plan only reads.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use rayon::prelude::*;

use super::disk::{self, Entry};
use super::error::FolderError;
use super::files::Files;
use super::manifest::{self, Hashes, Manifest};
use super::paths::folders_of;

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

/// State of a file of the set on disk.
enum State {
    Current,
    Stale,
    /// The path holds something that is not ours to replace.
    Taken,
}

impl Plan {
    /// Looks at everything before anything is written; `Occupied` names all obstacles.
    pub(super) fn make(root: &Path, files: &Files<'_>) -> Result<Plan, FolderError> {
        let manifest = Manifest::read(root)?;
        let paths = || files.paths.iter().map(String::as_str);
        let wanted: HashSet<&str> = paths().collect();
        let unwanted: Vec<&String> =
            manifest.files.keys().filter(|path| !wanted.contains(path.as_str())).collect();
        let mut folders: BTreeMap<&str, Entry> = BTreeMap::new();
        for folder in folders_of(paths().chain(unwanted.iter().map(|path| path.as_str()))) {
            let path = root.join(folder);
            match disk::look(&path)? {
                // A symbolic link on the way could lead anywhere.
                Entry::Link => return Err(FolderError::Symlink { path }),
                entry => drop(folders.insert(folder, entry)),
            }
        }
        let states: Vec<State> = files
            .paths
            .par_iter()
            .map_init(Vec::new, |content, path| State::of(root, path, &manifest, &files.key, content))
            .collect::<Result<_, _>>()?;
        let is = |state: fn(&State) -> bool| states.iter().enumerate().filter(move |(_, of)| state(of));
        let stale = is(|state| matches!(state, State::Stale)).map(|(index, _)| index).collect();
        let taken = is(|state| matches!(state, State::Taken)).map(|(index, _)| files.paths[index].clone());
        let mut occupied: BTreeSet<String> = taken.collect();

        let mut removed = Hashes::new();
        let mut kept = Hashes::new();
        let mut released = Vec::new();
        let mut content = Vec::new();
        for path in unwanted {
            let entry = disk::read(&root.join(path), &mut content)?;
            if entry == Entry::Missing {
                continue;
            }
            let hash = manifest::hash(&content);
            let is_ours = matches!(entry, Entry::File(_)) && manifest.wrote(path, &hash);
            match (files.prune, is_ours) {
                (true, true) => drop(removed.insert(path.clone(), hash)),
                (true, false) => released.push(path.clone()),
                (false, true) => drop(kept.insert(path.clone(), hash)),
                (false, false) => drop(kept.insert(path.clone(), manifest.files[path].clone())),
            }
        }
        let mut dirs = Vec::new();
        for folder in folders_of(paths()) {
            match folders.get(folder) {
                Some(Entry::Folder) => {}
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

impl State {
    /// The state of one file. It is only read where the manifest says that it may be current.
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

//! The plan of a run, made by reading only: the files to render, the files to remove, and the obstacles.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use rayon::prelude::*;

use super::disk::{self, Entry};
use super::error::FolderError;
use super::manifest::{self, Hashes, Manifest};
use super::{FileSet, keep, path};

/// The state of a folder against a set of files.
pub(super) struct Plan {
    /// The manifest on disk.
    pub(super) manifest: Manifest,
    /// Indexes of the files that have to be rendered and compared; all others are current.
    pub(super) stale: Vec<usize>,
    /// Files to remove, with their hashes.
    pub(super) removed: Hashes,
    /// Files that are no longer generated but stay ours, with their hashes: they have a keep-block, or pruning is
    /// off.
    pub(super) kept: Hashes,
    /// Edited files that are no longer generated. They are the user's from now on, so that a later run reports them
    /// as obstacles instead of overwriting them.
    pub(super) released: Vec<String>,
    /// Folders to create, outer ones first.
    pub(super) dirs: Vec<String>,
}

/// State of a file that is no longer generated.
enum Orphan {
    Gone,
    Ours(String),
    Block(String),
    Edited,
}

impl Plan {
    /// Looks at everything before anything is written; `Occupied` names all obstacles.
    pub(super) fn make(root: &Path, files: &FileSet) -> Result<Plan, FolderError> {
        let mut manifest = Manifest::read(root)?;
        let wanted: HashSet<&str> = files.paths.iter().map(String::as_str).collect();
        let mut unwanted: BTreeSet<String> =
            manifest.files.keys().filter(|path| !wanted.contains(path.as_str())).cloned().collect();
        let unwanted_parents = unwanted.iter().map(String::as_str);
        let folders = look_at_folders(root, files.paths.iter().map(String::as_str).chain(unwanted_parents))?;

        let looked: Vec<State> = files
            .paths
            .par_iter()
            .map_init(Vec::new, |content, path| State::of(root, path, &manifest, &files.key, content))
            .collect::<Result<_, _>>()?;
        let (mut stale, mut occupied) = (Vec::new(), BTreeSet::new());
        let twins: HashMap<String, String> = match looked.iter().any(|state| matches!(state, State::Taken)) {
            true => unwanted.iter().map(|path| (path::fold(path), path.clone())).collect(),
            false => HashMap::new(),
        };
        for (index, (state, path)) in looked.iter().zip(&files.paths).enumerate() {
            match state {
                State::Current => continue,
                State::Stale => {}
                State::Taken => match twins.get(&path::fold(path)) {
                    Some(old) if disk::is_one_file(&root.join(old), &root.join(path)) => {
                        unwanted.remove(old);
                        manifest.rename(old, path);
                    }
                    _ => drop(occupied.insert(path.clone())),
                },
            }
            stale.push(index);
        }

        let (mut removed, mut kept, mut released) =
            sort_out(root, unwanted.into_iter().collect(), &manifest)?;
        if !files.prune {
            kept.append(&mut removed);
            kept.extend(released.drain(..).map(|path| {
                let hash = manifest.files.get(&path).cloned().unwrap_or_default();
                (path, hash)
            }));
        }
        let needed = folders_of(files.paths.iter().map(String::as_str));
        let mut dirs = Vec::new();
        for folder in needed {
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

/// Files that are no longer generated: those to remove, those to keep, and those that are the user's.
fn sort_out(
    root: &Path,
    unwanted: Vec<String>,
    manifest: &Manifest,
) -> Result<(Hashes, Hashes, Vec<String>), FolderError> {
    let orphans: Vec<Orphan> = unwanted
        .par_iter()
        .map_init(Vec::new, |content, path| Orphan::of(root, path, manifest, content))
        .collect::<Result<_, _>>()?;
    let (mut removed, mut kept, mut released) = (Hashes::new(), Hashes::new(), Vec::new());
    for (path, orphan) in unwanted.into_iter().zip(orphans) {
        match orphan {
            Orphan::Gone => {}
            Orphan::Ours(hash) => drop(removed.insert(path, hash)),
            Orphan::Block(hash) => drop(kept.insert(path, hash)),
            Orphan::Edited => released.push(path),
        }
    }
    Ok((removed, kept, released))
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

impl Orphan {
    fn of(root: &Path, path: &str, manifest: &Manifest, content: &mut Vec<u8>) -> Result<Self, FolderError> {
        Ok(match disk::read(&root.join(path), content)? {
            Entry::Missing => Orphan::Gone,
            Entry::File(_) => {
                let hash = manifest::hash(content);
                let is_ours = manifest.wrote(path, &hash);
                if keep::applies_to(path) && keep::has_block(content) {
                    let known = || manifest.files.get(path).cloned().unwrap_or_default();
                    Orphan::Block(if is_ours { hash } else { known() })
                } else if is_ours {
                    Orphan::Ours(hash)
                } else {
                    Orphan::Edited
                }
            }
            _ => Orphan::Edited,
        })
    }
}

/// Every folder of these paths, outer ones first.
pub(super) fn folders_of<'a>(paths: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut folders = BTreeSet::new();
    for path in paths {
        for folder in path::ancestors(path) {
            if !folders.insert(folder) {
                break;
            }
        }
    }
    folders
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

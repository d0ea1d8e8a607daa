//! The seal of a folder, kept outside of it: the facts of its files that change with their contents, as they were when a run
//! read all files and found them current. While the facts are the same, no file is read.

use std::fs;
use std::path::Path;

use rayon::prelude::*;

use super::Report;
use super::disk::{self, Entry};
use super::manifest::Manifest;
use super::reserved::{MANIFEST, STAGE};
use crate::catalog::{Catalog, DerivedKey};
use crate::sources::FileState;

/// Fewer files are read faster than a seal is kept.
const MIN_FILES: usize = 256;

/// The hash of the key of the set and the facts of all files, then their paths, one a line.
struct Seal {
    bytes: Vec<u8>,
    is_settled: bool,
}

/// Runs `write`, which brings the folder to the set with this key, unless the folder is sealed as current.
pub fn unless_sealed<E>(
    root: &Path,
    key: &str,
    catalog: &Catalog,
    progress: &(dyn Fn(usize) + Sync),
    write: impl FnOnce() -> Result<Report, E>,
) -> Result<Report, E> {
    // Elsewhere an edit may keep all facts of a file.
    let Some(id) = id(root).filter(|_| cfg!(unix) && catalog.complete) else { return write() };
    let current = |files: usize| Report { unchanged: files, ..Report::default() };
    if let Some(known) = catalog.derived(&id)
        && let Some(paths) = known.get(blake3::OUT_LEN..).and_then(|paths| str::from_utf8(paths).ok())
        && Seal::of(root, key, paths).is_some_and(|now| now.bytes == known)
    {
        // The last one is the manifest.
        let files = paths.lines().count().saturating_sub(1);
        progress(files);
        return Ok(current(files));
    }
    // The facts are older than the look at the contents: they tell a change in between.
    let files =
        Manifest::read(root).ok().filter(|manifest| manifest.key == key).map(|manifest| manifest.files);
    let seal = files.filter(|files| files.len() >= MIN_FILES).and_then(|files| {
        let paths: Vec<&str> = files.keys().map(String::as_str).chain([MANIFEST]).collect();
        Some((Seal::of(root, key, &paths.join("\n"))?, current(files.len())))
    });
    let report = write()?;
    if let Some((seal, current)) = seal
        && seal.is_settled
        && report == current
    {
        catalog.keep_derived(&id, &seal.bytes);
    }
    Ok(report)
}

/// One for each folder: a new seal takes the place of the old one.
fn id(root: &Path) -> Option<DerivedKey> {
    let root = std::path::absolute(root).ok()?;
    Some(blake3::hash(format!("seal {root:?}").as_bytes()))
}

impl Seal {
    /// The seal of the files with these paths; `None` where one is missing, or a killed run has left its stage.
    fn of(root: &Path, key: &str, paths: &str) -> Option<Self> {
        if disk::look(&root.join(STAGE)).ok()? != Entry::Missing {
            return None;
        }
        let lines: Vec<&str> = paths.lines().collect();
        let state = |path: &&str| Some(FileState::of(&fs::symlink_metadata(root.join(path)).ok()?));
        let states: Vec<FileState> = lines.par_iter().map(state).collect::<Option<_>>()?;
        let is_settled = states.iter().all(|state| state.is_settled);
        let facts = blake3::hash(&postcard::to_allocvec(&(key, &states)).ok()?);
        Some(Self { bytes: [facts.as_bytes(), paths.as_bytes()].concat(), is_settled })
    }
}

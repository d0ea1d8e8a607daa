//! Writes by way of a staging folder: contents go there first and are moved to their places whole.
//!
//! A killed process leaves files in the staging folder, which the next run clears, and never half a file anywhere else: a
//! rename is atomic, and earlier writes are in the system's memory, which outlives the process. Only a loss of power can
//! damage a file; the manifest is synced to disk, so that the next run finds the damage by the hash and repairs it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::disk::{Entry, keep_mode, look, read};
use super::error::FolderError;
use super::files::Files;
use super::manifest::{self, Manifest};
use super::paths::{MANIFEST, STAGE, folders_of};
use super::plan::Plan;

/// The name of the manifest in the staging folder.
const MANIFEST_STAGED: &str = "manifest";

/// The staging folder; made when first written to, gone when dropped.
pub(super) struct Stage<'a> {
    root: &'a Path,
    dir: PathBuf,
}

/// A rendered file, staged if it differs from the one on disk.
pub(super) struct Rendered {
    pub(super) index: usize,
    hash: String,
    pub(super) is_staged: bool,
    /// Kind of the entry at its place before.
    pub(super) was: Entry,
    /// The hash of the replaced content, if it was ours.
    replaces: Option<String>,
}

impl Rendered {
    /// Returns true if somebody has edited the file since toolcrib wrote it.
    pub(super) fn was_edited(&self) -> bool {
        matches!(self.was, Entry::File(_)) && self.replaces.is_none()
    }
}

impl<'a> Stage<'a> {
    /// Clears what a killed run left. The caller holds the lock.
    pub(super) fn open(root: &'a Path) -> Result<Self, FolderError> {
        let dir = root.join(STAGE);
        match look(&dir)? {
            Entry::Missing => {}
            Entry::Folder => clear(&dir).map_err(FolderError::io("clear", &dir))?,
            _ => return Err(FolderError::Occupied { root: root.into(), paths: vec![STAGE.into()] }),
        }
        Ok(Stage { root, dir })
    }

    /// Renders one file, and stages it unless it is current.
    pub(super) fn render(
        &self,
        manifest: &Manifest,
        files: &Files<'_>,
        index: usize,
        old: &mut Vec<u8>,
    ) -> Result<Rendered, FolderError> {
        let path = &files.paths[index];
        old.clear();
        let was = if manifest.files.contains_key(path) {
            read(&self.root.join(path), old)?
        } else {
            Entry::Missing
        };
        let content = files.content(index)?;
        let is_staged = !matches!(was, Entry::File(_)) || *old != content;
        if is_staged {
            let target = self.root.join(path);
            let write = || {
                let mut file = self.create(&self.numbered(index))?;
                if matches!(was, Entry::File(_)) {
                    keep_mode(&file, &target)?;
                }
                file.write_all(&content)
            };
            write().map_err(FolderError::io("write", &target))?;
        }
        let is_replaced = is_staged && was != Entry::Missing;
        let replaces = is_replaced.then(|| manifest::hash(old)).filter(|hash| manifest.wrote(path, hash));
        Ok(Rendered { index, hash: manifest::hash(&content), is_staged, was, replaces })
    }

    /// Brings the folder from its old state to the new one. Killed anywhere in here, it is repaired by the next run.
    pub(super) fn apply(
        &self,
        plan: &Plan,
        files: &Files<'_>,
        rendered: &[Rendered],
    ) -> Result<(), FolderError> {
        let Plan { manifest: old, kept, removed, .. } = plan;
        if rendered.is_empty()
            && removed.is_empty()
            && old.key == files.key
            && old.files.len() == files.paths.len() + kept.len()
        {
            return Ok(());
        }
        let mut next = Manifest::new(&files.key);
        next.files.clone_from(kept);
        for path in &files.paths {
            next.files.extend(old.files.get(path).map(|hash| (path.clone(), hash.clone())));
        }
        next.files.extend(rendered.iter().map(|r| (files.paths[r.index].clone(), r.hash.clone())));
        let needed = folders_of(next.files.keys().map(String::as_str));
        next.dirs =
            old.dirs.iter().chain(&plan.dirs).filter(|dir| needed.contains(dir.as_str())).cloned().collect();

        let staged: Vec<&Rendered> = rendered.iter().filter(|r| r.is_staged).collect();
        if !staged.is_empty() {
            let mut journal = Manifest { key: String::new(), ..next.clone() };
            journal.files.extend(removed.iter().map(|(path, hash)| (path.clone(), hash.clone())));
            journal.dirs.extend(old.dirs.iter().cloned());
            let replaces = |r: &&Rendered| Some((files.paths[r.index].clone(), r.replaces.clone()?));
            journal.replacing = staged.iter().filter_map(replaces).collect();
            self.record(&journal)?;
        }
        // Files are removed first: an old file may be in the place of a new folder, or differ from a new name in case
        // only.
        for path in removed.keys().map(|path| self.root.join(path)) {
            let done = unless(fs::remove_file(&path), io::ErrorKind::NotFound);
            done.map_err(FolderError::io("remove", &path))?;
        }
        for dir in plan.dirs.iter().map(|dir| self.root.join(dir)) {
            let done = unless(fs::create_dir(&dir), io::ErrorKind::AlreadyExists);
            done.map_err(FolderError::io("create", &dir))?;
        }
        for &&Rendered { index, .. } in &staged {
            let target = self.root.join(&files.paths[index]);
            fs::rename(self.numbered(index), &target).map_err(FolderError::io("write", &target))?;
        }
        // Inner folders come first; a folder with files of the user is no longer ours.
        for dir in old.dirs.iter().rev().filter(|dir| !next.dirs.contains(*dir)) {
            let _ = fs::remove_dir(self.root.join(dir));
        }
        if !staged.is_empty() || next != *old { self.record(&next) } else { Ok(()) }
    }

    /// Replaces the manifest; it is on disk when this returns.
    fn record(&self, manifest: &Manifest) -> Result<(), FolderError> {
        let path = self.dir.join(MANIFEST_STAGED);
        let target = self.root.join(MANIFEST);
        let write = || {
            let mut file = self.create(&path)?;
            file.write_all(&manifest.to_bytes())?;
            file.sync_data()?;
            drop(file);
            fs::rename(&path, &target)
        };
        write().map_err(FolderError::io("write", &target))
    }

    fn numbered(&self, number: usize) -> PathBuf {
        self.dir.join(number.to_string())
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        match File::create_new(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                unless(fs::create_dir(&self.dir), io::ErrorKind::AlreadyExists)?;
                File::create_new(path)
            }
            other => other,
        }
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        // The next run removes leftovers that cannot be removed now.
        let _ = clear(&self.dir);
    }
}

/// Removes the leftovers of runs in a staging folder, and the folder unless it holds something else.
fn clear(dir: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let is_staged = |name: &str| name == MANIFEST_STAGED || name.bytes().all(|b| b.is_ascii_digit());
        if name.to_str().is_some_and(is_staged) && entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    unless(fs::remove_dir(dir), io::ErrorKind::DirectoryNotEmpty)
}

/// The result, where one kind of error is as good as success.
fn unless(result: io::Result<()>, harmless: io::ErrorKind) -> io::Result<()> {
    result.or_else(|error| if error.kind() == harmless { Ok(()) } else { Err(error) })
}

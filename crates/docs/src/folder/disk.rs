//! The folder on disk: looked at without ever following a symbolic link in it, locked for one writer at a time, and written
//! by way of a staging folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::manifest::{self, FolderError, MANIFEST, Manifest, STAGE, folders_of};
use super::{Files, Plan};

/// Kind of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// Nothing.
    Missing,
    /// A regular file and its size.
    File(u64),
    /// A folder.
    Folder,
    /// A symbolic link to anything or nothing.
    Link,
    /// A device, a pipe or the like; reading it could wait forever.
    Other,
}

/// The kind of a path; a symbolic link is not followed.
pub(super) fn look(path: &Path) -> Result<Entry, FolderError> {
    use io::ErrorKind::{NotADirectory, NotFound};
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(Entry::Missing),
        Err(error) => return Err(FolderError::io("read", path)(error)),
    };
    let kind = meta.file_type();
    Ok(if kind.is_file() {
        Entry::File(meta.len())
    } else if kind.is_dir() {
        Entry::Folder
    } else if kind.is_symlink() {
        Entry::Link
    } else {
        Entry::Other
    })
}

/// Reads a regular file into `content`, which stays empty for anything else.
pub(super) fn read(path: &Path, content: &mut Vec<u8>) -> Result<Entry, FolderError> {
    content.clear();
    let entry = look(path)?;
    if let Entry::File(size) = entry {
        // With the size known, a file takes three system calls; they are most of the time of a run that changes nothing.
        let reserved = content.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX));
        let read = reserved.map_err(io::Error::from).and_then(|()| File::open(path));
        read.and_then(|file| file.take(size).read_to_end(content)).map_err(FolderError::io("read", path))?;
    }
    Ok(entry)
}

/// The beginning of the name of a file that is being written.
pub const UNFINISHED: &str = ".toolcrib-tmp-";

/// Writes one file of the user's folder, whole or not at all: it is written beside its place and moved there. The new
/// file has the permissions of the one it replaces.
pub fn write_whole(target: &Path, content: &[u8]) -> io::Result<()> {
    replace_whole(target, content, || Ok(()))
}

/// The same for a file that others write too: `check` runs right before the new file takes its place, and may refuse it.
pub fn replace_whole(
    target: &Path,
    content: &[u8],
    check: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let staged = target.with_file_name(format!("{UNFINISHED}{}", std::process::id()));
    // Only this process has this number, so an existing file was left by a process that was killed.
    let _ = fs::remove_file(&staged);
    let write = || {
        let mut file = File::create_new(&staged)?;
        keep_mode(&file, target)?;
        file.write_all(content)
    };
    let written = write().and_then(|()| check()).and_then(|()| fs::rename(&staged, target));
    if written.is_err() {
        let _ = fs::remove_file(&staged);
    }
    written
}

/// Gives a new, still empty file the permissions of the file that it is to replace.
#[cfg(unix)]
fn keep_mode(file: &File, replaced: &Path) -> io::Result<()> {
    match fs::symlink_metadata(replaced) {
        Ok(meta) if meta.is_file() => file.set_permissions(meta.permissions()),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn keep_mode(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Waits until no other run writes to the folder, and makes others wait until the file is dropped or the process ends.
/// The folder is created if it does not exist.
pub fn lock(root: &Path) -> Result<File, FolderError> {
    if !has_root(root)? {
        fs::create_dir_all(root).map_err(FolderError::io("create", root))?;
    }
    // Unix can lock the folder itself on local file systems; a lock leaves nothing in it.
    let lock = |file: File| file.lock().map(|()| file);
    File::open(root).and_then(lock).or_else(|_| lock_beside(root)).map_err(FolderError::io("lock", root))
}

/// Waits until no run writes to the folder, where that is possible without writing anything.
pub(super) fn lock_shared(root: &Path) -> Result<Option<File>, FolderError> {
    let lock = |file: File| file.lock_shared().map(|()| file);
    Ok(if has_root(root)? { File::open(root).and_then(lock).ok() } else { None })
}

/// On other systems: locks a file that stands for the folder, in the system's folder for temporary files.
fn lock_beside(root: &Path) -> io::Result<File> {
    let id = blake3::hash(root.canonicalize()?.as_os_str().as_encoded_bytes()).to_hex();
    let path = std::env::temp_dir().join(format!("toolcrib-{}.lock", &id[..32]));
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    file.lock()?;
    Ok(file)
}

/// Makes sure that the root is a folder (or a link to one). Returns whether it exists.
fn has_root(root: &Path) -> Result<bool, FolderError> {
    match fs::metadata(root) {
        Ok(meta) if meta.is_dir() => Ok(true),
        Err(error) if look(root)? == Entry::Missing => match error.kind() {
            io::ErrorKind::NotFound => Ok(false),
            _ => Err(FolderError::io("read", root)(error)),
        },
        // A folder cannot be created through a broken link.
        _ => Err(FolderError::NotAFolder { path: root.into() }),
    }
}

// Writing: contents go to a staging folder first and are moved to their places whole.
//
// A killed process leaves files in the staging folder, which the next run clears, and never half a file anywhere else: a
// rename is atomic, and earlier writes are in the system's memory, which outlives the process. Only a loss of power can
// damage a file; the manifest is synced to disk, so that the next run finds the damage by the hash and repairs it.

/// The name of the manifest in the staging folder.
const MANIFEST_STAGED: &str = "manifest";

/// The staging folder; made when first written to, gone when dropped.
pub(super) struct Stage<'a> {
    root: &'a Path,
    dir: PathBuf,
}

/// A rendered file, staged if it differs from the one on disk.
pub(super) struct Rendered {
    index: usize,
    hash: String,
    pub(super) is_staged: bool,
    /// Kind of the entry at its place before.
    pub(super) was: Entry,
    /// The hash of the replaced content, if it was ours.
    replaces: Option<String>,
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

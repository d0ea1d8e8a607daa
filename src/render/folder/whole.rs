//! A folder that a run has made is written beside its place and moved there as a whole: a reader sees all of it or
//! nothing, and it takes half the time of moving file by file.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::disk::{self, Entry};
use super::error::FolderError;
use super::manifest::{self, Manifest};
use super::plan::folders_of;
use super::reserved::{MANIFEST, STAGE};
use super::{FileSet, Report, in_batches};

/// The folder beside an empty one; gone when dropped, unless it was moved.
struct Beside(PathBuf);

/// Fills an empty folder. `None` where it cannot be replaced as a whole, so that its files are moved one by one.
pub(super) fn fill(
    root: &Path,
    files: &FileSet,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Option<Report>, FolderError> {
    let Some(beside) = place(root).filter(|_| cfg!(unix) && is_empty(root)).map(Beside) else {
        return Ok(None);
    };
    let dirs = folders_of(files.paths.iter().map(String::as_str));
    if beside.begin(dirs.iter().copied()).is_err() {
        return Ok(None);
    }
    // The system makes one file of a folder at a time, and threads that wait for that take processor time.
    let turn = Mutex::new(());
    let write = |batch: &[usize]| {
        let contents: Vec<Vec<u8>> =
            batch.iter().map(|&index| files.content(index, b"")).collect::<Result<_, _>>()?;
        let turn = turn.lock();
        for (&index, content) in batch.iter().zip(&contents) {
            let path = &files.paths[index];
            let written = File::create_new(beside.0.join(path)).and_then(|mut file| file.write_all(content));
            written.map_err(FolderError::io("write", &root.join(path)))?;
        }
        drop(turn);
        progress(batch.len());
        let hash =
            |(&index, content): (&usize, &Vec<u8>)| (files.paths[index].clone(), manifest::hash(content));
        Ok(batch.iter().zip(&contents).map(hash).collect())
    };
    let mut manifest = Manifest::new(&files.key);
    manifest.dirs = dirs.into_iter().map(str::to_string).collect();
    let all: Vec<usize> = (0..files.paths.len()).collect();
    manifest.files = in_batches(&all, write)?.into_iter().collect();
    let moved = beside.record(&manifest).and_then(|()| fs::rename(&beside.0, root));
    Ok(moved.is_ok().then(|| Report { created: all.len(), ..Report::default() }))
}

/// Removes what a killed run left beside a folder. The caller holds the lock of the folder.
pub(super) fn clear(root: &Path) {
    drop(place(root).map(Beside));
}

fn place(root: &Path) -> Option<PathBuf> {
    let mut name = std::ffi::OsString::from(".");
    name.push(root.file_name()?);
    name.push(STAGE);
    Some(root.with_file_name(name))
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

impl Beside {
    /// Makes the folder and those in it. An empty manifest comes first: it tells the next run that the folder is ours.
    fn begin<'d>(&self, mut dirs: impl Iterator<Item = &'d str>) -> std::io::Result<()> {
        self.clear();
        fs::create_dir(&self.0)?;
        File::create_new(self.0.join(MANIFEST))?;
        dirs.try_for_each(|dir| fs::create_dir(self.0.join(dir)))
    }

    /// Writes the manifest; it is on disk when this returns.
    fn record(&self, manifest: &Manifest) -> std::io::Result<()> {
        let mut file = File::create(self.0.join(MANIFEST))?;
        file.write_all(&manifest.to_bytes())?;
        file.sync_data()
    }

    fn clear(&self) {
        let is =
            |path: &Path, expected: fn(&Entry) -> bool| disk::look(path).is_ok_and(|entry| expected(&entry));
        if !is(&self.0, |entry| *entry == Entry::Folder) {
            return;
        }
        // The next run removes leftovers that cannot be removed now; files of the user stay.
        let _ = match is(&self.0.join(MANIFEST), |entry| matches!(entry, Entry::File(_))) {
            true => fs::remove_dir_all(&self.0),
            false => fs::remove_dir(&self.0),
        };
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.clear();
    }
}

//! Files that only their owner can read, in folders that only their owner can enter.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Options to open a file; a new one can be read by its owner alone.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a folder, with those above it; new ones can be entered by their owner alone.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Writes a file whole or not at all, for its owner alone. Creates a missing folder.
pub fn write(file: &Path, content: &[u8]) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or(Ok(()), create_folder)?;
    let path = staged(file);
    // Only this process has this name, so an existing file was left by a process that was killed.
    let _ = fs::remove_file(&path);
    let write = |mut new: File| {
        new.write_all(content)?;
        new.sync_all()?;
        fs::rename(&path, file)
    };
    let written = options().write(true).create_new(true).open(&path).and_then(write);
    if written.is_err() {
        let _ = fs::remove_file(&path);
    }
    written
}

/// A file that nobody else can write to.
pub(crate) fn open(file: &Path) -> io::Result<File> {
    let file = File::open(file)?;
    let facts = file.metadata()?;
    if !facts.is_file() || is_open_to_others(&facts) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(file)
}

/// The text of such a file of at most so many bytes.
pub fn read(file: &Path, max: u64) -> io::Result<String> {
    let file = open(file)?;
    if file.metadata()?.len() > max {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = String::new();
    file.take(max).read_to_string(&mut text)?;
    Ok(text)
}

/// The file that becomes another one when it is whole.
fn staged(file: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let process = std::process::id();
    let count = COUNT.fetch_add(1, Relaxed);
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".{name}.{process}-{count}.new"))
}

#[cfg(unix)]
fn is_open_to_others(facts: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    facts.mode() & 0o022 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Metadata) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    #[test]
    fn a_file_is_for_its_owner_alone_also_in_place_of_an_open_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/token");
        write(&file, b"one").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(read(&file, 10).is_err(), "others can write to it");
        write(&file, b"two").unwrap();
        assert_eq!(read(&file, 10).unwrap(), "two");
        assert!(read(&file, 2).is_err(), "it is too long");
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        let inside = file.parent().unwrap();
        assert_eq!(fs::metadata(inside).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::read_dir(inside).unwrap().count(), 1);
    }
}

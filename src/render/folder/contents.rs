//! The files that a run would write into a new folder, for a folder that is on no disk here.

use super::error::FolderError;
use super::manifest::{self, Manifest};
use super::plan::folders_of;
use super::reserved::MANIFEST;
use super::{FileSet, in_batches, path};

/// A file: its path and its bytes.
pub type Content = (String, Vec<u8>);

/// The contents of a set, and the manifest that a run would leave beside them.
pub fn contents(files: &FileSet) -> Result<Vec<Content>, FolderError> {
    path::check(&files.paths)?;
    let render = |batch: &[usize]| {
        batch.iter().map(|&index| Ok((files.paths[index].clone(), files.content(index, b"")?))).collect()
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

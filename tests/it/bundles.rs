//! Bundles: a catalog as one file gives what its folder gives, and is refused where it is not what was built.

mod build;
#[cfg(feature = "postgres")]
mod fleet;
mod host;
mod refused;
mod remote;
mod same;
mod served;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::fixture::{Run, run, text};

/// A folder with a bundle.
pub struct Bundled {
    pub folder: TempDir,
    pub file: PathBuf,
}

impl Bundled {
    /// The bundle of a catalog.
    pub fn of(catalog: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tools.crib");
        build(catalog, &file);
        Self { folder, file }
    }

    /// A path beside it.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Signs it with a new key; the public key.
    pub fn signed(&self, key: &str) -> String {
        let secret = self.beside(key);
        let made = run(&["bundle", "keygen", text(&secret)]);
        assert_eq!(made.code, 0, "{}", made.stderr);
        self.sign(key);
        made.stdout.trim().to_string()
    }

    /// Signs it with a key that was made before.
    pub fn sign(&self, key: &str) {
        let secret = self.beside(key);
        let signed = run(&["bundle", "sign", text(&self.file), "--secret-key", text(&secret)]);
        assert_eq!(signed.code, 0, "{}", signed.stderr);
    }

    pub fn bytes(&self) -> Vec<u8> {
        fs::read(&self.file).unwrap()
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        run(&[arguments, &[text(&self.file)]].concat())
    }
}

/// Builds the bundle of a catalog.
#[track_caller]
pub fn build(catalog: &Path, file: &Path) {
    let built = run(&["bundle", "build", text(catalog), "--out", text(file)]);
    assert_eq!(built.code, 0, "{}", built.stderr);
}

/// Begin and end of each part of a bundle, and of its table.
pub fn parts(bundle: &[u8]) -> Vec<(usize, usize)> {
    let number = |at: usize| u64::from_le_bytes(bundle[at..at + 8].try_into().unwrap()) as usize;
    let count = u32::from_le_bytes(bundle[12..16].try_into().unwrap()) as usize;
    let table = (0, 16 + count * 40 + 32);
    let parts = (0..count).map(|part| 16 + part * 40).map(|at| (number(at), number(at) + number(at + 8)));
    std::iter::once(table).chain(parts).collect()
}

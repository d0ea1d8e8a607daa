//! Fixtures: the catalogs that payloads are made of.

use std::path::Path;

use toolcrib_catalog::{Checked, config};

#[path = "../../../../tests/fixture/catalogs.rs"]
mod catalogs;

pub use catalogs::{CATALOGS, catalog};

/// The folder of the package `toolcrib`, which has the examples and the data of tests.
pub fn package() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The catalog at a path.
pub fn open(catalog: &Path) -> Checked {
    toolcrib_catalog::open(config::read(catalog))
}

/// The catalog of one file with this text.
pub fn open_text(name: &str, text: &str) -> Checked {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, text).unwrap();
    open(&file)
}

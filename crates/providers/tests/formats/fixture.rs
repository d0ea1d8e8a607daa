//! Fixtures: the catalogs that payloads are made of.

use std::path::Path;

#[path = "../../../../tests/fixture/catalogs.rs"]
mod catalogs;
#[path = "../../../../tests/fixture/opened.rs"]
mod opened;

pub use catalogs::{CATALOGS, catalog};
pub use opened::{open, open_text};

/// The folder of the package `toolcrib`, which has the examples and the data of tests.
pub fn package() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

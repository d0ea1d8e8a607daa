//! Fixtures: catalogs in temporary folders, and those of others.

use std::path::Path;

use toolcrib_catalog::{Checked, Tool};

#[path = "../../../../tests/fixture/catalogs.rs"]
mod catalogs;
#[path = "../../../../tests/fixture/opened.rs"]
mod opened;

pub use catalogs::{CATALOGS, catalog};
pub use opened::{folder, open, open_text};

/// The folder of the package `toolcrib`, which has the examples and the data of tests.
pub fn package() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The only tool of a catalog.
pub fn only(checked: &Checked) -> &Tool {
    assert_eq!(checked.catalog.tools.len(), 1, "{:#?}", checked.findings);
    &checked.catalog.tools[0]
}

/// The codes that were found.
pub fn codes(checked: &Checked) -> Vec<&'static str> {
    checked.findings.iter().map(|finding| finding.code.as_str()).collect()
}

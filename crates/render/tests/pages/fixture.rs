//! Fixtures: catalogs in temporary folders, those of others, and their pages.

use std::path::Path;

use tempfile::TempDir;
use toolcrib_catalog::{Checked, Tool, config};
use toolcrib_definition::embedded_files;
use toolcrib_render::{BuiltIn, Docs, Templates};

#[path = "../../../../tests/fixture/catalogs.rs"]
mod catalogs;

pub use catalogs::catalog;

/// The folder of the package `toolcrib`, which has the examples and the data of tests.
pub fn package() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A folder with these files.
pub fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// The catalog at a path.
pub fn open(catalog: &Path) -> Checked {
    toolcrib_catalog::open(config::read(catalog))
}

/// The catalog of one file with this text.
pub fn open_text(name: &str, text: &str) -> Checked {
    let folder = folder(&[(name, text)]);
    open(&folder.path().join(name))
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

/// The templates of pages, as the program embeds them.
const BUILT_IN: BuiltIn = BuiltIn {
    templates: &embedded_files! { "../../templates": "docs/index.md", "docs/page.md", "docs/tool.md" },
    workspace: &[],
};

/// Writes the docs of a catalog.
pub fn render(checked: &Checked, out: &Path) {
    let profile = checked.catalog.profile(None).unwrap();
    Docs::new(&checked.catalog, profile, &Templates::from(BUILT_IN)).write(out, &|_| {}).unwrap();
}

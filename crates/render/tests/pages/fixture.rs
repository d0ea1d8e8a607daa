//! Fixtures: catalogs in temporary folders, those of others, and their pages.

use std::path::Path;

use toolcrib_catalog::{Checked, Tool};
use toolcrib_definition::embedded_files;
use toolcrib_render::{Around, BuiltIn, Docs, Templates};

#[path = "../../../../tests/fixture/catalogs.rs"]
mod catalogs;
#[path = "../../../../tests/fixture/opened.rs"]
mod opened;

pub use catalogs::catalog;
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

/// The templates of pages, as the program embeds them.
const BUILT_IN: BuiltIn = BuiltIn {
    templates: &embedded_files! { "../../templates": "docs/index.md", "docs/page.md", "docs/tool.md" },
    workspace: &[],
};

/// Writes the docs of a catalog.
pub fn render(checked: &Checked, out: &Path) {
    render_around(checked, Around::FOLDER, out);
}

/// Writes the docs of a catalog for a reader with these things around them.
pub fn render_around(checked: &Checked, around: Around, out: &Path) {
    let profile = checked.catalog.profile(None).unwrap();
    let templates = Templates::from(BUILT_IN);
    Docs::new(&checked.catalog, profile, &templates).around(around).write(out, &|_| {}).unwrap();
}

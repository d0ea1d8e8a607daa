//! Pages of text that tools share: told once, and referred to by their docs.

use std::collections::HashSet;

use serde_json::json;

use super::{CategoryPage, title};
use crate::catalog::{Catalog, Profile};
use crate::render::arguments::arguments;
use crate::render::doc::shared_page;
use crate::render::markdown::prose;

/// The line of an index about these pages.
pub(super) const NOTE: &str =
    "Text that many tools share is in `categories/*.shared.md`; their docs refer to it.";

/// The pages that docs of these tools refer to.
pub(super) fn pages(catalog: &Catalog, profile: &Profile<'_>) -> Vec<CategoryPage> {
    let mut seen = HashSet::new();
    let groups = profile.tools.iter().filter_map(|entry| catalog.shared_group(entry.tool));
    let groups = groups.filter(|group| seen.insert(group.stem.as_str()));
    let page = |group: &crate::catalog::SharedGroup| {
        let mut parts: Vec<String> = group.paragraphs().iter().map(|text| prose(text)).collect();
        if !group.arguments().is_empty() {
            let list = arguments(&json!({ "properties": group.arguments() }));
            parts
                .push(format!("**Arguments**, with the facts of each tool in its doc:\n{}", list.markdown()));
        }
        CategoryPage {
            path: shared_page(group),
            heading: format!("Shared by {} Tools", title(&group.name)),
            lines: parts.join("\n\n"),
        }
    };
    groups.map(page).collect()
}

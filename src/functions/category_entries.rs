//! Categories as entries of a search index.

use crate::catalog::{Catalog, CategoryNode, CategoryTree};
use crate::search::{Field, IndexEntry};

/// Most tools of a category whose words are in its index entry.
const MAX_TOOLS: usize = 300;

/// Index entries of the categories, in the order of the tree.
pub(super) fn category_entries(catalog: &Catalog, tree: &CategoryTree) -> Vec<IndexEntry> {
    let entry = |node: &CategoryNode| {
        let mut texts = vec![
            (Field::Name, node.name.clone()),
            (Field::Alias, node.path.clone()),
            (Field::Short, node.summary.clone()),
        ];
        texts.extend(node.tags.iter().map(|tag| (Field::Label, tag.clone())));
        for tool in node.tools.iter().take(MAX_TOOLS).map(|&tool| &catalog.tools[tool]) {
            texts.push((Field::Parameter, tool.name.clone()));
            texts.push((Field::Long, tool.short.clone()));
        }
        IndexEntry { exact: vec![node.path.clone()], texts }
    };
    tree.nodes().iter().map(entry).collect()
}

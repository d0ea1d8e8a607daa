//! The tree of categories on a page: each line says the purpose of its category, as in the index.

use serde::Serialize;

use super::index::Entry;
use super::name::{MAX_NAME, clipped};
use super::{Site, html};
use crate::render::markdown::inline;

/// Most lines of a tree. Levels that do not fit as a whole are on the pages of the categories above them.
const MAX_LINES: usize = 300;

/// A line of the tree. The lines of the categories below it follow; a template nests them as lists.
#[derive(Debug, Serialize)]
pub(super) struct TreeLine {
    title: String,
    href: String,
    count: usize,
    /// HTML.
    purpose: String,
    /// Whether the next line is below this one.
    opens: bool,
    /// Number of lists that end with this line.
    closes: usize,
}

/// The categories among these entries, and all below them; the root of the site is `root` from their page.
pub(super) fn lines(site: &Site<'_>, entries: &[Entry], root: &str) -> Vec<TreeLine> {
    let tree = site.index.tree();
    let mut level: Vec<usize> = entries.iter().filter_map(Entry::category).collect();
    let (mut depth, mut count) = (0, 0);
    while !level.is_empty() && (depth == 0 || count + level.len() <= MAX_LINES) {
        count += level.len();
        depth += 1;
        level = level.iter().flat_map(|&node| &tree.node(node).children).copied().collect();
    }
    let mut lines = Vec::with_capacity(count);
    for category in entries.iter().filter_map(Entry::category) {
        add(site, category, (root, depth - 1), &mut lines);
    }
    lines
}

/// Adds the line of a category, and those of the categories at most `depth` levels below it.
fn add(site: &Site<'_>, category: usize, (root, depth): (&str, usize), lines: &mut Vec<TreeLine>) {
    let node = site.index.tree().node(category);
    let pages = &site.index.categories()[category];
    let below = if depth == 0 { &[][..] } else { &node.children[..] };
    lines.push(TreeLine {
        title: clipped(&pages.title, MAX_NAME),
        href: format!("{root}{}", pages.path(0)),
        count: node.descendant_tools.len(),
        purpose: html::line(&inline(&node.purpose)),
        opens: !below.is_empty(),
        closes: 0,
    });
    for &child in below {
        add(site, child, (root, depth - 1), lines);
    }
    if let Some(last) = lines.last_mut().filter(|_| !below.is_empty()) {
        last.closes += 1;
    }
}

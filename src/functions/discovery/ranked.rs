//! The tools that fit a query, in a part of the catalog. Every function that searches for tools asks here.

use crate::functions::Edition;
use crate::search::{Found, Request};

/// The part of the catalog that is searched.
#[derive(Clone, Copy, Default)]
pub(in crate::functions) struct Scope<'s> {
    /// The category; the root stands for everything.
    pub(in crate::functions) node: usize,
    /// Tags that a tool must have, all of them.
    pub(in crate::functions) tags: &'s [String],
}

impl Scope<'_> {
    fn is_everything(self) -> bool {
        self.node == 0 && self.tags.is_empty()
    }

    /// The tools in it, by place.
    pub(super) fn tools(self, edition: &Edition) -> impl Iterator<Item = usize> {
        let below = &edition.tree().node(self.node).below;
        below
            .iter()
            .copied()
            .filter(move |&tool| self.has_tags(&edition.catalog().tools[tool].definition.tags))
    }

    /// Whether these tags have all that are wanted.
    pub(super) fn has_tags(self, tags: &[String]) -> bool {
        let is_there = |wanted: &String| {
            tags.iter().any(|tag| tag.trim().to_lowercase() == wanted.trim().to_lowercase())
        };
        self.tags.iter().all(is_there)
    }
}

/// How much of a query is read, in bytes.
const MAX_QUERY: usize = 2_000;

/// The part of a query that is read.
pub(super) fn read_part(query: &str) -> &str {
    let end = (0..=MAX_QUERY.min(query.len())).rev().find(|&end| query.is_char_boundary(end));
    &query[..end.unwrap_or(0)]
}

/// The tools in a scope that fit a query, best first.
pub(in crate::functions) fn ranked(edition: &Edition, query: &str, scope: Scope<'_>, limit: usize) -> Found {
    let query = read_part(query);
    let index = edition.search();
    if scope.is_everything() {
        return index.find(Request { query, within: None, limit });
    }
    let mut inside = vec![false; edition.catalog().tools.len()];
    scope.tools(edition).for_each(|tool| inside[tool] = true);
    let within = |entry: usize| inside.get(entry).copied().unwrap_or(false);
    index.find(Request { query, within: Some(&within), limit })
}

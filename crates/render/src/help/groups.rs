//! The groups of a catalog: the tree of its op segments, and its categories beside them, in one namespace.

use std::collections::HashMap;

use toolcrib_catalog::{Catalog, CategoryTree, Tool};
use toolcrib_definition::Effect;
use toolcrib_definition::grammar::singular;

/// The path of the first group, which holds all others.
const ROOT: &str = "root";
/// Most levels of a path at which its group is looked for.
const MAX_LEVELS: usize = 64;

/// The groups of a catalog, the root first. They are known by their positions.
#[derive(Debug, Default)]
pub struct Groups {
    groups: Vec<Group>,
    by_path: HashMap<String, usize>,
    by_folded_path: HashMap<String, usize>,
    by_singular_path: HashMap<String, usize>,
}

/// Some ops that belong together.
#[derive(Debug, Default)]
pub struct Group {
    /// The path to ask for it with: `onto.task`, `Storage/Buckets`.
    pub path: String,
    /// Groups directly in it.
    pub(super) children: Vec<usize>,
    /// Tools directly in it, by op.
    pub(super) own: Vec<usize>,
    /// All tools in it and below it, by op.
    pub(super) below: Vec<usize>,
    /// Whether the ops in it begin with its path.
    pub(super) is_of_ops: bool,
}

/// The ops of a group that are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EffectFilter {
    /// All.
    #[default]
    All,
    /// Ops that change nothing.
    Read,
    /// The others.
    Write,
}

impl EffectFilter {
    /// The suffix after the path of a group.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            EffectFilter::All => "",
            EffectFilter::Read => ".read",
            EffectFilter::Write => ".write",
        }
    }

    pub(super) fn holds(self, tool: &Tool) -> bool {
        match self {
            EffectFilter::All => true,
            EffectFilter::Read => tool.rules.effect == Effect::Read,
            EffectFilter::Write => tool.rules.effect != Effect::Read,
        }
    }

    /// Splits a path into the path of the group and the filter in its suffix.
    pub(super) fn split(path: &str) -> (&str, EffectFilter) {
        for only in [EffectFilter::Read, EffectFilter::Write] {
            let word = &only.suffix()[1..];
            let Some(above) = path.strip_suffix(word) else { continue };
            if above.is_empty() {
                return ("", only);
            }
            if let Some(above) = above.strip_suffix(['.', '/']) {
                return (above, only);
            }
        }
        (path, EffectFilter::All)
    }
}

impl Groups {
    /// The groups of a catalog with this tree of categories.
    pub fn of(catalog: &Catalog, tree: &CategoryTree) -> Self {
        let mut groups = Self::default();
        groups.add(ROOT.into(), true);
        let mut by_op: Vec<usize> = (0..catalog.tools.len()).collect();
        by_op.sort_by(|&one, &other| catalog.tools[one].names.op.cmp(&catalog.tools[other].names.op));
        for &index in &by_op {
            groups.add_tool(index, &catalog.tools[index].names.op);
        }
        groups.by_path.extend([(String::new(), 0)]);
        groups.by_path.entry(ROOT.into()).or_insert(0);
        groups.add_categories(tree, catalog);
        for (place, group) in groups.groups.iter().enumerate() {
            groups.by_folded_path.entry(folded(&group.path)).or_insert(place);
            groups.by_singular_path.entry(in_singular(&group.path)).or_insert(place);
        }
        groups
    }

    fn add(&mut self, path: String, is_of_ops: bool) -> usize {
        self.groups.push(Group { path, is_of_ops, ..Group::default() });
        self.groups.len() - 1
    }

    /// Adds a tool to the groups of its op, which are made where they are missing.
    fn add_tool(&mut self, index: usize, op: &str) {
        let mut at = 0;
        self.groups[0].below.push(index);
        for (end, _) in op.match_indices('.') {
            let path = &op[..end];
            let next = match self.by_path.get(path) {
                Some(&known) => known,
                None => {
                    let new = self.add(path.into(), true);
                    self.by_path.insert(path.into(), new);
                    self.groups[at].children.push(new);
                    new
                }
            };
            self.groups[next].below.push(index);
            at = next;
        }
        self.groups[at].own.push(index);
    }

    /// Categories are groups too, except where a group of ops has the same path.
    fn add_categories(&mut self, tree: &CategoryTree, catalog: &Catalog) {
        let mut places = vec![0; tree.nodes().len()];
        for (node, category) in tree.nodes().iter().enumerate().skip(1) {
            let known = self.by_path.get(&category.path).copied();
            let place = known.unwrap_or_else(|| self.add(category.path.clone(), false));
            places[node] = place;
            if known.is_none() {
                self.by_path.insert(category.path.clone(), place);
                self.groups[place].own.clone_from(&category.tools);
                let mut below = category.descendant_tools.clone();
                below.sort_by(|&one, &other| catalog.tools[one].names.op.cmp(&catalog.tools[other].names.op));
                self.groups[place].below = below;
            }
        }
        for (node, category) in tree.nodes().iter().enumerate().skip(1) {
            let place = places[node];
            if !self.groups[place].is_of_ops {
                self.groups[place].children = category.children.iter().map(|&child| places[child]).collect();
            }
        }
    }

    /// All groups, the root first.
    pub fn all(&self) -> &[Group] {
        &self.groups
    }

    /// The group with exactly this path.
    pub fn named(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// The group of a path, and the ops of it that are meant: `onto.task`, `onto.task.write`, `onto/task`, `Issues`,
    /// `issue`, `pull_request`.
    pub fn find(&self, path: &str) -> Option<(usize, EffectFilter)> {
        let path = path.trim().trim_end_matches(['.', '/']);
        let known = |path: &str| {
            let folded = || self.by_folded_path.get(&folded(path)).copied();
            let in_singular = || self.by_singular_path.get(&in_singular(path)).copied();
            self.named(path).or_else(folded).or_else(in_singular)
        };
        if let Some(place) = known(path) {
            return Some((place, EffectFilter::All));
        }
        let (above, only) = EffectFilter::split(path);
        if only == EffectFilter::All { None } else { Some((known(above)?, only)) }
    }

    /// The longest beginning of a path that is a group, other than the root.
    pub fn above(&self, path: &str) -> Option<&Group> {
        let path = folded(path);
        // Each beginning is looked up whole, so the number of them is bounded: a caller's path may have any length.
        let ends: Vec<usize> = path.match_indices('.').map(|(end, _)| end).take(MAX_LEVELS).collect();
        let place = ends.into_iter().rev().find_map(|end| self.by_folded_path.get(&path[..end]));
        place.map(|&place| &self.groups[place])
    }
}

/// A path normalised so that letter case and separators make no difference.
fn folded(path: &str) -> String {
    path.trim().to_lowercase().replace('/', ".")
}

/// A folded path whose words are separated by spaces and whose last word is in the singular, so that number makes no
/// difference.
fn in_singular(path: &str) -> String {
    let path = folded(path).replace(['_', '-'], " ");
    let start = path.rfind([' ', '.']).map_or(0, |at| at + 1);
    format!("{}{}", &path[..start], singular(&path[start..]))
}

#[cfg(test)]
mod tests {
    use super::in_singular;

    #[test]
    fn number_and_separators_of_a_group_make_no_difference() {
        for path in ["pull_request", "Pull requests", "pull-requests", "PULL REQUEST"] {
            assert_eq!(in_singular(path), "pull request");
        }
        assert_eq!(in_singular("onto/categories"), "onto.category");
    }
}

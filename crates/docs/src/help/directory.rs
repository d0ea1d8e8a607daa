//! Lists the content of a group within a budget: its groups, then its ops, with a line each. When that is too long,
//! the lines get shorter, then ops are put together by category, or by the first word of their names where there is one
//! category, and at last only a part is listed.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::{DIRECTORY_MAX_TOKENS, Format, brief};
use toolcrib_catalog::{Catalog, CategoryTree, Tool};
use toolcrib_definition::Effect;
use toolcrib_definition::grammar::singular;
use toolcrib_definition::tokens::estimate;

/// Tokens kept free for the versions beside the list and for the error of the estimate.
const RESERVED: usize = 50;
/// Factor by which the budget of a full answer is larger.
const FULL: usize = 5;
/// Most ops that are named without a line before they are put together.
const NAMES_ALONE: usize = 24;
/// Most characters of the names in a group, and of the line of an op, from the richest form to the barest.
const LEVELS: [(usize, usize); 4] = [(90, 160), (60, 60), (32, 36), (0, 0)];

/// The entries of a directory.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    groups: Vec<Piece>,
    ops: Vec<usize>,
    left_out: usize,
}

/// Some ops under one path.
#[derive(Clone, Debug)]
struct Piece {
    path: String,
    ops: Vec<usize>,
    /// The common beginning of the names of its ops, which is not repeated.
    prefix: String,
}

struct Directory<'a> {
    catalog: &'a Catalog,
    path: String,
    only: EffectFilter,
    all: Vec<usize>,
    budget: usize,
}

/// The content of a group.
pub fn directory(
    catalog: &Catalog,
    groups: &Groups,
    place: usize,
    only: EffectFilter,
    format: Format,
) -> Map<String, Value> {
    let mut place = place;
    // A group that holds only one other group is listed as that one.
    while let ([only], []) = (&groups.all()[place].children[..], &groups.all()[place].own[..]) {
        place = *only;
    }
    let group = &groups.all()[place];
    let shown = |tools: &[usize]| -> Vec<usize> {
        tools.iter().copied().filter(|&index| only.holds(&catalog.tools[index])).collect()
    };
    let mut listing = Listing { ops: shown(&group.own), ..Listing::default() };
    for &child in &group.children {
        let child = &groups.all()[child];
        match shown(&child.below)[..] {
            [] => {}
            // The help of the op itself says more than a group of one op.
            [op] => listing.ops.push(op),
            ref ops => listing.groups.push(Piece {
                path: format!("{}{}", child.path, only.suffix()),
                ops: ops.to_vec(),
                prefix: prefix(catalog, &child.path, child.is_of_ops, ops),
            }),
        }
    }
    let directory = Directory {
        catalog,
        path: format!("{}{}", group.path, only.suffix()),
        only,
        all: shown(&group.below),
        budget: budget(format),
    };
    listing.ops.sort_by(|&one, &other| catalog.tools[one].op.cmp(&catalog.tools[other].op));
    if !group.is_of_ops {
        return directory.told(listing, None);
    }
    let grouped = directory.by_category(groups, &listing).or_else(|| directory.by_beginning(&listing));
    directory.told(listing, grouped)
}

/// The ops that begin with a prefix, such as `github.create_*`, if there are any.
pub fn beginning(catalog: &Catalog, path: &str, format: Format) -> Option<Map<String, Value>> {
    let (pattern, only) = EffectFilter::split(path.trim());
    let start = pattern.strip_suffix('*').filter(|start| !start.is_empty())?.to_lowercase();
    let tools = catalog.tools.iter().enumerate();
    let tools = tools.filter(|(_, tool)| tool.op.starts_with(&start) && only.holds(tool));
    let mut all: Vec<usize> = tools.map(|(index, _)| index).collect();
    if all.is_empty() {
        return None;
    }
    all.sort_by(|&one, &other| catalog.tools[one].op.cmp(&catalog.tools[other].op));
    let listing = Listing { ops: all.clone(), ..Listing::default() };
    let path = format!("{start}*{}", only.suffix());
    let directory = Directory { catalog, path, only, all, budget: budget(format) };
    let grouped = directory.by_beginning(&listing);
    Some(directory.told(listing, grouped))
}

fn budget(format: Format) -> usize {
    match format {
        Format::Short => DIRECTORY_MAX_TOKENS - RESERVED,
        Format::Full => DIRECTORY_MAX_TOKENS * FULL - RESERVED,
    }
}

/// The common beginning of the ops of a group: its path, or their first segment.
fn prefix(catalog: &Catalog, path: &str, is_of_ops: bool, ops: &[usize]) -> String {
    if is_of_ops {
        return format!("{path}.");
    }
    let mut groups =
        ops.iter().map(|&op| catalog.tools[op].op.split_inclusive('.').next().unwrap_or_default());
    let first = groups.next().unwrap_or_default();
    if groups.all(|group| group == first) { first.to_string() } else { String::new() }
}

impl Directory<'_> {
    /// The listing in its richest form that fits; else the grouped one, or a part of it.
    fn told(&self, listing: Listing, grouped: Option<Listing>) -> Map<String, Value> {
        let names_alone = listing.ops.len() <= NAMES_ALONE || grouped.is_none();
        let levels = if names_alone { &LEVELS[..] } else { &LEVELS[..3] };
        if let Some(told) = self.fitting(&listing, levels) {
            return told;
        }
        let listing = grouped.unwrap_or(listing);
        self.fitting(&listing, &LEVELS).unwrap_or_else(|| self.cut(listing))
    }

    fn fitting(&self, listing: &Listing, levels: &[(usize, usize)]) -> Option<Map<String, Value>> {
        levels.iter().map(|&level| self.written(listing, level)).find(|told| self.fits(told))
    }

    fn fits(&self, told: &Map<String, Value>) -> bool {
        let written = serde_json::to_string(told).unwrap_or_default();
        // For names in rare words the estimate is too low; no vocabulary takes a token for less than three bytes.
        estimate(&written) <= self.budget && written.len() <= (self.budget + RESERVED) * 3
    }

    /// The largest groups, then the first ops, until the budget is used.
    fn cut(&self, mut listing: Listing) -> Map<String, Value> {
        let level = LEVELS[LEVELS.len() - 1];
        listing
            .groups
            .sort_by(|one, other| other.ops.len().cmp(&one.ops.len()).then(one.path.cmp(&other.path)));
        let part = |most: usize| {
            let mut part = listing.clone();
            part.groups.truncate(most);
            part.ops.truncate(most - part.groups.len());
            part.groups.sort_by(|one, other| one.path.cmp(&other.path));
            part.left_out = listing.entries() - part.entries();
            self.written(&part, level)
        };
        // Bisection finds the most entries that fit.
        let (mut fit, mut too_many) = (0, listing.entries() + 1);
        while too_many - fit > 1 {
            let half = fit + (too_many - fit) / 2;
            if self.fits(&part(half)) { fit = half } else { too_many = half }
        }
        part(fit)
    }

    fn written(&self, listing: &Listing, (names, line): (usize, usize)) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert("path".into(), self.path.as_str().into());
        fields.insert("count".into(), self.counts());
        if !listing.groups.is_empty() {
            let groups =
                listing.groups.iter().map(|piece| (piece.path.clone(), self.summary(piece, names).into()));
            fields.insert("groups".into(), groups.collect::<Map<_, _>>().into());
        }
        for effect in [Effect::Read, Effect::Write, Effect::Destructive] {
            let tools =
                listing.ops.iter().map(|&op| &self.catalog.tools[op]).filter(|tool| tool.effect == effect);
            let line = |text: &str| if line == 0 { String::new() } else { brief(text, line) };
            let ops: Map<_, _> = tools.map(|tool| (tool.op.clone(), line(&tool.short).into())).collect();
            if !ops.is_empty() {
                fields.insert(effect.as_str().into(), ops.into());
            }
        }
        if listing.left_out > 0 {
            fields.insert("left_out".into(), listing.left_out.into());
        }
        fields.insert("next".into(), self.next(listing).into());
        fields
    }

    fn next(&self, listing: &Listing) -> String {
        let what = if listing.groups.is_empty() { "an op" } else { "a group or an op" };
        match listing.left_out {
            0 => format!("give {what} as path"),
            _ => format!("give {what} as path; find what is left out with tool_search"),
        }
    }

    /// Number of ops by effect.
    fn counts(&self) -> Value {
        let mut counts: IndexMap<&str, usize> = IndexMap::new();
        for effect in [Effect::Read, Effect::Write, Effect::Destructive] {
            let count = self.all.iter().filter(|&&op| self.catalog.tools[op].effect == effect).count();
            if count > 0 {
                counts.insert(effect.as_str(), count);
            }
        }
        json!(counts)
    }

    /// Number of ops in it, and their names; where these are too long, its purpose.
    fn summary(&self, piece: &Piece, most: usize) -> String {
        let count = format!("{} ops", piece.ops.len());
        let about = match self.names(piece, most) {
            Some(names) => names,
            None => brief(&self.purpose(piece, most), most),
        };
        if about.is_empty() { count } else { format!("{count}: {about}") }
    }

    /// The names of all ops in it, if they have at most so many characters.
    fn names(&self, piece: &Piece, most: usize) -> Option<String> {
        let mut names = String::new();
        for &op in &piece.ops {
            let op = &self.catalog.tools[op].op;
            names += if names.is_empty() { "" } else { ", " };
            names += op.strip_prefix(piece.prefix.as_str()).unwrap_or(op);
            if names.len() > most {
                return None;
            }
        }
        Some(names)
    }

    /// The purpose of its ops, or of their category if they have one in common.
    fn purpose(&self, piece: &Piece, most: usize) -> String {
        if most == 0 {
            return String::new();
        }
        let tools: Vec<&Tool> = piece.ops.iter().map(|&op| &*self.catalog.tools[op]).collect();
        let category = tools.first().map_or("", |tool| tool.category());
        let is_common = tools.iter().all(|tool| tool.category() == category);
        self.catalog.purpose(if is_common { category } else { &piece.path }, &tools)
    }

    /// The same list with ops under their categories, where there are several.
    fn by_category(&self, groups: &Groups, listing: &Listing) -> Option<Listing> {
        let mut categories: IndexMap<&str, Vec<usize>> = IndexMap::new();
        for &op in &listing.ops {
            categories.entry(self.catalog.tools[op].root_category()).or_default().push(op);
        }
        let is_group = |name: &str| groups.named(name).is_some_and(|place| !groups.all()[place].is_of_ops);
        if categories.len() < 2 || !categories.keys().all(|name| is_group(name)) {
            return None;
        }
        categories.sort_keys();
        let mut larger = Listing { groups: listing.groups.clone(), ..Listing::default() };
        for (name, ops) in categories {
            let prefix = prefix(self.catalog, name, false, &ops);
            larger.groups.push(Piece { path: format!("{name}{}", self.only.suffix()), ops, prefix });
        }
        Some(larger)
    }

    /// The same list with ops under their common beginnings of whole words.
    fn by_beginning(&self, listing: &Listing) -> Option<Listing> {
        let common = self.common(&listing.ops);
        let mut beginnings: IndexMap<&str, Vec<usize>> = IndexMap::new();
        let mut larger = Listing { groups: listing.groups.clone(), ..Listing::default() };
        for &op in &listing.ops {
            let name = &self.catalog.tools[op].op;
            match name[common..].find(['_', '-', '.']) {
                Some(end) => beginnings.entry(&name[..=common + end]).or_default().push(op),
                None => larger.ops.push(op),
            }
        }
        for (beginning, ops) in beginnings {
            match ops[..] {
                [op] => larger.ops.push(op),
                _ => {
                    let path = format!("{beginning}*{}", self.only.suffix());
                    larger.groups.push(Piece { path, ops, prefix: beginning.to_string() });
                }
            }
        }
        larger.ops.sort_by(|&one, &other| self.catalog.tools[one].op.cmp(&self.catalog.tools[other].op));
        (larger.entries() < listing.entries()).then_some(larger)
    }

    /// Length of the longest common beginning of the ops, in bytes.
    fn common(&self, ops: &[usize]) -> usize {
        let mut names = ops.iter().map(|&op| self.catalog.tools[op].op.as_str());
        let first = names.next().unwrap_or_default();
        let shared = |most: usize, name: &str| {
            let same = first.char_indices().zip(name.chars()).take_while(|((_, one), other)| one == other);
            same.map(|((at, one), _)| at + one.len_utf8()).last().unwrap_or(0).min(most)
        };
        names.fold(first.len(), shared)
    }
}

impl Listing {
    fn entries(&self) -> usize {
        self.groups.len() + self.ops.len()
    }
}

// The groups of a catalog: the tree of its op segments, and its categories beside them, in one namespace.

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
            EffectFilter::Read => tool.effect == Effect::Read,
            EffectFilter::Write => tool.effect != Effect::Read,
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
        by_op.sort_by(|&one, &other| catalog.tools[one].op.cmp(&catalog.tools[other].op));
        for &index in &by_op {
            groups.add_tool(index, &catalog.tools[index].op);
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
                below.sort_by(|&one, &other| catalog.tools[one].op.cmp(&catalog.tools[other].op));
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
        let place = known(above).filter(|_| only != EffectFilter::All)?;
        Some((place, only))
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

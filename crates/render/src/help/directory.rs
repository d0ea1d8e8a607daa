//! Lists the content of a group within a budget: its groups, then its ops, with a line each. When that is too long,
//! the lines get shorter, then ops are put together (by category, by their beginnings), and at last only a part is
//! listed.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::brief::brief;
use super::groups::{EffectFilter, Groups};
use super::options::Format;
use toolcrib_catalog::{Catalog, Tool};
use toolcrib_definition::Effect;
use toolcrib_definition::tokens::token_count;

/// Most o200k tokens of a short answer on a group.
pub const DIRECTORY_MAX_TOKENS: usize = 400;

/// Tokens kept free for the versions beside the list and for the error of the estimate.
const RESERVED: usize = 50;
/// Factor by which the budget of a full answer is larger.
const FULL: usize = 5;
/// Most ops that are named without a line before they are put together.
const NAMES_ALONE: usize = 24;
/// Most groups by word before ops are grouped by letter.
const MAX_PIECES: usize = 40;
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
    listing.ops.sort_by(|&one, &other| catalog.tools[one].names.op.cmp(&catalog.tools[other].names.op));
    let categories = group.is_of_ops.then(|| directory.by_category(groups, &listing));
    let pieces = group.is_of_ops.then(|| directory.by_beginning(&listing));
    directory.told(listing, [categories.flatten(), pieces.flatten()])
}

/// The ops that begin with a prefix, such as `github.create_*`, if there are any.
pub fn beginning(catalog: &Catalog, path: &str, format: Format) -> Option<Map<String, Value>> {
    let (pattern, only) = EffectFilter::split(path.trim());
    let start = pattern.strip_suffix('*').filter(|start| !start.is_empty())?.to_lowercase();
    let tools = catalog.tools.iter().enumerate();
    let tools = tools.filter(|(_, tool)| tool.names.op.starts_with(&start) && only.holds(tool));
    let mut all: Vec<usize> = tools.map(|(index, _)| index).collect();
    if all.is_empty() {
        return None;
    }
    all.sort_by(|&one, &other| catalog.tools[one].names.op.cmp(&catalog.tools[other].names.op));
    let listing = Listing { ops: all.clone(), ..Listing::default() };
    let path = format!("{start}*{}", only.suffix());
    let directory = Directory { catalog, path, only, all, budget: budget(format) };
    let pieces = directory.by_beginning(&listing);
    Some(directory.told(listing, [None, pieces]))
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
        ops.iter().map(|&op| catalog.tools[op].names.op.split_inclusive('.').next().unwrap_or_default());
    let first = groups.next().unwrap_or_default();
    if groups.all(|group| group == first) { first.to_string() } else { String::new() }
}

impl Directory<'_> {
    /// The first of the listings that fits, in its richest form that fits; else a part of the last one.
    fn told(&self, listing: Listing, larger: [Option<Listing>; 2]) -> Map<String, Value> {
        let names_alone = listing.ops.len() <= NAMES_ALONE || larger.iter().all(Option::is_none);
        let levels = if names_alone { &LEVELS[..] } else { &LEVELS[..3] };
        if let Some(told) = self.fitting(&listing, levels) {
            return told;
        }
        let mut smallest = listing;
        for listing in larger.into_iter().flatten() {
            if let Some(told) = self.fitting(&listing, &LEVELS) {
                return told;
            }
            if listing.entries() < smallest.entries() {
                smallest = listing;
            }
        }
        self.cut(smallest)
    }

    fn fitting(&self, listing: &Listing, levels: &[(usize, usize)]) -> Option<Map<String, Value>> {
        levels.iter().map(|&level| self.written(listing, level)).find(|told| self.fits(told))
    }

    fn fits(&self, told: &Map<String, Value>) -> bool {
        let written = serde_json::to_string(told).unwrap_or_default();
        token_count(&written) <= self.budget
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
        let mut fit = 0;
        let mut too_many = listing.entries() + 1;
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
            let tools = listing.ops.iter().map(|&op| &self.catalog.tools[op]);
            let tools = tools.filter(|tool| tool.rules.effect == effect);
            let line = |text: &str| if line == 0 { String::new() } else { brief(text, line) };
            let ops = tools.map(|tool| (tool.names.op.clone(), line(&tool.texts.short).into()));
            let ops: Map<_, _> = ops.collect();
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
            let count = self.all.iter().filter(|&&op| self.catalog.tools[op].rules.effect == effect).count();
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
            let op = &self.catalog.tools[op].names.op;
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

    /// The same list with ops under their common beginnings, by word or else by letter.
    fn by_beginning(&self, listing: &Listing) -> Option<Listing> {
        let common = self.common(&listing.ops);
        let word = |rest: &str| rest.find(['_', '-', '.']).map(|end| end + 1);
        let letter = |rest: &str| rest.chars().next().map(char::len_utf8);
        let by_word = self.cut_at(listing, common, word);
        if by_word.as_ref().is_some_and(|larger| larger.entries() <= MAX_PIECES) {
            return by_word;
        }
        let by_letter = self.cut_at(listing, common, letter);
        [by_word, by_letter].into_iter().flatten().min_by_key(Listing::entries)
    }

    fn cut_at(&self, listing: &Listing, common: usize, end: fn(&str) -> Option<usize>) -> Option<Listing> {
        let mut beginnings: IndexMap<&str, Vec<usize>> = IndexMap::new();
        let mut larger = Listing { groups: listing.groups.clone(), ..Listing::default() };
        for &op in &listing.ops {
            let name = &self.catalog.tools[op].names.op;
            match end(&name[common..]) {
                Some(end) => beginnings.entry(&name[..common + end]).or_default().push(op),
                None => larger.ops.push(op),
            }
        }
        for (beginning, ops) in beginnings {
            match ops[..] {
                [op] => larger.ops.push(op),
                _ => {
                    let path = format!("{beginning}*{}", self.only.suffix());
                    // Names begin with a whole word: `managedlustre`, not `anagedlustre` below `m*`.
                    let words = beginning.rfind(['_', '-', '.']).map_or("", |at| &beginning[..=at]);
                    larger.groups.push(Piece { path, ops, prefix: words.to_string() });
                }
            }
        }
        larger.ops.sort_by_key(|&op| &self.catalog.tools[op].names.op);
        (larger.entries() < listing.entries()).then_some(larger)
    }

    /// Length of the longest common beginning of the ops, in bytes.
    fn common(&self, ops: &[usize]) -> usize {
        let mut names = ops.iter().map(|&op| self.catalog.tools[op].names.op.as_str());
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

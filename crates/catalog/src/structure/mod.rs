//! Derives missing categories and ops: from the server, the namespace or the path of the request, otherwise from the
//! object that a tool acts on.

mod groups;
mod object;
mod similarity;
mod titles;

pub(crate) use object::resource;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rayon::prelude::*;

use crate::audience::{Audience, groups};
use crate::config::Category;
use crate::names::{OpGroups, is_live};
use crate::title::bare;
use crate::tool::{LEFT_OVER, Tool};
use groups::{MAX, Words, divide, group};
use object::objects;
use similarity::WordVectors;
use titles::{KnownTitles, Paths, key, known, letters, titles};
use toolcrib_definition::CategoryPath;
use toolcrib_definition::finding::{Code, Finding};
use toolcrib_definition::grammar::singular;

/// Gives each tool a category and an op if it lacks them. Each audience is handled together with the tools that
/// everybody sees, so that nothing depends on a tool that a caller cannot see.
/// `described` are the categories that an author describes, with or without tools.
pub(super) fn derive<'c>(
    tools: &mut [Tool],
    described: impl Iterator<Item = &'c Category>,
    findings: &mut Vec<Finding>,
) {
    let is_derived = |tool: &Tool| tool.labels.categories.is_empty();
    let without: BTreeSet<usize> = (0..tools.len()).filter(|&index| is_derived(&tools[index])).collect();
    // The groups of a live server's tools within that server.
    let mut of_servers = Paths::new();
    if !without.is_empty() {
        of_servers = derive_categories(tools, described, &without, findings);
    }
    divide_large(tools, &without, findings);
    for tool in tools.iter_mut().filter(|tool| tool.labels.categories.is_empty()) {
        tool.labels.categories.extend(CategoryPath::parse(LEFT_OVER));
        tool.labels.is_category_derived = true;
    }
    let without: BTreeSet<usize> =
        without.into_iter().filter(|&index| tools[index].root_category() != LEFT_OVER).collect();
    let without_op: Vec<usize> = (0..tools.len()).filter(|&index| tools[index].names.op.is_empty()).collect();
    let groups_of = |tool: &Tool, index: &usize| {
        let below = of_servers.get(index).map(Vec::as_slice).unwrap_or_default();
        OpGroups::of(tool, without.contains(index), below)
    };
    let op = |index: &usize| groups_of(&tools[*index], index).op(&tools[*index].names.canonical);
    let ops: Vec<String> = without_op.par_iter().map(op).collect();
    for (&index, op) in without_op.iter().zip(ops) {
        tools[index].names.op = op;
        tools[index].names.is_op_derived = true;
    }
    for members in groups(tools.iter().map(Audience::of_tool)) {
        whole_names(tools, &members, &groups_of);
    }
}

/// Replaces equal derived ops by ops with the whole name of their tool: `comments.get_comment` and
/// `comments.get_comments`.
fn whole_names(tools: &mut [Tool], members: &[usize], groups_of: &dyn Fn(&Tool, &usize) -> OpGroups) {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for &index in members {
        *counts.entry(&tools[index].names.op).or_default() += 1;
    }
    let is_doubled = |index: &&usize| counts[tools[**index].names.op.as_str()] > 1;
    let is_derived = |index: &&usize| tools[**index].names.is_op_derived;
    let doubled: Vec<usize> = members.iter().filter(is_derived).filter(is_doubled).copied().collect();
    for index in doubled {
        tools[index].names.op =
            groups_of(&tools[index], &index).op_with_whole_name(&tools[index].names.canonical);
    }
}

fn derive_categories<'c>(
    tools: &mut [Tool],
    described: impl Iterator<Item = &'c Category>,
    without: &BTreeSet<usize>,
    findings: &mut Vec<Finding>,
) -> Paths {
    let audiences: Vec<Audience> = tools.iter().map(Audience::of_tool).collect();
    let is_public = |index: usize| audiences[index] == Audience::Everybody;
    let words = Words { objects: objects(tools, &is_public), vectors: WordVectors::of(tools) };
    let authored = (0..tools.len()).filter(|&index| is_public(index)).map(|index| tools[index].category());
    let known = known(authored.chain(described.map(|category| category.path.as_str())));
    let mut derived = Paths::new();
    let mut of_servers = Paths::new();
    for members in groups(audiences.iter().cloned()) {
        let own: BTreeSet<usize> = members.into_iter().filter(|index| without.contains(index)).collect();
        let seen = without.iter().copied().filter(|index| is_public(*index) || own.contains(index));
        let seen: Vec<usize> = seen.collect();
        let (paths, within) = categories(tools, &words, &seen, &known);
        derived.extend(paths.into_iter().filter(|(index, _)| own.contains(index)));
        of_servers.extend(within.into_iter().filter(|(index, _)| own.contains(index)));
    }
    report(tools, &derived, findings);
    for (index, path) in derived {
        let path = CategoryPath::from_segments(path.iter().map(String::as_str));
        tools[index].labels.categories.extend(path.or_else(|| CategoryPath::parse(LEFT_OVER)));
        tools[index].labels.is_category_derived = true;
    }
    of_servers
}

/// Divides authors' large categories into derived ones, for tools that everybody sees.
fn divide_large(tools: &mut [Tool], without: &BTreeSet<usize>, findings: &mut Vec<Finding>) {
    let is_public = |index: usize| Audience::of_tool(&tools[index]) == Audience::Everybody;
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for index in (0..tools.len()).filter(|index| !without.contains(index) && is_public(*index)) {
        members.entry(tools[index].category()).or_default().push(index);
    }
    members.retain(|path, members| *path != LEFT_OVER && members.len() > MAX);
    if members.is_empty() {
        return;
    }
    let objects = objects(tools, &is_public);
    let mut derived = Paths::new();
    for (path, members) in members {
        let keys = divide(&objects, &key(path.rsplit('/').next().unwrap_or(path)), &members);
        let keys: Paths = keys.into_iter().map(|(index, key)| (index, vec![key])).collect();
        let titles = titles(tools, &objects, &keys, &KnownTitles::new());
        let own = path.rsplit('/').next().unwrap_or(path).to_lowercase();
        for (index, key) in keys {
            let title = titles.get(&key).filter(|title| singular(&title.to_lowercase()) != singular(&own));
            derived.extend(title.map(|title| (index, vec![path.to_string(), title.clone()])));
        }
    }
    report(tools, &derived, findings);
    for (index, path) in derived {
        let Some(path) = CategoryPath::parse(&path.join("/")) else { continue };
        tools[index].labels.categories[0] = path;
        tools[index].labels.is_category_derived = true;
    }
}

/// The category paths of these tools, and the groups of those with a live server as if there were no other: their ops
/// stay the same whatever else is there.
fn categories(tools: &[Tool], words: &Words, members: &[usize], known: &KnownTitles) -> (Paths, Paths) {
    let mut by_server: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for &index in members {
        by_server.entry(tools[index].origin.server.as_deref()).or_default().push(index);
    }
    let has_servers = by_server.len() > 1;
    let mut paths = Paths::new();
    let mut of_servers = Paths::new();
    let none = KnownTitles::new();
    for (server, members) in by_server {
        let root = if has_servers { server.map(|server| bare(server).to_string()) } else { None };
        let is_small = root.is_some() && members.len() <= MAX;
        let titled = |known: &KnownTitles| -> Paths {
            let keys = group(words, &members, known);
            let titles = titles(tools, &words.objects, &keys, known);
            let titled = |path: &Vec<String>| {
                (1..=path.len()).filter_map(|depth| titles.get(&path[..depth]).cloned()).collect()
            };
            keys.iter().map(|(&index, path)| (index, titled(path))).collect()
        };
        let is_live = members.iter().any(|&index| is_live(&tools[index].origin.place));
        let within = if is_live { titled(&none) } else { Paths::new() };
        // Authors' titles apply at the root, not below a server.
        let below = match root {
            Some(_) if is_small => Paths::new(),
            Some(_) if is_live => within.clone(),
            Some(_) => titled(&none),
            None => titled(known),
        };
        for &index in &members {
            let below = below.get(&index).into_iter().flatten().cloned();
            paths.insert(index, root.iter().cloned().chain(below).collect());
        }
        of_servers.extend(within);
    }
    let rest: Vec<usize> = members.iter().copied().filter(|index| paths[index].is_empty()).collect();
    let is_large = rest.len() > MAX;
    for index in rest {
        let letters = is_large.then(|| letters(&tools[index].names.canonical).to_string());
        paths.insert(index, std::iter::once(LEFT_OVER.to_string()).chain(letters).collect());
    }
    (paths, of_servers)
}

/// Reports each derived category.
fn report(tools: &[Tool], derived: &Paths, findings: &mut Vec<Finding>) {
    let mut categories: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (&index, path) in derived.iter().filter(|(_, path)| path[0] != LEFT_OVER) {
        categories.entry(path.join("/")).or_default().push(index);
    }
    for (path, members) in categories {
        let count = members.len();
        let first = &tools[members[0]];
        let tools = if count == 1 { "tool has" } else { "tools have" };
        let message = format!("{count} {tools} the derived category `{path}`");
        findings.push(first.finding(Code::CategoryDerived, message));
    }
}

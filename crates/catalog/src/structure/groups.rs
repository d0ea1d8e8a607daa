//! Groups tools by their objects. A tool joins the group of its first noun if enough tools have that noun first,
//! otherwise the group of a later noun, otherwise the group with the most similar tools.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rayon::prelude::*;

use super::object::Object;
use super::similarity::WordVectors;
use super::titles::{KnownTitles, Paths};
use toolcrib_definition::grammar::WordClass;

/// What the names and descriptions of all tools say, by position.
pub(super) struct Words {
    pub(super) objects: Vec<Object>,
    pub(super) vectors: WordVectors,
}

/// Fewest tools of a group.
const MIN: usize = 3;
/// Most tools of a group without groups below it.
pub(super) const MAX: usize = 40;
/// Least mean similarity with the nearest tools of a group.
const MIN_SIMILARITY: f32 = 0.22;
/// Number of tools in that mean.
const NEAREST: usize = 3;

/// The group of each tool, as a path of keys: nouns and namespaces. Empty for a tool that has nothing in common with
/// others.
pub(super) fn group(words: &Words, members: &[usize], known: &KnownTitles) -> Paths {
    let objects = &words.objects;
    let mut keys = by_noun(objects, members, known);
    by_shared_noun(objects, members, &mut keys);
    by_similarity(words, members, &mut keys);
    let mut paths = Paths::new();
    let mut large: BTreeMap<&String, Vec<usize>> = BTreeMap::new();
    for (&tool, key) in &keys {
        paths.insert(tool, vec![key.clone()]);
        large.entry(key).or_default().push(tool);
    }
    for (key, tools) in large.into_iter().filter(|(_, tools)| tools.len() > MAX) {
        let below = divide(objects, key, &tools);
        for (tool, key) in below {
            paths.entry(tool).or_default().push(key);
        }
    }
    paths
}

/// Groups tools by their first noun if an author has a category for it or enough tools share it, otherwise by a later
/// noun that is the first noun of enough tools.
fn by_noun(objects: &[Object], members: &[usize], known: &KnownTitles) -> BTreeMap<usize, String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for &tool in members {
        *counts.entry(&objects[tool].nouns[0]).or_default() += 1;
    }
    let is_shared =
        |noun: &&String| is_object(noun) && counts.get(noun.as_str()).is_some_and(|&count| count >= MIN);
    let key = |&tool: &usize| {
        let object = &objects[tool];
        // A verb can be an author's category: `Search`.
        let first = object.nouns.first().filter(|noun| known.contains_key(*noun));
        Some((tool, first.or_else(|| object.all().find(is_shared))?.clone()))
    };
    members.iter().filter_map(key).collect()
}

/// Whether tools may be grouped by a word. Names without a noun have only a verb, which makes no group.
pub(super) fn is_object(word: &&String) -> bool {
    WordClass::of(word) != WordClass::Verb && !matches!(word.as_str(), "search" | "query")
}

/// Groups the remaining tools by any noun that enough of them share, the most frequent noun first.
fn by_shared_noun(objects: &[Object], members: &[usize], keys: &mut BTreeMap<usize, String>) {
    let nouns = |tool: usize| objects[tool].all().filter(is_object).collect::<BTreeSet<&String>>();
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for &tool in members.iter().filter(|tool| !keys.contains_key(tool)) {
        nouns(tool).into_iter().for_each(|noun| *counts.entry(noun).or_default() += 1);
    }
    while let Some((&noun, _)) =
        counts.iter().filter(|(_, count)| **count >= MIN).max_by_key(|(_, count)| **count)
    {
        for &tool in members {
            if !keys.contains_key(&tool) && objects[tool].all().any(|own| own == noun) {
                keys.insert(tool, noun.clone());
                nouns(tool).into_iter().for_each(|noun| *counts.entry(noun).or_default() -= 1);
            }
        }
    }
}

/// Adds the remaining tools to the most similar group; tools with the same object stay together.
fn by_similarity(words: &Words, members: &[usize], keys: &mut BTreeMap<usize, String>) {
    let names: Vec<String> = keys.values().cloned().collect::<BTreeSet<_>>().into_iter().collect();
    let group = |key: &String| names.binary_search(key).unwrap_or_default();
    let grouped: Vec<(usize, usize)> = keys.iter().map(|(&tool, key)| (tool, group(key))).collect();
    let nearest = |tool: usize| {
        let similarities = words.vectors.similarities(tool);
        let mut nearest = vec![[0.0_f32; NEAREST]; names.len()];
        for &(other, group) in &grouped {
            let best = &mut nearest[group];
            if similarities[other] > best[NEAREST - 1] {
                best[NEAREST - 1] = similarities[other];
                best.sort_by(|one, other| other.total_cmp(one));
            }
        }
        let means = nearest.iter().map(|best| best.iter().sum::<f32>() / NEAREST as f32).enumerate();
        let (group, mean) = means.max_by(|one, other| one.1.total_cmp(&other.1))?;
        (mean >= MIN_SIMILARITY).then_some((group, mean))
    };
    let mut same: BTreeMap<&[String], Vec<usize>> = BTreeMap::new();
    for &tool in members.iter().filter(|tool| !keys.contains_key(tool)) {
        same.entry(&words.objects[tool].nouns).or_default().push(tool);
    }
    let group_of = |tools: Vec<usize>| {
        let nearest = tools.iter().filter_map(|&tool| nearest(tool));
        let (group, _) = nearest.max_by(|one, other| one.1.total_cmp(&other.1))?;
        Some((tools, names[group].clone()))
    };
    let sets: Vec<Vec<usize>> = same.into_values().collect();
    let found: Vec<(Vec<usize>, String)> = sets.into_par_iter().filter_map(group_of).collect();
    keys.extend(
        found.into_iter().flat_map(|(tools, key)| tools.into_iter().map(move |tool| (tool, key.clone()))),
    );
}

/// Divides a large group by the noun after its key; the other tools stay in the large group.
pub(super) fn divide(objects: &[Object], key: &str, tools: &[usize]) -> Vec<(usize, String)> {
    let after = |tool: usize| -> Option<&String> {
        let mut nouns = objects[tool].all();
        let has_key = nouns.any(|noun| noun == key);
        let next = nouns.next();
        if has_key { next } else { objects[tool].nouns.first() }
    };
    let mut counts: HashMap<&String, usize> = HashMap::new();
    tools.iter().filter_map(|&tool| after(tool)).for_each(|noun| *counts.entry(noun).or_default() += 1);
    let is_group = |noun: &&String| {
        *noun != key && counts.get(*noun).is_some_and(|&count| count >= MIN && count < tools.len())
    };
    tools.iter().filter_map(|&tool| Some((tool, after(tool).filter(is_group)?.clone()))).collect()
}

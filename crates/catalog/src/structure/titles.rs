//! Titles of derived categories: an object in the plural, or an unchanged namespace.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use super::object::Object;
use crate::title::spelled;
use crate::tool::Tool;
use toolcrib_definition::grammar::{plural, singular};
use toolcrib_definition::words;

/// The range of letters that has the first letter of a name, for tools that are left over.
pub(super) fn letters(name: &str) -> &'static str {
    match name.chars().find(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()) {
        Some('a'..='f') => "A to F",
        Some('g'..='l') => "G to L",
        Some('m'..='r') => "M to R",
        Some('s'..='z') => "S to Z",
        _ => "Other letters",
    }
}

/// Authors' titles, by the key that a group with that title would have.
pub(super) type KnownTitles = HashMap<String, String>;

/// A path of keys by the position of a tool.
pub(super) type Paths = BTreeMap<usize, Vec<String>>;
/// The title of each group, by its path of keys.
type Titles = HashMap<Vec<String>, String>;

/// The titles of the top-level categories among these paths.
pub(super) fn known<'p>(paths: impl Iterator<Item = &'p str>) -> KnownTitles {
    let roots = paths.filter(|path| !path.is_empty() && !path.contains('/'));
    roots.map(|path| (key(path), path.to_string())).collect()
}

/// The key that a group with this title would have.
pub(super) fn key(title: &str) -> String {
    words(title).iter().map(|word| singular(word)).collect::<Vec<_>>().join("_")
}

/// The title of each group, by its path of keys.
pub(super) fn titles(tools: &[Tool], objects: &[Object], groups: &Paths, known: &KnownTitles) -> Titles {
    let mut members: BTreeMap<&[String], Vec<usize>> = BTreeMap::new();
    for (&tool, path) in groups {
        (1..=path.len()).for_each(|depth| members.entry(&path[..depth]).or_default().push(tool));
    }
    let titled = |(path, members): (&[String], Vec<usize>)| {
        let authored = if let [root] = path { known.get(root).cloned() } else { None };
        (path.to_vec(), authored.unwrap_or_else(|| title(tools, objects, path, &members)))
    };
    members.into_par_iter().map(titled).collect()
}

pub(super) fn title(tools: &[Tool], objects: &[Object], path: &[String], members: &[usize]) -> String {
    let Some(key) = path.last() else { return String::new() };
    let begins = |&&tool: &&usize| {
        let name = words(&tools[tool].names.canonical).join("_");
        name.strip_prefix(key.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let is_namespace = members.iter().filter(begins).count() * 2 > members.len();
    let mut nouns: Vec<String> = key.split('_').map(str::to_string).collect();
    if !is_namespace {
        nouns.extend(following(objects, key, members));
        if let Some(last) = nouns.last_mut() {
            let many = plural(last);
            let says = |&tool: &usize| {
                let description = &tools[tool].texts.description;
                // Splitting a long text into words is slow; most texts have no such letters.
                words(&tools[tool].names.canonical).contains(&many)
                    || (description.contains(&many) && words(description).contains(&many))
            };
            if members.iter().any(says) {
                *last = many;
            }
        }
    }
    let nouns: Vec<String> = nouns.into_iter().map(spelled).collect();
    let text = nouns.join(" ");
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The noun after a key, if it is the same in all tools with the key: `request` after `pull`.
fn following(objects: &[Object], key: &str, members: &[usize]) -> Option<String> {
    let mut next = members.iter().filter_map(|&tool| {
        let mut nouns = objects[tool].nouns.iter();
        nouns.find(|noun| *noun == key)?;
        Some(nouns.next())
    });
    let first = next.next()??;
    (!first.contains('_') && next.all(|noun| noun == Some(first))).then(|| first.clone())
}

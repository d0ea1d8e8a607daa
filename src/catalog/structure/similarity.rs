//! Similarity of tools by the words of their names and descriptions. Each word has the same weight in every catalog,
//! so that the similarity of two tools does not depend on a third.

use std::collections::{HashMap, HashSet};

use crate::tool::grammar::{WordClass, singular};
use crate::tool::words;

/// Most characters of a description that are read: the beginning says what a tool does.
const MAX_CHARS: usize = 600;
/// Most words of a name that are read: a longer one is no name.
const MAX_NAME_WORDS: usize = 40;
/// Weight of a word of the name that is no verb; a word of the description has 1.
const NAME_WEIGHT: f32 = 2.0;
/// Words of descriptions that tell no object from another.
const EMPTY: &str = "it its this that these those is are be can will not if when which what where as at based each has \
    have more other also use used uses using return returns returned provide provides provided given such only their \
    them they then than there do does to in on with from into by for of";

/// The words of all tools, as unit vectors.
pub(super) struct WordVectors {
    vectors: Vec<Vec<(u32, f32)>>,
    /// The tools that have a word, by word.
    holders: Vec<Vec<(u32, f32)>>,
}

impl WordVectors {
    /// Vectors of tools, given as names and descriptions.
    pub(super) fn of<'a>(tools: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut ids: HashMap<String, u32> = HashMap::new();
        let empty: HashSet<&str> = EMPTY.split_whitespace().collect();
        let vectors: Vec<_> =
            tools.map(|(name, description)| vector(name, description, &mut ids, &empty)).collect();
        let mut holders = vec![Vec::new(); ids.len()];
        for (tool, words) in vectors.iter().enumerate() {
            words.iter().for_each(|&(word, weight)| holders[word as usize].push((tool as u32, weight)));
        }
        Self { vectors, holders }
    }

    /// Writes the similarities of a tool with all tools, from 0 to 1, by their positions.
    pub(super) fn similarities(&self, tool: usize, similarities: &mut Vec<f32>) {
        similarities.clear();
        similarities.resize(self.vectors.len(), 0.0);
        for &(word, weight) in &self.vectors[tool] {
            for &(other, of_other) in &self.holders[word as usize] {
                similarities[other as usize] += weight * of_other;
            }
        }
    }
}

fn vector(
    name: &str,
    description: &str,
    ids: &mut HashMap<String, u32>,
    empty: &HashSet<&str>,
) -> Vec<(u32, f32)> {
    let end = description.char_indices().nth(MAX_CHARS).map_or(description.len(), |(end, _)| end);
    let mut in_name = words(name);
    in_name.truncate(MAX_NAME_WORDS);
    let mut counts: Vec<(u32, f32, f32)> = Vec::new();
    for (word, is_name) in in_name
        .iter()
        .map(|word| (word, true))
        .chain(words(&description[..end]).iter().map(|word| (word, false)))
    {
        if word.chars().count() < 2
            || empty.contains(word.as_str())
            || WordClass::of(word) == WordClass::Empty
        {
            continue;
        }
        let next = ids.len() as u32;
        let id = *ids.entry(singular(word)).or_insert(next);
        let weight = if is_name && WordClass::of(word) != WordClass::Verb { NAME_WEIGHT } else { 1.0 };
        match counts.iter_mut().find(|(known, ..)| *known == id) {
            Some((_, count, most)) => (*count, *most) = (*count + 1.0, most.max(weight)),
            None => counts.push((id, 1.0, weight)),
        }
    }
    let weighted: Vec<(u32, f32)> =
        counts.into_iter().map(|(id, count, weight)| (id, (1.0 + count.ln()) * weight)).collect();
    let length = weighted.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt();
    weighted.into_iter().map(|(id, weight)| (id, weight / length.max(f32::MIN_POSITIVE))).collect()
}

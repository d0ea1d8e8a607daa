//! Similarity of tools by the words of their names and descriptions. Each word has the same weight in every catalog,
//! so that the similarity of two tools does not depend on a third.

use hashbrown::HashSet;
use rayon::prelude::*;

use crate::tool::Tool;
use toolcrib_definition::grammar::{WordClass, singular};
use toolcrib_definition::{beginning, each_word};

/// Most characters of a description that are read: the beginning says what a tool does.
const MAX_CHARS: usize = 600;
/// Most words of a name that are read: a longer text is not a name.
const MAX_NAME_WORDS: usize = 40;
/// Weight of a word in the name that is not a verb; all other words have 1.
const NAME_WEIGHT: f32 = 2.0;
/// Words of descriptions that do not distinguish objects.
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
    /// Vectors of tools.
    pub(super) fn of(tools: &[Tool]) -> Self {
        let empty: HashSet<&str> = EMPTY.split_whitespace().collect();
        let weighted: Vec<_> = tools
            .par_iter()
            .map(|tool| weighted(&tool.names.canonical, &tool.texts.description, &empty))
            .collect();
        let mut ids: hashbrown::HashMap<String, u32> = hashbrown::HashMap::new();
        let mut id = |word: String| {
            let next = ids.len() as u32;
            *ids.entry(word).or_insert(next)
        };
        let mut with_ids =
            |words: Vec<(String, f32)>| words.into_iter().map(|(word, weight)| (id(word), weight)).collect();
        let vectors: Vec<Vec<(u32, f32)>> = weighted.into_iter().map(&mut with_ids).collect();
        let mut holders = vec![Vec::new(); ids.len()];
        for (tool, words) in vectors.iter().enumerate() {
            words.iter().for_each(|&(word, weight)| holders[word as usize].push((tool as u32, weight)));
        }
        Self { vectors, holders }
    }

    /// The similarity of a tool to each tool, from 0 to 1, by position.
    pub(super) fn similarities(&self, tool: usize) -> Vec<f32> {
        let mut similarities = vec![0.0; self.vectors.len()];
        for &(word, weight) in &self.vectors[tool] {
            for &(other, of_other) in &self.holders[word as usize] {
                similarities[other as usize] += weight * of_other;
            }
        }
        similarities
    }
}

/// The words of a tool with the weights of a unit vector.
fn weighted(name: &str, description: &str, empty: &HashSet<&str>) -> Vec<(String, f32)> {
    let in_name = each_word(name).take(MAX_NAME_WORDS).map(|word| (word, true));
    let in_description = each_word(beginning(description, MAX_CHARS)).map(|word| (word, false));
    let mut counts: Vec<(String, f32, f32)> = Vec::new();
    for (word, is_name) in in_name.chain(in_description) {
        let class = WordClass::of(&word);
        if word.chars().nth(1).is_none() || empty.contains(word.as_str()) || class == WordClass::Empty {
            continue;
        }
        let weight = if is_name && class != WordClass::Verb { NAME_WEIGHT } else { 1.0 };
        let word = singular(&word);
        match counts.iter_mut().find(|(known, ..)| *known == word) {
            Some((_, count, most)) => (*count, *most) = (*count + 1.0, most.max(weight)),
            None => counts.push((word, 1.0, weight)),
        }
    }
    let mut weighted: Vec<(String, f32)> =
        counts.into_iter().map(|(word, count, weight)| (word, (1.0 + count.ln()) * weight)).collect();
    let length = weighted.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt();
    weighted.iter_mut().for_each(|(_, weight)| *weight /= length.max(f32::MIN_POSITIVE));
    weighted
}

//! Synonyms: those of a configuration, common abbreviations and everyday words.

use hashbrown::HashMap;
use indexmap::IndexMap;

use super::stems::phrase;
use super::words::plain;

/// Most words of a phrase that is looked up.
pub(super) const MAX_PHRASE: usize = 3;
/// Factor for each word of a phrase.
const OF_PHRASE: f32 = 0.6;
/// Weight of a configured synonym: it was written for this catalog.
const CONFIGURED: f32 = 0.9;

/// Abbreviations and everyday words that people type, and what they stand for.
const EVERYDAY: &str = include_str!("words/everyday.txt");

/// The synonyms of a configuration: by a stem, or stems with a space between them, the stems that they mean.
#[derive(Debug, Default)]
pub(super) struct Synonyms {
    meanings: HashMap<String, Vec<(String, f32)>>,
    /// The words of all meanings of a key, for their vectors.
    words: HashMap<String, Vec<String>>,
}

/// A word as its stem, with its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Synonym<'t> {
    pub(super) stem: &'t str,
    pub(super) weight: f32,
}

impl Synonyms {
    /// The synonyms of a configuration, and common abbreviations.
    pub(super) fn configured(synonyms: &IndexMap<String, Vec<String>>) -> Self {
        let mut all = Self::default();
        let short = EVERYDAY.lines().filter_map(|line| line.split_once(" > "));
        let own = synonyms.iter().flat_map(|(left, rights)| rights.iter().map(|right| (&**left, &**right)));
        for (left, right) in short.chain(own) {
            let key = phrase(left);
            let meaning = phrase(right);
            if key.is_empty() || meaning == key {
                continue;
            }
            let weight = if meaning.contains(' ') { CONFIGURED * OF_PHRASE } else { CONFIGURED };
            all.words.entry_ref(&key).or_default().extend(plain(right));
            let stems = meaning.split(' ').map(|stem| (stem.to_string(), weight));
            all.meanings.entry(key).or_default().extend(stems);
        }
        all
    }

    /// The meanings of a stem, or of stems with a space between them.
    pub(super) fn of(&self, key: &str) -> impl Iterator<Item = Synonym<'_>> {
        let meanings = self.meanings.get(key).into_iter().flatten();
        meanings.map(|(stem, weight)| Synonym { stem, weight: *weight })
    }

    /// The words that a key means.
    pub(super) fn words_of(&self, key: &str) -> impl Iterator<Item = &str> {
        self.words.get(key).into_iter().flatten().map(String::as_str)
    }
}

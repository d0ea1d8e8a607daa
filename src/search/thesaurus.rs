//! A thesaurus: relates words of people to words of tool definitions. The built-in ones are compiled into the program
//! (`build.rs`, `languages`); a configuration adds synonyms.

use std::collections::{HashMap, HashSet};

use super::stemming::stemmed;
use super::words::plain;

/// Most words of a phrase that is looked up.
pub(super) const MAX_PHRASE: usize = 3;
/// Factor for each word of a phrase.
const OF_PHRASE: f32 = 0.6;
/// Weight of a configured synonym: it was written for this catalog.
const CONFIGURED: f32 = 0.9;

/// Words, with their synonyms and related words.
#[derive(Debug, Default)]
pub(super) struct Thesaurus {
    /// Keys are stems, or stems with a space between them. Meanings are stems with their weights.
    pub(super) meanings: HashMap<Box<str>, Vec<(Box<str>, f32)>>,
    /// The first stems of keys with several.
    pub(super) phrases: HashSet<Box<str>>,
}

/// A word as its stem, with its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Synonym<'t> {
    pub(super) stem: &'t str,
    pub(super) weight: f32,
}

/// A text as the stems of its words.
pub(super) fn phrase(text: &str) -> String {
    plain(text).iter().map(|word| stemmed(word)).collect::<Vec<_>>().join(" ")
}

impl Thesaurus {
    /// The synonyms of a configuration.
    pub(super) fn configured<'s>(synonyms: impl IntoIterator<Item = (&'s String, &'s Vec<String>)>) -> Self {
        let mut thesaurus = Self::default();
        for (left, right) in synonyms {
            for right in right {
                thesaurus.add(phrase(left), &phrase(right), CONFIGURED);
            }
        }
        thesaurus
    }

    /// Adds a phrase as a meaning of a key.
    pub(super) fn add(&mut self, key: String, right: &str, weight: f32) {
        if key.is_empty() || key == right {
            return;
        }
        if let Some((first, _)) = key.split_once(' ') {
            self.phrases.insert(first.into());
        }
        let weight = if right.contains(' ') { weight * OF_PHRASE } else { weight };
        let meanings = self.meanings.entry(key.into_boxed_str()).or_default();
        for stem in right.split(' ').filter(|stem| !stem.is_empty()) {
            match meanings.iter_mut().find(|(known, _)| **known == *stem) {
                Some((_, known)) => *known = known.max(weight),
                None => meanings.push((stem.into(), weight)),
            }
        }
    }

    /// The meanings of a stem, or of stems with a space between them.
    pub(super) fn of<'t>(&'t self, key: &str) -> impl Iterator<Item = Synonym<'t>> + use<'t> {
        let meanings = self.meanings.get(key).into_iter().flatten();
        meanings.map(|(stem, weight)| Synonym { stem, weight: *weight })
    }

    /// Whether it knows a stem.
    pub(super) fn knows(&self, key: &str) -> bool {
        self.meanings.contains_key(key)
    }

    /// Whether any longer key begins with this stem.
    pub(super) fn begins(&self, stem: &str) -> bool {
        self.phrases.contains(stem)
    }
}

//! The words of a catalog, each with a number, and lists of words that are empty or weak in every catalog.

use hashbrown::HashMap;

use super::languages::ENGLISH;
use super::word_list::{ACTION, STOP, WEAK};

/// Whether a word says nothing about the tool that is meant.
pub(super) fn is_stop(word: &str) -> bool {
    ENGLISH.is(word, STOP)
}

/// Whether a stem is a weak word.
pub(super) fn is_weak(stem: &str) -> bool {
    ENGLISH.is(stem, WEAK)
}

/// Whether a stem is an action rather than an object.
pub(super) fn is_action(stem: &str) -> bool {
    ENGLISH.is(stem, ACTION)
}

/// The number of a term: all words with one stem.
pub(super) type Term = u32;

/// The terms of a catalog.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    terms: HashMap<Box<str>, Term>,
    stems: Vec<Box<str>>,
}

impl Vocabulary {
    /// The number of a stem; a new stem gets the next one.
    pub(super) fn number(&mut self, stem: &str) -> Term {
        if let Some(&term) = self.terms.get(stem) {
            return term;
        }
        let term = Term::try_from(self.terms.len()).unwrap_or(Term::MAX);
        self.terms.insert(stem.into(), term);
        self.stems.push(stem.into());
        term
    }

    /// The number of a known stem.
    pub(super) fn get(&self, stem: &str) -> Option<Term> {
        self.terms.get(stem).copied()
    }

    /// The stem of a term.
    pub(super) fn stem(&self, term: Term) -> &str {
        self.stems.get(term as usize).map_or("", |stem| stem)
    }

    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }
}

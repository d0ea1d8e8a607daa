//! The words of a catalog, each with a number, and which words say nothing or little anywhere.

use std::sync::LazyLock;

use hashbrown::{HashMap, HashSet};

use super::words::stem;

/// Words that say nothing about which tool is meant.
static STOP: LazyLock<HashSet<&str>> = LazyLock::new(|| listed(include_str!("words/stop.txt")).collect());
/// Stems of words that say little.
static WEAK: LazyLock<HashSet<String>> =
    LazyLock::new(|| listed(include_str!("words/weak.txt")).map(stem).collect());

/// Stems of words for what is done rather than for what it is done to.
static ACTIONS: LazyLock<HashSet<String>> =
    LazyLock::new(|| listed(include_str!("words/action.txt")).map(stem).collect());

fn listed(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace)
}

/// Whether a word says nothing about which tool is meant.
pub(super) fn is_stop(word: &str) -> bool {
    STOP.contains(word)
}

/// Whether a stem says little about which tool is meant.
pub(super) fn is_weak(stem: &str) -> bool {
    WEAK.contains(stem)
}

/// Whether a stem says what is done rather than what it is done to.
pub(super) fn is_action(stem: &str) -> bool {
    ACTIONS.contains(stem)
}

/// The number of a term: all words with one stem.
pub(super) type Term = u32;

/// The terms of a catalog.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    terms: HashMap<Box<str>, Term>,
}

impl Vocabulary {
    /// The number of a stem, a new one if it is not known.
    pub(super) fn number(&mut self, stem: &str) -> Term {
        if let Some(&term) = self.terms.get(stem) {
            return term;
        }
        let term = Term::try_from(self.terms.len()).unwrap_or(Term::MAX);
        self.terms.insert(stem.into(), term);
        term
    }

    /// The number of a stem that is known.
    pub(super) fn get(&self, stem: &str) -> Option<Term> {
        self.terms.get(stem).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }
}

//! Terms: words of a catalog as numbers; and lists of words that are empty or weak in every catalog.

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

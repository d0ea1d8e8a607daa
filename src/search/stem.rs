//! Stems of a query, as the index and the English list know them.

use super::index::Index;
use super::languages::ENGLISH;
use super::stemming::stemmed;
use super::thesaurus::{Synonym, Thesaurus};
use super::vocabulary::Term;
use super::word_list::{ListedWord, STOP};

/// A stem.
#[derive(Clone, Debug)]
pub(super) struct Stem {
    pub(super) text: String,
    /// Its term in the index.
    pub(super) term: Option<Term>,
    english: Option<ListedWord>,
}

impl Stem {
    /// The stem with this text.
    pub(super) fn of(text: String, index: &Index) -> Self {
        Self { term: index.term(&text), english: ENGLISH.look_up(&text), text }
    }

    /// The stem of a word, and whether the word says nothing.
    pub(super) fn of_word(word: &str, index: &Index) -> (Self, bool) {
        let listed = ENGLISH.look_up(word);
        let stem = match listed.and_then(ListedWord::stem) {
            Some(english) => {
                let text = english.text().to_string();
                Self { term: index.term(&text), english: Some(english), text }
            }
            None => Self::of(stemmed(word).into_owned(), index),
        };
        (stem, listed.is_some_and(|word| word.is(STOP)))
    }

    /// Whether a fact of the English list holds for it.
    pub(super) fn is(&self, fact: u32) -> bool {
        self.english.is_some_and(|english| english.is(fact))
    }

    /// Its meanings, in English and in the configuration.
    pub(super) fn meanings<'t>(
        &self,
        synonyms: &'t Thesaurus,
    ) -> impl Iterator<Item = Synonym<'t>> + use<'t> {
        self.english.into_iter().flat_map(ListedWord::meanings).chain(synonyms.of(&self.text))
    }

    /// Whether people use it for tools of any catalog.
    pub(super) fn is_common(&self, synonyms: &Thesaurus) -> bool {
        self.english.is_some_and(ListedWord::is_key) || synonyms.knows(&self.text)
    }
}

/// Stems as the key of a phrase.
pub(super) fn phrase_of<'s>(stems: impl IntoIterator<Item = &'s Stem>) -> String {
    let mut key = String::new();
    for stem in stems {
        key.extend([if key.is_empty() { "" } else { " " }, &stem.text]);
    }
    key
}

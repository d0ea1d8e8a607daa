//! Stems of a query, as the index and the English list know them.

use super::index::{Index, Term};
use super::languages::ENGLISH;
use super::thesaurus::{Synonym, Thesaurus, Word};

/// A stem.
#[derive(Clone, Debug)]
pub(super) struct Stem {
    pub(super) text: String,
    /// Its term in the index.
    pub(super) term: Option<Term>,
    english: Option<&'static Word>,
}

impl Stem {
    /// The stem with this text.
    pub(super) fn of(text: String, index: &Index) -> Self {
        Self { term: index.term(&text), english: ENGLISH.word(&text), text }
    }

    /// Whether a fact of the English list holds for it.
    pub(super) fn is(&self, fact: u8) -> bool {
        self.english.is_some_and(|english| english.is(fact))
    }

    /// Its meanings, in English and in the configuration.
    pub(super) fn meanings<'t>(
        &self,
        synonyms: &'t Thesaurus,
    ) -> impl Iterator<Item = Synonym<'t>> + use<'t> {
        ENGLISH.meanings(self.english).chain(synonyms.of(&self.text))
    }

    /// Whether people use it for tools of any catalog.
    pub(super) fn is_common(&self, synonyms: &Thesaurus) -> bool {
        self.english.is_some_and(Word::is_key) || synonyms.knows(&self.text)
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

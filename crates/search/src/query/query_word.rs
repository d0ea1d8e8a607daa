//! The words of a query, each with its stem and its term.

use crate::index::{Index, Term};
use crate::meaning::is_word;
use crate::stems::stemmed;
use crate::stop_words::{is_stop, is_weak};
use crate::translations::Translation;
use crate::words::words;

/// Most words that are read of a query.
const MAX_WORDS: usize = 400;
/// Longest word, in bytes: longer ones are data.
const MAX_WRITTEN: usize = 120;

/// Words that "is" is joined with.
const ASKING: [&str; 5] = ["who", "what", "when", "where", "why"];

pub(super) struct QueryWord {
    pub(super) text: String,
    pub(super) stem: String,
    /// Its term in the index.
    pub(super) term: Option<Term>,
    /// Whether it says nothing about the tool that is meant.
    pub(super) is_stop: bool,
    /// The word that was probably meant, for a misspelled one.
    pub(super) meant: Option<String>,
    /// Its meanings in English, for a word or a phrase of another language.
    pub(super) meanings: Vec<Translation>,
}

pub(super) fn query_words(text: &str, index: &Index) -> Vec<QueryWord> {
    let mut list = Vec::new();
    for written in text.split_whitespace().filter(|written| written.len() <= MAX_WRITTEN).take(MAX_WORDS) {
        words(written, |word| {
            // "whats" for "what's".
            let text = word.strip_suffix('s').filter(|word| ASKING.contains(word)).unwrap_or(word);
            let stem = stemmed(text).into_owned();
            let term = index.term(&stem);
            let is_stop = is_stop(text);
            let text = text.to_string();
            list.push(QueryWord { text, stem, term, is_stop, meant: None, meanings: Vec::new() });
        });
    }
    list.truncate(MAX_WORDS);
    list
}

impl QueryWord {
    /// A word or a phrase of another language with its meanings.
    pub(super) fn foreign(text: String, meanings: Vec<Translation>) -> Self {
        Self { stem: text.clone(), text, term: None, is_stop: false, meant: None, meanings }
    }

    /// The word as a request in English has it.
    pub(super) fn plain(&self) -> String {
        let meaning = self.meanings.first().map(|meaning| meaning.word);
        self.meant.as_deref().or(meaning).unwrap_or(&self.text).to_string()
    }

    /// Corrects the spelling of a word that neither the catalog nor a language has.
    pub(super) fn mend(&mut self, index: &Index) {
        let is_known = self.is_stop || self.term.is_some() || is_weak(&self.stem) || is_word(&self.text);
        if !is_known && self.meanings.is_empty() && index.synonyms.of(&self.stem).next().is_none() {
            self.meant = index.spelling.nearest(&self.text).map(str::to_string);
        }
    }
}

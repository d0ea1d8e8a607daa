//! The words of all entries, in memory: for each term the entries that contain it, with its weight in each.

use std::collections::HashMap;

use super::IndexEntry;
use super::intent::Intent;
use super::reference_tools::reference_topics;
use super::spelling::Spelling;
use super::text_table::TextTable;
use super::thesaurus::Thesaurus;
use super::topics::{TopicVector, Topics};
use super::words::{Word, words};
use crate::config;

/// Below this likelihood that anything fits, the answer is that nothing does.
pub(super) const MIN_MATCH_LIKELIHOOD: f32 = 0.3;

/// The number of a term: all words with one stem.
pub(super) type Term = u32;

/// The words of all entries.
#[derive(Debug, Default)]
pub struct Index {
    /// The stems of all terms.
    pub(super) vocabulary: TextTable,
    /// Inverse document frequency of each term: the fewer entries have it, the more distinctive it is.
    pub(super) idf: Vec<f32>,
    /// Inverse document frequency of a term that no entry has.
    pub(super) max_idf: f32,
    /// Whether each term occurs outside of values and examples.
    pub(super) is_descriptive: Vec<bool>,
    /// The entries that contain each term, with its weight in each, from 0 to 1: higher when the term is frequent, and when
    /// the text is short.
    pub(super) postings: Vec<Vec<(u32, f32)>>,
    /// The terms of each entry, sorted, each with the fields that contain it, one bit each.
    pub(super) entry_terms: Vec<Vec<(Term, u8)>>,
    /// The terms of each entry's name, with the share of each by its distinctiveness.
    pub(super) names: Vec<Vec<(Term, f32)>>,
    /// Adjacent terms, each pair with the entries that have it; sorted.
    pub(super) pairs: Vec<(Term, Term, u32)>,
    /// The entries with a name, in lower case.
    pub(super) by_name: HashMap<String, Vec<u32>>,
    /// The entries with a name, as the words that it is made of.
    pub(super) by_words: HashMap<String, Vec<u32>>,
    pub(super) topics: Topics,
    /// Topic vector of each entry.
    pub(super) topic_vectors: Vec<TopicVector>,
    pub(super) spelling: Spelling,
    /// Intent of each entry, by its name.
    pub(super) intents: Vec<Option<Intent>>,
    pub(super) synonyms: Thesaurus,
    /// Its topics that are topics of reference tools, by the numbers of those.
    pub(super) reference_topics: Vec<Option<u32>>,
    /// Least probability that any entry fits; below it the verdict is `no_match`.
    pub(super) min_match_likelihood: f32,
}

impl Index {
    /// An index of these entries.
    pub fn new(entries: &[IndexEntry]) -> Self {
        Self::with(entries, [])
    }

    /// An index that also knows the synonyms of a configuration.
    pub fn with<'s>(
        entries: &[IndexEntry],
        synonyms: impl IntoIterator<Item = (&'s String, &'s Vec<String>)>,
    ) -> Self {
        let mut index = super::index_builder::build(entries, Thesaurus::configured(synonyms));
        index.reference_topics = reference_topics(&index.topics);
        index
    }

    /// An index with the synonyms and the threshold of the configuration.
    pub fn configured(entries: &[IndexEntry], search: &config::Search) -> Self {
        let index = Self::with(entries, &search.synonyms);
        match search.no_match_below {
            Some(likelihood) => index.no_match_below(likelihood as f32),
            None => index,
        }
    }

    /// The same index with another least probability that any entry fits, from 0 (the verdict is always `match`) to
    /// 1.
    pub fn no_match_below(mut self, likelihood: f32) -> Self {
        self.min_match_likelihood = likelihood;
        self
    }

    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.entry_terms.len()
    }

    /// The term with this stem.
    pub(super) fn term(&self, stem: &str) -> Option<Term> {
        self.vocabulary.get(stem)
    }

    pub(super) fn idf(&self, term: Term) -> f32 {
        self.idf[term as usize]
    }

    /// Whether any entry has these two terms beside each other.
    pub(super) fn has_pair(&self, first: Term, last: Term) -> bool {
        let place = self.pairs.partition_point(|(one, other, _)| (*one, *other) < (first, last));
        self.pairs.get(place).is_some_and(|(one, other, _)| (*one, *other) == (first, last))
    }

    /// The intent of an entry.
    pub(super) fn intent(&self, entry: u32) -> Option<Intent> {
        self.intents[entry as usize]
    }

    /// The topic vector of an entry.
    pub(super) fn topics_of(&self, entry: u32) -> &[(u32, f32)] {
        &self.topic_vectors[entry as usize]
    }

    /// The entries with this name, in any letter case.
    pub(super) fn named(&self, name: &str) -> &[u32] {
        self.by_name.get(&name.to_lowercase()).map_or(&[], Vec::as_slice)
    }

    /// The entries whose name consists of just these words: `create issue` for `create_issue`.
    pub(super) fn named_in_words(&self, query: &str) -> &[u32] {
        self.by_words.get(&words_of_name(query)).map_or(&[], Vec::as_slice)
    }
}

/// The words of a name.
pub(super) fn words_of_name(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut add = |word: Word<'_>| {
        if !word.joined {
            text.extend([if text.is_empty() { "" } else { " " }, word.text]);
        }
    };
    name.split_whitespace().for_each(|written| words(written, &mut add));
    text
}

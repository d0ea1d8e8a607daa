//! The words of all entries, in memory: for each term the entries that contain it, with its weight in each.

use std::ops::Range;
use std::sync::OnceLock;

use bytes::Bytes;

use super::IndexEntry;
use super::columns::{ColumnReader, ColumnWriter, Columns, Number, integer};
use super::index_builder::{IndexBuilder, idf_of};
use super::index_columns::{IndexColumns, words_of_name};
use super::intent::Intent;
use super::reference_tools::reference_topics;
use super::thesaurus::Thesaurus;
use super::vocabulary::Term;
use crate::config;

/// Below this likelihood that anything fits, the answer is that nothing does.
pub(super) const MIN_MATCH_LIKELIHOOD: f32 = 0.3;

/// The words of all entries.
#[derive(Debug, Default)]
pub struct Index {
    pub(super) columns: IndexColumns,
    /// Inverse document frequency of a term that no entry has.
    pub(super) max_idf: f32,
    pub(super) synonyms: Thesaurus,
    reference_topics: OnceLock<Vec<u32>>,
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
        let synonyms = Thesaurus::configured(synonyms);
        Self::of(IndexBuilder::columns(entries, &synonyms), synonyms)
    }

    fn of(columns: IndexColumns, synonyms: Thesaurus) -> Self {
        let max_idf = idf_of(0, columns.entries());
        let reference_topics = OnceLock::new();
        Self { columns, max_idf, synonyms, reference_topics, min_match_likelihood: MIN_MATCH_LIKELIHOOD }
    }

    /// An index with the synonyms and the threshold of the configuration.
    pub fn configured(entries: &[IndexEntry], search: &config::Search) -> Self {
        Self::with(entries, &search.synonyms).threshold_of(search)
    }

    /// An index of so many entries that was stored with this configuration; `None` where the bytes are something else.
    pub fn restored(bytes: Bytes, entries: usize, search: &config::Search) -> Option<Self> {
        let columns = IndexColumns::read(&mut ColumnReader(bytes))?;
        if columns.entries() != entries || !columns.fits() {
            return None;
        }
        Some(Self::of(columns, Thesaurus::configured(&search.synonyms)).threshold_of(search))
    }

    /// The bytes of the index, without the configuration.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = ColumnWriter::default();
        self.columns.write(&mut writer);
        writer.finish()
    }

    fn threshold_of(self, search: &config::Search) -> Self {
        match search.no_match_below {
            Some(likelihood) => self.no_match_below(likelihood as f32),
            None => self,
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
        self.columns.entries()
    }

    /// The term with this stem.
    pub(super) fn term(&self, stem: &str) -> Option<Term> {
        self.columns.vocabulary.get(stem)
    }

    pub(super) fn idf(&self, term: Term) -> f32 {
        self.columns.idf.float(term as usize)
    }

    /// The fields of an entry that contain a term, one bit each; `None` where none does.
    pub(super) fn fields(&self, term: Term, entry: u32) -> Option<u8> {
        let terms = self.columns.entry_terms.row(entry as usize);
        let place = terms.binary_search_by_key(&term, |[term]| integer(*term)).ok()?;
        let start = self.columns.entry_terms.range(entry as usize).start;
        self.columns.fields.get(start + place).copied()
    }

    /// The places of all pairs of two adjacent terms in the column of pairs; `None` where no entry has them.
    pub(super) fn pair(&self, first: Term, last: Term) -> Option<Range<usize>> {
        let row = self.columns.pairs.row(first as usize);
        let begins = row.partition_point(|[follower, _]| integer(*follower) < last);
        let count = row[begins..].partition_point(|[follower, _]| integer(*follower) == last);
        let start = self.columns.pairs.range(first as usize).start + begins;
        (count > 0).then(|| start..start + count)
    }

    /// Whether an entry has the pair at these places.
    pub(super) fn has_pair(&self, places: &Range<usize>, entry: u32) -> bool {
        let pairs = self.columns.pairs.all().get(places.clone()).unwrap_or_default();
        pairs.binary_search_by_key(&entry, |[_, entry]| integer(*entry)).is_ok()
    }

    /// The intent of an entry.
    pub(super) fn intent(&self, entry: u32) -> Option<Intent> {
        Intent::of_number(*self.columns.intents.get(entry as usize)?)
    }

    /// The topic vector of an entry.
    pub(super) fn topics_of(&self, entry: u32) -> &[[Number; 2]] {
        self.columns.topic_vectors.row(entry as usize)
    }

    /// Its topics that are topics of reference tools.
    pub(super) fn reference_topics(&self) -> &[u32] {
        self.reference_topics.get_or_init(|| reference_topics(&self.columns.topics))
    }

    /// The entries with this name, in any letter case.
    pub(super) fn named<'i>(&'i self, name: &str) -> impl Iterator<Item = u32> + use<'i> {
        self.columns.by_name.of(&name.to_lowercase())
    }

    /// The entries whose name consists of just these words: `create issue` for `create_issue`.
    pub(super) fn named_in_words<'i>(&'i self, query: &str) -> impl Iterator<Item = u32> + use<'i> {
        self.columns.by_words.of(&words_of_name(query))
    }
}

//! The words of all entries, in memory: for each term the entries that contain it, with its weight in each.

use std::ops::Range;

use bytes::Bytes;

use super::columns::{ColumnReader, ColumnWriter, Columns, Number, Numbers, Rows, integer};
use super::index_builder::{IndexBuilder, idf_of};
use super::intent::Intent;
use super::spelling::Spelling;
use super::text_table::TextTable;
use super::thesaurus::Thesaurus;
use super::topics::Topics;
use super::vocabulary::Term;
use super::{Field, IndexEntry};
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
    /// Least probability that any entry fits; below it the verdict is `no_match`.
    pub(super) min_match_likelihood: f32,
}

macro_rules! stored {
    ($(#[$about:meta])* $table:ident { $($(#[$field_about:meta])* $field:ident: $kind:ty,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Default)]
        pub(super) struct $table {
            $($(#[$field_about])* pub(super) $field: $kind,)+
        }

        impl Columns for $table {
            fn write(&self, to: &mut ColumnWriter) {
                $(self.$field.write(to);)+
            }

            fn read(from: &mut ColumnReader) -> Option<Self> {
                Some(Self { $($field: Columns::read(from)?,)+ })
            }
        }
    };
}

stored! {
    /// What an index is made of, apart from the configuration, as it is stored.
    IndexColumns {
        /// The stems of all terms.
        vocabulary: TextTable,
        /// Inverse document frequency of each term: the fewer entries have it, the more distinctive it is.
        idf: Numbers,
        /// Whether each term occurs outside of values and examples.
        is_descriptive: Bytes,
        /// The entries that contain each term, with its weight in each, from 0 to 1: higher when the term is frequent, and
        /// when the text is short.
        postings: Rows<2>,
        /// The terms of each entry, sorted.
        entry_terms: Rows<1>,
        /// The fields that contain each of those, one bit each.
        fields: Bytes,
        /// The terms of each entry's name, with the share of each by its distinctiveness.
        names: Rows<2>,
        /// For each term those that follow it, each with an entry where it does; sorted.
        pairs: Rows<2>,
        /// Names in lower case.
        by_name: NameTable,
        /// Names as the words they are made of.
        by_words: NameTable,
        topics: Topics,
        /// Topic vector of each entry.
        topic_vectors: Rows<2>,
        spelling: Spelling,
        /// Intent of each entry, by its name.
        intents: Bytes,
    }
}

stored! {
    /// The entries that have a name.
    NameTable {
        names: TextTable,
        entries: Rows<1>,
    }
}

impl Field {
    pub(super) fn bit(self) -> u8 {
        1 << (self as u8)
    }
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
        Self { columns, max_idf, synonyms, min_match_likelihood: MIN_MATCH_LIKELIHOOD }
    }

    /// An index with the synonyms and the threshold of the configuration.
    pub fn configured(entries: &[IndexEntry], search: &config::Search) -> Self {
        Self::with(entries, &search.synonyms).threshold_of(search)
    }

    /// An index that was stored with this configuration; `None` where the bytes are none.
    pub fn restored(bytes: Bytes, search: &config::Search) -> Option<Self> {
        let columns = IndexColumns::read(&mut ColumnReader(bytes)).filter(IndexColumns::fits)?;
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

    /// The entries with this name, in any letter case.
    pub(super) fn named<'i>(&'i self, name: &str) -> impl Iterator<Item = u32> + use<'i> {
        self.columns.by_name.of(&name.to_lowercase())
    }

    /// The entries whose name consists of just these words: `create issue` for `create_issue`.
    pub(super) fn named_in_words<'i>(&'i self, query: &str) -> impl Iterator<Item = u32> + use<'i> {
        self.columns.by_words.of(&words_of_name(query))
    }
}

/// The words of a name.
pub(super) fn words_of_name(name: &str) -> String {
    super::words::plain(name).join(" ")
}

impl IndexColumns {
    /// Number of entries.
    pub(super) fn entries(&self) -> usize {
        self.intents.len()
    }

    /// Whether the columns belong together, so that no number leads out of one.
    fn fits(&self) -> bool {
        let entries = self.entries();
        self.postings.are_below(entries)
            && self.by_name.entries.are_below(entries)
            && self.by_words.entries.are_below(entries)
    }
}

impl NameTable {
    /// The names of entries, each as this key.
    pub(super) fn new(entries: &[IndexEntry], key: impl Fn(&str) -> String) -> Self {
        let mut names = TextTable::default();
        let mut named: Vec<(u32, [u32; 1])> = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            let first = named.len();
            for name in entry.exact.iter().map(|name| key(name)).filter(|name| !name.is_empty()) {
                let one = (names.number(&name), [place as u32]);
                if !named[first..].contains(&one) {
                    named.push(one);
                }
            }
        }
        Self { entries: Rows::grouped(names.len(), &named), names }
    }

    fn of<'t>(&'t self, name: &str) -> impl Iterator<Item = u32> + use<'t> {
        let row = self.names.get(name).map_or(&[][..], |number| self.entries.row(number as usize));
        row.iter().map(|[entry]| integer(*entry))
    }
}

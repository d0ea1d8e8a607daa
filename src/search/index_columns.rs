//! The columns of an index, as they are stored.

use bytes::Bytes;

use super::columns::{ColumnReader, ColumnWriter, Columns, Numbers, Rows, integer};
use super::spelling::Spelling;
use super::text_table::TextTable;
use super::topics::Topics;
use super::words::{Word, words};
use super::{Field, IndexEntry};

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
    /// The content of an index, apart from the configuration, as it is stored.
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

impl IndexColumns {
    /// Number of entries.
    pub(super) fn entries(&self) -> usize {
        self.intents.len()
    }

    /// Whether the columns belong together, so that no number leads out of one.
    pub(super) fn fits(&self) -> bool {
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

    pub(super) fn of<'t>(&'t self, name: &str) -> impl Iterator<Item = u32> + use<'t> {
        let row = self.names.get(name).map_or(&[][..], |number| self.entries.row(number as usize));
        row.iter().map(|[entry]| integer(*entry))
    }
}

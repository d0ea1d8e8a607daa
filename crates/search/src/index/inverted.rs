//! The inverted index: for each term the entries that contain it, with its weight in each.

use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::IndexSet;

use crate::actions::Does;
use crate::meaning::Meaning;
use crate::spelling::Spelling;
use crate::synonyms::Synonyms;
use toolcrib_definition::Effect;

/// The number of a term: all words with one stem.
pub(crate) type Term = u32;

/// The stem of each term, in the order of their numbers.
pub(super) type Vocabulary = IndexSet<Box<str>, DefaultHashBuilder>;

/// The words of all entries.
#[derive(Debug, Default)]
pub struct Index {
    /// The stems of all terms.
    pub(crate) vocabulary: Vocabulary,
    /// Inverse document frequency of each term: the fewer entries have it, the more distinctive it is.
    pub(crate) idf: Vec<f32>,
    /// Inverse document frequency of a term that no entry has.
    pub(crate) max_idf: f32,
    /// The entries that contain each term, with its weight in each, from 0 to 1: higher when the term is frequent, and when
    /// the text is short.
    pub(crate) postings: Vec<Vec<(u32, f32)>>,
    /// The terms of each entry, sorted, each with the fields that contain it, one bit each.
    pub(crate) entry_terms: Vec<Vec<(Term, u8)>>,
    /// The entries with a name, in lower case.
    pub(crate) by_name: HashMap<String, Vec<u32>>,
    /// The entries with a name, as its letters and digits.
    pub(crate) by_letters: HashMap<String, Vec<u32>>,
    /// The meaning of each entry, and of each term in a field of `SHOWN`.
    pub(crate) meanings: Vec<Meaning>,
    pub(crate) term_meanings: Vec<Meaning>,
    /// Meanings of each entry's name, and of the values of its method argument.
    pub(crate) phrases: Vec<Vec<Meaning>>,
    /// Words that are spelled well, and the letters of names.
    pub(crate) spelling: Spelling,
    pub(crate) names: Spelling,
    /// What each entry does.
    pub(crate) does: Vec<Does>,
    /// Strongest change that each entry may make.
    pub(crate) effects: Vec<Option<Effect>>,
    /// The nouns of each entry's name, the head last.
    pub(crate) nouns: Vec<Vec<Term>>,
    /// Servers and categories by their names, and those of each entry.
    pub(crate) group_names: HashMap<String, u32>,
    pub(crate) groups: Vec<Vec<u32>>,
    pub(crate) synonyms: Synonyms,
    /// Least probability that any entry fits; below it the verdict is `no_match`.
    pub(crate) min_match_likelihood: f32,
}

impl Index {
    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entry_terms.len()
    }

    /// The term with this stem.
    pub(crate) fn term(&self, stem: &str) -> Option<Term> {
        self.vocabulary.get_index_of(stem).map(|number| number as Term)
    }

    /// The fields of an entry that contain a term, one bit each; 0 where none does.
    pub(crate) fn fields_with(&self, term: Term, entry: u32) -> u8 {
        let terms = &self.entry_terms[entry as usize];
        let place = terms.binary_search_by_key(&term, |(known, _)| *known);
        place.map_or(0, |place| terms[place].1)
    }
}

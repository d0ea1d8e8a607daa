//! The words of all entries, in memory: for each term the entries that contain it, with its weight in each.

use hashbrown::{HashMap, HashSet};

use super::languages::stem;
use super::segment::Segments;
use super::spelling::Spelling;
use super::thesaurus::Thesaurus;
use super::topics::{self, TopicVector, Topics};
use super::vocabulary::{Term, Vocabulary, is_stop};
use super::words::{is_dense, words};
use super::{Field, IndexEntry};
use crate::config;

/// Below this likelihood that anything fits, the answer is that nothing does.
pub(super) const MIN_MATCH_LIKELIHOOD: f32 = 0.3;

/// The words of all entries.
#[derive(Debug)]
pub struct Index {
    pub(super) entries: usize,
    pub(super) vocabulary: Vocabulary,
    pub(super) postings: Vec<Vec<Posting>>,
    /// Whether each term occurs outside of values and examples.
    pub(super) is_descriptive: Vec<bool>,
    /// Inverse document frequency of each term: the fewer entries have it, the more distinctive it is.
    pub(super) idf: Vec<f32>,
    /// Inverse document frequency of a term that no entry has.
    pub(super) max_idf: f32,
    /// The terms of each entry, sorted, each with the fields that contain it, one bit each.
    pub(super) entry_terms: Vec<Box<[(Term, u8)]>>,
    /// The terms of each entry's name, with the share of each by its distinctiveness.
    pub(super) names: Vec<Box<[(Term, f32)]>>,
    /// Pairs of adjacent terms of each entry, sorted.
    pub(super) pairs: Vec<Box<[(Term, Term)]>>,
    /// All those pairs.
    pub(super) known_pairs: HashSet<(Term, Term)>,
    /// Names in lower case.
    by_name: HashMap<String, Vec<u32>>,
    /// Names as the words they are made of.
    by_words: HashMap<String, Vec<u32>>,
    pub(super) topics: Topics,
    /// Topic vector of each entry.
    pub(super) topic_vector: Vec<TopicVector>,
    pub(super) spelling: Spelling,
    pub(super) synonyms: Thesaurus,
    /// Least probability that any entry fits; below it the verdict is `no_match`.
    pub(super) min_match_likelihood: f32,
    /// Intent of each entry, by its name.
    pub(super) intent: Vec<Option<super::intent::Intent>>,
}

/// A term in an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub(super) entry: u32,
    /// Weight in the entry, from 0 to 1: higher when the term is frequent, and when the text is short.
    pub(super) weight: f32,
}

/// Weight of each field, and the influence of its length.
const FIELDS: [(Field, f32, f32); 8] = [
    (Field::Name, 3.0, 0.3),
    (Field::Alias, 1.5, 0.3),
    (Field::Short, 0.8, 0.5),
    (Field::Long, 1.5, 0.5),
    (Field::Parameter, 0.8, 0.5),
    (Field::ParameterText, 0.7, 0.5),
    (Field::Label, 1.0, 0.3),
    (Field::Example, 0.4, 0.5),
];
/// Saturation of repeated words (BM25's k1).
const SATURATION: f32 = 1.2;
/// Exponent of BM25's idf; below 1, rare words count less.
const IDF_POWER: f32 = 0.85;
/// Least weight of a word, as a share of the largest.
const MIN_IDF_SHARE: f32 = 0.1;
/// Longest entry that is read; the rest is ignored.
const MAX_WORDS: usize = 4_000;

impl Field {
    pub(super) fn bit(self) -> u8 {
        1 << (self as u8)
    }
}

/// The terms of one entry: their number in each field.
#[derive(Default)]
struct Terms {
    count: HashMap<Term, [f32; FIELDS.len()]>,
    length: [f32; FIELDS.len()],
    pairs: Vec<(Term, Term)>,
    /// Its name twice, and its description, in order.
    text: Vec<Term>,
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
        let names = entries.iter().flat_map(|entry| &entry.exact).filter(|name| name.contains(['_', '.']));
        let mut building = IndexBuilder {
            names: names.map(|name| name.to_lowercase()).collect(),
            ..IndexBuilder::default()
        };
        let segments = Segments::of(entries);
        let read: Vec<Terms> = entries.iter().map(|entry| building.read(entry, &segments)).collect();
        let IndexBuilder { vocabulary, stems, .. } = building;
        let synonyms = Thesaurus::configured(synonyms);
        let (postings, idf) = postings(&read, vocabulary.len());
        let names = read.iter().map(|terms| terms.name(&idf)).collect();
        let contents: Vec<Box<[(Term, u8)]>> = read.iter().map(Terms::contents).collect();
        let values = Field::ParameterText.bit() | Field::Example.bit();
        let mut is_descriptive = vec![false; vocabulary.len()];
        for (term, fields) in contents.iter().flatten() {
            is_descriptive[*term as usize] |= fields & !values != 0;
        }
        let max_idf = idf_of(0, entries.len());
        let tells = idf.iter().map(|idf| idf / max_idf).collect();
        let mut reading = topics::TopicReader::new(&vocabulary, &synonyms, tells);
        let topic_vector = read.iter().map(|terms| reading.entry(&terms.text)).collect();
        let topics = reading.into_topics();
        let pairs: Vec<Box<[(Term, Term)]>> = read
            .into_iter()
            .map(|terms| {
                let mut pairs = terms.pairs;
                pairs.sort_unstable();
                pairs.dedup();
                pairs.into_boxed_slice()
            })
            .collect();
        Self {
            entries: entries.len(),
            known_pairs: pairs.iter().flatten().copied().collect(),
            pairs,
            entry_terms: contents,
            names,
            is_descriptive,
            idf,
            max_idf,
            by_name: by_name(entries, |name| name.trim().to_lowercase()),
            by_words: by_name(entries, words_of_name),
            spelling: Spelling::of(stems.keys().map(String::as_str)),
            synonyms,
            min_match_likelihood: MIN_MATCH_LIKELIHOOD,
            intent: entries
                .iter()
                .map(|entry| super::intent::of_name(entry.exact.first().map_or("", String::as_str)))
                .collect(),
            topics,
            topic_vector,
            vocabulary,
            postings,
        }
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
        self.entries
    }

    /// The fields of an entry that contain a term, one bit each; `None` where none does.
    pub(super) fn fields(&self, term: Term, entry: u32) -> Option<u8> {
        let contents = self.entry_terms.get(entry as usize)?;
        let place = contents.binary_search_by_key(&term, |(term, _)| *term).ok()?;
        Some(contents[place].1)
    }

    /// The entries with this name, in any letter case.
    pub(super) fn named(&self, name: &str) -> &[u32] {
        self.by_name.get(name.to_lowercase().as_str()).map_or(&[], Vec::as_slice)
    }

    /// The entries whose name consists of just these words: `create issue` for `create_issue`.
    pub(super) fn named_in_words(&self, query: &str) -> &[u32] {
        self.by_words.get(words_of_name(query).as_str()).map_or(&[], Vec::as_slice)
    }
}

/// The words of a name.
fn words_of_name(name: &str) -> String {
    super::words::plain(name).join(" ")
}

fn by_name(entries: &[IndexEntry], key: impl Fn(&str) -> String) -> HashMap<String, Vec<u32>> {
    let mut names: HashMap<String, Vec<u32>> = HashMap::new();
    for (place, entry) in entries.iter().enumerate() {
        for name in entry.exact.iter().map(|name| key(name)).filter(|name| !name.is_empty()) {
            let places = names.entry(name).or_default();
            if places.last() != Some(&(place as u32)) {
                places.push(place as u32);
            }
        }
    }
    names
}

fn idf_of(having: usize, all: usize) -> f32 {
    let (having, all) = (having as f32, all as f32);
    let tells = |having: f32| (1.0 + (all - having + 0.5) / (having + 0.5)).ln().powf(IDF_POWER);
    // A word that all entries have at least shows which catalog this is.
    tells(having).max(MIN_IDF_SHARE * tells(0.0))
}

fn postings(read: &[Terms], terms: usize) -> (Vec<Vec<Posting>>, Vec<f32>) {
    let entries = read.len().max(1) as f32;
    let mut mean = [0.0_f32; FIELDS.len()];
    for terms in read {
        mean.iter_mut().zip(&terms.length).for_each(|(mean, length)| *mean += length / entries);
    }
    let mut having = vec![0; terms];
    for &term in read.iter().flat_map(|terms| terms.count.keys()) {
        having[term as usize] += 1;
    }
    let idf: Vec<f32> = having.iter().map(|&having| idf_of(having, read.len())).collect();
    let mut postings: Vec<Vec<Posting>> = having.into_iter().map(Vec::with_capacity).collect();
    for (place, terms) in read.iter().enumerate() {
        for (&term, count) in &terms.count {
            let mut weight = 0.0;
            for (field, (_, counts, evens)) in FIELDS.iter().enumerate() {
                if count[field] > 0.0 {
                    let length = 1.0 - evens + evens * terms.length[field] / mean[field].max(1.0);
                    weight += counts * count[field] / length;
                }
            }
            let weight = weight * (SATURATION + 1.0) / (weight + SATURATION);
            postings[term as usize].push(Posting { entry: place as u32, weight });
        }
    }
    (postings, idf)
}

impl Terms {
    /// The terms of the name, each with its share.
    fn name(&self, idf: &[f32]) -> Box<[(Term, f32)]> {
        let named = self.count.iter().filter(|(_, count)| count[Field::Name as usize] > 0.0);
        let mut named: Vec<(Term, f32)> = named.map(|(&term, _)| (term, idf[term as usize])).collect();
        // Sorted by term, since the sum of floats depends on their order.
        named.sort_unstable_by_key(|(term, _)| *term);
        let sum: f32 = named.iter().map(|(_, idf)| idf).sum();
        named.iter_mut().for_each(|(_, share)| *share /= sum);
        named.into_boxed_slice()
    }

    fn contents(&self) -> Box<[(Term, u8)]> {
        let fields = |count: &[f32; FIELDS.len()]| {
            let has = FIELDS.iter().zip(count).filter(|(_, count)| **count > 0.0);
            has.fold(0, |bits, ((field, ..), _)| bits | field.bit())
        };
        let mut contents: Vec<(Term, u8)> =
            self.count.iter().map(|(&term, count)| (term, fields(count))).collect();
        contents.sort_unstable();
        contents.into_boxed_slice()
    }
}

#[derive(Default)]
struct IndexBuilder {
    vocabulary: Vocabulary,
    /// The term of each word in its written form.
    stems: HashMap<String, Term>,
    /// Names of entries that cannot be ordinary words.
    names: HashSet<String>,
}

impl IndexBuilder {
    fn read(&mut self, entry: &IndexEntry, segments: &Segments) -> Terms {
        let mut terms = Terms::default();
        let mut seen: HashSet<&str> = HashSet::new();
        let mut left = MAX_WORDS;
        for (field, text) in &entry.texts {
            // Overlays and servers say the same thing twice.
            if !seen.insert(text) {
                continue;
            }
            let place = *field as usize;
            let mut last: Option<Term> = None;
            let mut parts: Vec<String> = Vec::new();
            let is_said = matches!(field, Field::Name | Field::Alias | Field::Parameter | Field::Label);
            for written in text.split_whitespace() {
                if !is_said && self.is_name(written) {
                    continue;
                }
                words(written, |word| {
                    if left == 0 {
                        return;
                    }
                    let term = self.term(&word.text);
                    if !word.joined
                        && matches!(field, Field::Name | Field::Alias | Field::Short | Field::Long)
                    {
                        let times = if *field == Field::Name { 2 } else { 1 };
                        terms.text.extend(std::iter::repeat_n(term, times));
                    }
                    if is_stop(&word.text) && !word.joined {
                        return;
                    }
                    left -= 1;
                    terms.count.entry(term).or_default()[place] += 1.0;
                    if word.joined {
                        return;
                    }
                    terms.length[place] += 1.0;
                    if let Some(last) = last {
                        terms.pairs.push((last, term));
                    }
                    last = Some(term);
                    if *field == Field::Name {
                        parts.extend(segments.split(&word.text));
                    }
                });
            }
            for part in parts {
                let term = self.term(&part);
                terms.count.entry(term).or_default()[place] += 1.0;
            }
        }
        terms
    }

    /// Whether a word is the name of an entry: text about other tools does not describe this tool.
    fn is_name(&self, written: &str) -> bool {
        written.contains(['_', '.'])
            && self.names.contains(&written.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
    }

    fn term(&mut self, word: &str) -> Term {
        if let Some(&term) = self.stems.get(word) {
            return term;
        }
        let term = self.vocabulary.number(&stem(word));
        if !is_dense(word) {
            self.stems.insert(word.to_string(), term);
        }
        term
    }
}

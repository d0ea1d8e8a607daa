//! The words of all entries, in memory: for each term the entries that contain it, with its weight in each.

use hashbrown::{DefaultHashBuilder, HashMap, HashSet};
use indexmap::IndexSet;
use rayon::prelude::*;
use serde_json::Value;

use super::query::{Intent, Spelling};
use super::thesaurus::{Thesaurus, is_stop};
use super::topics::{TopicReader, TopicVector, Topics, reference_topics};
use super::words::{Segments, Word, is_dense, stemmed, words};
use crate::catalog::Tool;
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
        let mut index = build(entries, Thesaurus::configured(synonyms));
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

    /// The topic vector of an entry.
    pub(super) fn topics_of(&self, entry: u32) -> &[(u32, f32)] {
        &self.topic_vectors[entry as usize]
    }

    /// The fields of an entry that contain a term, one bit each; 0 where none does.
    pub(super) fn fields_with(&self, term: Term, entry: u32) -> u8 {
        let terms = &self.entry_terms[entry as usize];
        let place = terms.binary_search_by_key(&term, |(known, _)| *known);
        place.map_or(0, |place| terms[place].1)
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

// Builds an index from entries.

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

/// A number for each field.
type OfFields<N> = [N; FIELDS.len()];

/// The terms of one entry.
struct Terms {
    /// The number of each term in each field, sorted by term.
    counts: Vec<(Term, OfFields<u16>)>,
    length: OfFields<f32>,
    /// Pairs of adjacent terms, sorted.
    pairs: Vec<(Term, Term)>,
    /// Its name twice, and its description, in order.
    text: Vec<Term>,
}

/// Reads entries, one after another.
#[derive(Default)]
struct IndexBuilder {
    vocabulary: TextTable,
    /// The term of each word in its written form.
    stems: HashMap<String, Term>,
    /// Names of entries that cannot be ordinary words.
    names: HashSet<String>,
}

/// An index of these entries.
pub(super) fn build(entries: &[IndexEntry], synonyms: Thesaurus) -> Index {
    let names = entries.iter().flat_map(|entry| &entry.exact).filter(|name| name.contains(['_', '.']));
    let names = names.map(|name| name.to_lowercase()).collect();
    let mut building = IndexBuilder { names, ..IndexBuilder::default() };
    let segments = Segments::of(entries);
    let read: Vec<Terms> = entries.iter().map(|entry| building.read(entry, &segments)).collect();
    let IndexBuilder { vocabulary, stems, .. } = building;
    let values = Field::ParameterText.bit() | Field::Example.bit();
    let (mut having, mut is_descriptive) = (vec![0; vocabulary.len()], vec![false; vocabulary.len()]);
    for (term, counts) in read.iter().flat_map(|terms| &terms.counts) {
        having[*term as usize] += 1;
        is_descriptive[*term as usize] |= bits(counts) & !values != 0;
    }
    let idf: Vec<f32> = having.into_iter().map(|having| idf_of(having, entries.len())).collect();
    let max_idf = idf_of(0, entries.len());
    let rarity = idf.iter().map(|idf| idf / max_idf).collect();
    let mut reading = TopicReader::new(&vocabulary, &synonyms, rarity);
    let topic_vectors = read.iter().map(|terms| reading.entry(&terms.text)).collect();
    let topics = reading.into_topics();
    let intent_of = |entry: &IndexEntry| Intent::of_name(entry.exact.first().map_or("", String::as_str));
    Index {
        topics,
        topic_vectors,
        is_descriptive,
        postings: postings(&read, vocabulary.len()),
        entry_terms: read.iter().map(Terms::with_fields).collect(),
        names: read.iter().map(|terms| terms.name(&idf)).collect(),
        pairs: pairs(&read),
        by_name: by_name(entries, |name| name.trim().to_lowercase()),
        by_words: by_name(entries, words_of_name),
        spelling: Spelling::of(stems.keys().map(String::as_str)),
        intents: entries.iter().map(intent_of).collect(),
        reference_topics: Vec::new(),
        min_match_likelihood: MIN_MATCH_LIKELIHOOD,
        idf,
        max_idf,
        synonyms,
        vocabulary,
    }
}

impl IndexBuilder {
    fn read(&mut self, entry: &IndexEntry, segments: &Segments) -> Terms {
        let (mut length, mut pairs, mut text) = (OfFields::default(), Vec::new(), Vec::new());
        let mut counts: HashMap<Term, OfFields<u16>> = HashMap::new();
        let mut count = |term: Term, place: usize| {
            let count = &mut counts.entry(term).or_default()[place];
            *count = count.saturating_add(1);
        };
        let mut seen: HashSet<&str> = HashSet::new();
        let mut left = MAX_WORDS;
        for (field, written) in &entry.texts {
            // Overlays and servers say the same thing twice.
            if !seen.insert(written) {
                continue;
            }
            let place = *field as usize;
            let mut last: Option<Term> = None;
            let mut parts: Vec<String> = Vec::new();
            let is_said = matches!(field, Field::Name | Field::Alias | Field::Parameter | Field::Label);
            for written in written.split_whitespace() {
                if !is_said && self.is_name(written) {
                    continue;
                }
                words(written, |word| {
                    if left == 0 {
                        return;
                    }
                    let term = self.term(word.text);
                    if !word.joined
                        && matches!(field, Field::Name | Field::Alias | Field::Short | Field::Long)
                    {
                        let times = if *field == Field::Name { 2 } else { 1 };
                        text.extend(std::iter::repeat_n(term, times));
                    }
                    if is_stop(word.text) && !word.joined {
                        return;
                    }
                    left -= 1;
                    count(term, place);
                    if word.joined {
                        return;
                    }
                    length[place] += 1.0;
                    if let Some(last) = last {
                        pairs.push((last, term));
                    }
                    last = Some(term);
                    if *field == Field::Name {
                        parts.extend(segments.split(word.text));
                    }
                });
            }
            for part in parts {
                let term = self.term(&part);
                count(term, place);
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut counts: Vec<(Term, OfFields<u16>)> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|(term, _)| *term);
        Terms { counts, length, pairs, text }
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
        let term = self.vocabulary.number(&stemmed(word));
        if !is_dense(word) {
            self.stems.insert(word.to_string(), term);
        }
        term
    }
}

impl Terms {
    /// The terms, each with the fields that contain it.
    fn with_fields(&self) -> Vec<(Term, u8)> {
        self.counts.iter().map(|(term, counts)| (*term, bits(counts))).collect()
    }

    /// The terms of the name, each with its share.
    fn name(&self, idf: &[f32]) -> Vec<(Term, f32)> {
        let named = self.counts.iter().filter(|(_, counts)| counts[Field::Name as usize] > 0);
        let mut named: Vec<(Term, f32)> = named.map(|&(term, _)| (term, idf[term as usize])).collect();
        let sum: f32 = named.iter().map(|(_, idf)| idf).sum();
        named.iter_mut().for_each(|(_, share)| *share /= sum);
        named
    }
}

/// The fields that contain a term, one bit each.
fn bits(counts: &OfFields<u16>) -> u8 {
    let has = FIELDS.iter().zip(counts).filter(|(_, count)| **count > 0);
    has.fold(0, |bits, ((field, ..), _)| bits | field.bit())
}

fn idf_of(having: usize, all: usize) -> f32 {
    let (having, all) = (having as f32, all as f32);
    let tells = |having: f32| (1.0 + (all - having + 0.5) / (having + 0.5)).ln().powf(IDF_POWER);
    // A word that all entries have at least shows which catalog this is.
    tells(having).max(MIN_IDF_SHARE * tells(0.0))
}

fn postings(read: &[Terms], terms: usize) -> Vec<Vec<(u32, f32)>> {
    let entries = read.len().max(1) as f32;
    let mut mean = OfFields::<f32>::default();
    for terms in read {
        mean.iter_mut().zip(&terms.length).for_each(|(mean, length)| *mean += length / entries);
    }
    let weight = |counts: &OfFields<u16>, length: &OfFields<f32>| {
        let mut weight = 0.0;
        for (field, (_, scale, evens)) in FIELDS.iter().enumerate().filter(|(field, _)| counts[*field] > 0) {
            let length = 1.0 - evens + evens * length[field] / mean[field].max(1.0);
            weight += scale * f32::from(counts[field]) / length;
        }
        weight * (SATURATION + 1.0) / (weight + SATURATION)
    };
    let mut postings = vec![Vec::new(); terms];
    for (Terms { counts, length, .. }, entry) in read.iter().zip(0..) {
        for (term, counts) in counts {
            postings[*term as usize].push((entry, weight(counts, length)));
        }
    }
    postings
}

/// Adjacent terms, each pair with the entry.
fn pairs(read: &[Terms]) -> Vec<(Term, Term, u32)> {
    let mut pairs = Vec::new();
    for (terms, entry) in read.iter().zip(0..) {
        pairs.extend(terms.pairs.iter().map(|(first, last)| (*first, *last, entry)));
    }
    pairs.par_sort_unstable();
    pairs
}

/// The entries with each of these keys of names.
fn by_name(entries: &[IndexEntry], key: impl Fn(&str) -> String) -> HashMap<String, Vec<u32>> {
    let mut named = HashMap::<String, Vec<u32>>::new();
    for (entry, place) in entries.iter().zip(0..) {
        for name in entry.exact.iter().map(|name| key(name)).filter(|name| !name.is_empty()) {
            let places = named.entry(name).or_default();
            if places.last() != Some(&place) {
                places.push(place);
            }
        }
    }
    named
}

// Entries of an index: a tool or a category, as texts with a field each.

/// Field of a text in an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// Its name.
    Name,
    /// Other names: op, aliases, title.
    Alias,
    /// Purpose, in one line.
    Short,
    /// The rest of the author's text about it.
    Long,
    /// Names of parameters.
    Parameter,
    /// Descriptions of parameters, and their allowed values.
    ParameterText,
    /// Labels, categories, server.
    Label,
    /// Examples, notes, policy.
    Example,
}

impl Field {
    pub(super) fn bit(self) -> u8 {
        1 << (self as u8)
    }
}

/// A tool or a category that can be found.
#[derive(Clone, Debug, Default)]
pub struct IndexEntry {
    /// Names that match a query as a whole.
    pub exact: Vec<String>,
    /// Its texts.
    pub texts: Vec<(Field, String)>,
}

// A table of texts.

/// Texts, each with a number, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(super) struct TextTable(IndexSet<Box<str>, DefaultHashBuilder>);

impl TextTable {
    /// The number of a text; a new text gets the next one.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        self.get(text).unwrap_or_else(|| self.0.insert_full(text.into()).0 as u32)
    }

    /// The number of a known text.
    pub(super) fn get(&self, text: &str) -> Option<u32> {
        self.0.get_index_of(text).map(|number| number as u32)
    }

    /// The text with this number; empty where there is none.
    pub(super) fn text(&self, number: u32) -> &str {
        self.0.get_index(number as usize).map_or("", |text| text)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

// A tool as an entry: its author's texts, and its parameters.

/// Deepest level of parameters, and most parameters of a tool, that are read.
const MAX_DEPTH: usize = 3;
const MAX_PARAMETERS: usize = 200;
/// Most values of an enumeration that are read.
const MAX_VALUES: usize = 40;

impl From<&Tool> for IndexEntry {
    fn from(tool: &Tool) -> Self {
        let definition = &tool.definition;
        let exact = [&tool.name, &tool.safe_name, &tool.op].into_iter().chain(&tool.aliases).cloned();
        let mut texts = vec![(Field::Name, definition.name.clone()), (Field::Alias, tool.op.clone())];
        texts.extend(tool.aliases.iter().map(|alias| (Field::Alias, alias.clone())));
        texts.extend(definition.title.iter().map(|title| (Field::Alias, title.clone())));
        texts.push((Field::Short, tool.short.clone()));
        texts.push((Field::Long, tool.description.clone()));
        texts.extend(tool.returns.iter().map(|returns| (Field::Long, returns.clone())));
        texts.extend(definition.tags.iter().map(|tag| (Field::Label, tag.clone())));
        texts.extend(tool.categories.iter().map(|path| (Field::Label, path.to_string())));
        texts.extend(tool.server.iter().map(|server| (Field::Label, server.clone())));
        texts.extend(tool.notes.iter().map(|note| (Field::Example, note.clone())));
        let titles = tool.examples.iter().filter_map(|example| example.title.clone());
        texts.extend(titles.map(|title| (Field::Example, title)));
        let mut left = MAX_PARAMETERS;
        parameters(tool.parameters.schema(), 0, &mut left, &mut texts);
        Self { exact: exact.collect(), texts }
    }
}

/// Reads the properties of a schema, and those below them.
fn parameters(schema: &Value, depth: usize, left: &mut usize, texts: &mut Vec<(Field, String)>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if *left == 0 || depth > MAX_DEPTH {
            return;
        }
        *left -= 1;
        texts.push((Field::Parameter, name.clone()));
        let text = property.get("description").and_then(Value::as_str);
        texts.extend(text.map(|text| (Field::ParameterText, text.to_string())));
        let values = property.get("enum").and_then(Value::as_array).into_iter().flatten();
        let values = values.filter_map(Value::as_str).take(MAX_VALUES);
        texts.extend(values.map(|value| (Field::ParameterText, value.to_string())));
        parameters(property, depth + 1, left, texts);
    }
    for below in ["items", "anyOf", "oneOf", "allOf"] {
        match schema.get(below) {
            Some(Value::Array(several)) => {
                several.iter().for_each(|one| parameters(one, depth + 1, left, texts));
            }
            Some(one) => parameters(one, depth + 1, left, texts),
            None => {}
        }
    }
}

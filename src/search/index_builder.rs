//! Builds an index from entries.

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use super::index::{Index, MIN_MATCH_LIKELIHOOD, Term, words_of_name};
use super::intent;
use super::languages::is_stop;
use super::segment::Segments;
use super::spelling::Spelling;
use super::stemming::stemmed;
use super::text_table::TextTable;
use super::thesaurus::Thesaurus;
use super::topics::TopicReader;
use super::words::{is_dense, words};
use super::{Field, IndexEntry};

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
    counts: Box<[(Term, OfFields<u16>)]>,
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
    /// Numbers of the terms of the entry that is being read, and those terms.
    counts: Vec<OfFields<u16>>,
    counted: Vec<Term>,
}

/// An index of these entries.
pub(super) fn build(entries: &[IndexEntry], synonyms: Thesaurus) -> Index {
    let names = entries.iter().flat_map(|entry| &entry.exact).filter(|name| name.contains(['_', '.']));
    let names = names.map(|name| name.to_lowercase()).collect();
    let mut building = IndexBuilder { names, ..IndexBuilder::default() };
    let segments = Segments::of(entries);
    let read: Vec<Terms> = entries.iter().map(|entry| building.read(entry, &segments)).collect();
    let IndexBuilder { vocabulary, stems, .. } = building;
    let idf = idf(&read, vocabulary.len());
    let max_idf = idf_of(0, entries.len());
    let rarity = idf.iter().map(|idf| idf / max_idf).collect();
    let mut reading = TopicReader::new(&vocabulary, &synonyms, rarity);
    let topic_vectors = read.iter().map(|terms| reading.entry(&terms.text)).collect();
    let topics = reading.into_topics();
    let intent_of = |entry: &IndexEntry| intent::of_name(entry.exact.first().map_or("", String::as_str));
    Index {
        topics,
        topic_vectors,
        is_descriptive: descriptive(&read, vocabulary.len()),
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
                    self.count(term, place);
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
                self.count(term, place);
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        Terms { counts: self.take_counts(), length, pairs, text }
    }

    fn count(&mut self, term: Term, field: usize) {
        if self.counts.len() <= term as usize {
            self.counts.resize(self.vocabulary.len(), OfFields::default());
        }
        let counts = &mut self.counts[term as usize];
        if *counts == [0_u16; FIELDS.len()] {
            self.counted.push(term);
        }
        counts[field] = counts[field].saturating_add(1);
    }

    fn take_counts(&mut self) -> Box<[(Term, OfFields<u16>)]> {
        self.counted.sort_unstable();
        let counted = self.counted.drain(..);
        counted.map(|term| (term, std::mem::take(&mut self.counts[term as usize]))).collect()
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

fn descriptive(read: &[Terms], terms: usize) -> Vec<bool> {
    let values = Field::ParameterText.bit() | Field::Example.bit();
    let mut descriptive = vec![false; terms];
    for (term, counts) in read.iter().flat_map(|terms| &terms.counts) {
        descriptive[*term as usize] |= bits(counts) & !values != 0;
    }
    descriptive
}

pub(super) fn idf_of(having: usize, all: usize) -> f32 {
    let (having, all) = (having as f32, all as f32);
    let tells = |having: f32| (1.0 + (all - having + 0.5) / (having + 0.5)).ln().powf(IDF_POWER);
    // A word that all entries have at least shows which catalog this is.
    tells(having).max(MIN_IDF_SHARE * tells(0.0))
}

fn idf(read: &[Terms], terms: usize) -> Vec<f32> {
    let mut having = vec![0; terms];
    for (term, _) in read.iter().flat_map(|terms| &terms.counts) {
        having[*term as usize] += 1;
    }
    having.into_iter().map(|having| idf_of(having, read.len())).collect()
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
fn by_name(
    entries: &[IndexEntry],
    key: impl Fn(&str) -> String,
) -> std::collections::HashMap<String, Vec<u32>> {
    let mut named = std::collections::HashMap::<String, Vec<u32>>::new();
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

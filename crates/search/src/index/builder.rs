//! Builds an index from entries: reads their words, and what each entry means and does.

use hashbrown::{HashMap, HashSet};

use super::bm25::{OfFields, TermCounts, idf_of, postings, with_fields};
use super::groups::groups_of;
use super::inverted::{Index, Term, Vocabulary};
use super::{Field, IndexEntry, SHOWN};
use crate::actions::{Does, is_verb, nouns, verbs};
use crate::meaning::{Meaning, Sum};
use crate::spelling::Spelling;
use crate::stems::stemmed;
use crate::stop_words::is_stop;
use crate::synonyms::Synonyms;
use crate::tool_names::{by_name, letters};
use crate::words::{is_dense, plain, words};
use toolcrib_catalog::config;

/// Below this likelihood that anything fits, the answer is that nothing does.
const MIN_MATCH_LIKELIHOOD: f32 = 0.05;

/// Bytes of a description that have a meaning, and the weight of its first sentence in hundredths.
const MAX_MEANT: usize = 300;
const FIRST_SENTENCE: i32 = 35;
/// Bytes of a description in which its verb is.
const MAX_VERB: usize = 60;
/// Longest entry that is read; the rest is ignored.
const MAX_WORDS: usize = 4_000;
/// Most words of descriptions of parameters, values and examples.
const MAX_DETAILS: usize = 150;

/// The terms of one entry.
struct Terms {
    counts: TermCounts,
    length: OfFields<f32>,
    meaning: Meaning,
    phrases: Vec<Meaning>,
    nouns: Vec<Term>,
    does: Does,
}

/// Reads entries, one after another.
#[derive(Default)]
struct IndexBuilder {
    vocabulary: Vocabulary,
    /// Each word in its written form.
    known: HashMap<String, Known>,
    /// The meaning of each term of a shown field, in its first form.
    term_meanings: Vec<Meaning>,
    /// The sums of words in names and descriptions.
    sums: Vec<Sum>,
    /// Whether entries are of several servers.
    has_servers: bool,
    /// Names of entries that cannot be ordinary words.
    names: HashSet<String>,
    /// The terms of the entry that is read, each with its field in the last byte.
    counted: Vec<u64>,
}

/// A word that was read.
#[derive(Clone, Copy)]
struct Known {
    term: Term,
    is_stop: bool,
    /// The place of its sum.
    sum: Option<u32>,
}

impl Index {
    /// An index of these entries.
    pub fn new(entries: &[IndexEntry]) -> Self {
        Self::configured(entries, &config::Search::default())
    }

    /// An index with the synonyms and the threshold of the configuration.
    pub fn configured(entries: &[IndexEntry], search: &config::Search) -> Self {
        let names = entries.iter().flat_map(|entry| &entry.exact).filter(|name| name.contains(['_', '.']));
        let names = names.map(|name| name.to_lowercase()).collect();
        let has_servers = entries.iter().any(|entry| entry.server != entries[0].server);
        let mut building = IndexBuilder { names, has_servers, ..IndexBuilder::default() };
        let mut read: Vec<Terms> = entries.iter().map(|entry| building.read(entry)).collect();
        let IndexBuilder { vocabulary, known, term_meanings, .. } = building;
        let mut having = vec![0; vocabulary.len()];
        read.iter().flat_map(|terms| &terms.counts).for_each(|(term, _)| having[*term as usize] += 1);
        let postings = postings(read.iter().map(|terms| (&terms.counts, &terms.length)), &having);
        let idf: Vec<f32> = having.into_iter().map(|having| idf_of(having, entries.len())).collect();
        let max_idf = idf_of(0, entries.len());
        let by_letters = by_name(entries, letters);
        let mut group_names = HashMap::new();
        let groups = entries.iter().map(|entry| groups_of(entry, &mut group_names)).collect();
        Self {
            meanings: read.iter().map(|terms| terms.meaning).collect(),
            does: read.iter().map(|terms| terms.does).collect(),
            effects: entries.iter().map(|entry| entry.effect).collect(),
            term_meanings,
            group_names,
            groups,
            postings,
            entry_terms: read.iter().map(|terms| with_fields(&terms.counts)).collect(),
            phrases: read.iter_mut().map(|terms| std::mem::take(&mut terms.phrases)).collect(),
            nouns: read.iter_mut().map(|terms| std::mem::take(&mut terms.nouns)).collect(),
            by_name: by_name(entries, |name| name.trim().to_lowercase()),
            names: Spelling::of(by_letters.keys().map(String::as_str)),
            by_letters,
            spelling: Spelling::of(
                known.keys().map(String::as_str).filter(|word| !is_dense(word)).chain(verbs()),
            ),
            min_match_likelihood: search.no_match_below.map_or(MIN_MATCH_LIKELIHOOD, |least| least as f32),
            idf,
            max_idf,
            synonyms: Synonyms::configured(&search.synonyms),
            vocabulary,
        }
    }
}

impl IndexBuilder {
    fn read(&mut self, entry: &IndexEntry) -> Terms {
        let mut length = OfFields::default();
        let mut counted = std::mem::take(&mut self.counted);
        let mut left = MAX_WORDS;
        let mut details = MAX_DETAILS;
        let mut seen: HashSet<&str> = HashSet::with_capacity(entry.texts.len());
        let text = |wanted: Field| {
            entry.texts.iter().find(|(field, _)| *field == wanted).map_or("", |(_, text)| text)
        };
        let about = [text(Field::Long), text(Field::Short)].into_iter().find(|text| !text.is_empty());
        let meant = about.map_or("", |about| &about[..about.floor_char_boundary(MAX_MEANT)]);
        let first_end = meant.split_inclusive(['.', '!', '?', '\n']).next().map_or(0, str::len);
        let mut whole = Sum::default();
        let mut first = Sum::default();
        let mut beginning = Vec::new();
        for (field, text) in &entry.texts {
            // Overlays and servers say the same thing twice.
            if !seen.insert(text) {
                continue;
            }
            let is_detail = matches!(field, Field::ParameterText | Field::Example);
            let is_said = matches!(field, Field::Name | Field::Alias | Field::Parameter | Field::Label);
            let meant = if about == Some(text) { meant.len() } else { 0 };
            for written in text.split_ascii_whitespace() {
                if is_detail && details == 0 || left == 0 {
                    break;
                }
                if !is_said && self.is_name(written) {
                    continue;
                }
                let at = written.as_ptr() as usize - text.as_ptr() as usize;
                words(written, |word| {
                    let Known { term, is_stop, sum } = *self.known(word);
                    if at < meant {
                        let sum = match sum {
                            Some(place) => &self.sums[place as usize],
                            None => self.sum_of(word),
                        };
                        whole.add(sum);
                        if at < first_end {
                            first.add(sum);
                        }
                        if at < first_end.min(MAX_VERB) {
                            beginning.push(word.to_string());
                        }
                    }
                    if field.bit() & SHOWN != 0 && self.term_meanings[term as usize].is_empty() {
                        self.shown(word);
                    }
                    if is_stop {
                        return;
                    }
                    let left = if is_detail { &mut details } else { &mut left };
                    *left = left.saturating_sub(1);
                    counted.push(u64::from(term) << 8 | *field as u64);
                    length[*field as usize] += 1.0;
                });
            }
        }
        counted.sort_unstable();
        let of_term = |chunk: &[u64]| {
            let mut of = OfFields::default();
            chunk.iter().for_each(|counted| of[usize::from(*counted as u8)] += 1);
            ((chunk[0] >> 8) as Term, of)
        };
        let counts = counted.chunk_by(|one, other| one >> 8 == other >> 8).map(of_term).collect();
        counted.clear();
        self.counted = counted;
        let name = plain(text(Field::Name));
        let named = self.sum(&name);
        whole.add(&named);
        if let Some(server) = &entry.server
            && self.has_servers
        {
            whole.add(&self.sum(&plain(server)));
        }
        let meaning = whole.meaning().with(&first.meaning(), FIRST_SENTENCE);
        let values: Vec<Vec<String>> = entry.actions.iter().map(|value| plain(value)).collect();
        let mut phrases = vec![named.meaning()];
        for value in &values {
            let object = name.iter().filter(|word| value.len() < 2 && !is_verb(word));
            phrases.push(self.sum(value.iter().chain(object)).meaning());
        }
        let nouns = nouns(&name).map(|word| self.shown(word)).collect();
        let does = Does::read(&name, &beginning, &values);
        Terms { counts, length, meaning, phrases, nouns, does }
    }

    fn sum<'w>(&mut self, words: impl IntoIterator<Item = &'w String>) -> Sum {
        let mut sum = Sum::default();
        words.into_iter().for_each(|word| sum.add(self.sum_of(word)));
        sum
    }

    fn sum_of(&mut self, word: &str) -> &Sum {
        let next = self.sums.len() as u32;
        let place = *self.known(word).sum.get_or_insert(next);
        if place == next {
            self.sums.push(Sum::of_word(word));
        }
        &self.sums[place as usize]
    }

    /// The term of a word in a shown field, which has a meaning.
    fn shown(&mut self, word: &str) -> Term {
        let term = self.known(word).term;
        if self.term_meanings[term as usize].is_empty() {
            self.term_meanings[term as usize] = self.sum_of(word).meaning();
        }
        term
    }

    /// Whether a word is the name of an entry: text about other tools does not describe this tool.
    fn is_name(&self, written: &str) -> bool {
        written.contains(['_', '.'])
            && self.names.contains(&written.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
    }

    fn known(&mut self, word: &str) -> &mut Known {
        let Self { vocabulary, known, term_meanings, .. } = self;
        known.entry_ref(word).or_insert_with(|| {
            let stem = stemmed(word);
            let term =
                vocabulary.get_index_of(&*stem).unwrap_or_else(|| vocabulary.insert_full(stem.into()).0);
            let term = term as Term;
            if term_meanings.len() <= term as usize {
                term_meanings.push(Meaning::default());
            }
            Known { term, is_stop: is_stop(word), sum: None }
        })
    }
}

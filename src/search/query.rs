//! A query as units: each word with its senses, the terms of entries that may stand for it; its intent, and the names in
//! it.

use std::ops::Range;
use std::sync::LazyLock;

use hashbrown::{HashMap, HashSet};
use strsim::damerau_levenshtein;

use super::index::{Index, Term};
use super::thesaurus::{self, ACTION, BEGINS, ENGLISH, ENGLISH_SPELLING, MAX_PHRASE, Synonym, is_stop};
use super::words::{Stem, is_dense, phrase_of, plain, stemmed, words};
use crate::finding::SlipPolicy;

/// One word or phrase of the query.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// The word or phrase, as written.
    pub(super) said: String,
    /// Weight in the order of entries.
    pub(super) weight: f32,
    /// Weight in the coverage of the query: words that describe tools count fully, values hardly at all.
    pub(super) topic: f32,
    /// The terms that stand for it, the most distinctive first.
    pub(super) senses: Vec<Sense>,
    /// Range of its words in the query; phrases have several.
    pub(super) words: Range<usize>,
}

impl Unit {
    /// A unit of full weight that covers nothing of the query.
    fn new(said: String, words: Range<usize>, senses: Vec<Sense>) -> Self {
        Self { said, weight: 1.0, topic: 0.0, senses, words }
    }
}

/// A term that stands for a word of the query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sense {
    pub(super) term: Term,
    pub(super) weight: f32,
    pub(super) kind: Kind,
}

/// Relation of a term to the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The word itself.
    Said,
    /// A synonym, or a related word.
    Meant,
    /// The word in correct spelling.
    Spelled,
}

/// Most units that are read of a query.
const MAX_UNITS: usize = 96;
/// Weight of a phrase of words that all kinds of requests have.
const LITTLE: f32 = 0.75;
/// Weight of weak words.
const WEAK_WEIGHT: f32 = 0.45;
/// Extra weight of the first word; it falls to nothing at the twelfth word.
const EARLY: f32 = 0.5;
const LATE: f32 = 12.0;
/// Weight that a repeated word adds, and the largest weight of a word.
const AGAIN: f32 = 0.2;
const MOST: f32 = 1.5;
/// Weight of the parts of a compound that is known as a whole.
const PART: f32 = 0.4;
/// Weight of a compound that the query says in two words, and of each part of one that it says in one.
const COMPOUND: f32 = 2.0;
const OF_COMPOUND: f32 = 0.7;
/// Weight of a word in a path or an address.
const VALUE: f32 = 0.3;
/// Weight of a corrected word.
const MENDED: f32 = 0.8;

/// Two terms that are adjacent in the query and in entries.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) terms: (Term, Term),
    /// Weight of the more distinctive term.
    pub(super) weight: f32,
}

/// The query, read.
#[derive(Debug, Default)]
pub(super) struct Query {
    pub(super) units: Vec<Unit>,
    /// Pairs of adjacent terms in it that entries have.
    pub(super) pairs: Vec<Pair>,
    /// Stems of its words, in order.
    pub(super) stems: Vec<Stem>,
    /// Its intent.
    pub(super) intent: Option<Intent>,
}

impl Query {
    /// Reads a query with the vocabulary of an index.
    pub(super) fn read(text: &str, index: &Index) -> Self {
        let (said, wholes) = query_words(text, index);
        let mut reading = Reading { index, query: Query::default(), rank: 0, foreign: false };
        let telling = || said.iter().filter(|word| !word.is_stop);
        let known =
            telling().filter(|word| word.stem.is(thesaurus::WEAK) || reading.knows(&word.stem)).count();
        reading.foreign = 2 * known <= telling().count();
        reading.phrases(&said);
        reading.compounds(&said);
        for (place, word) in said.iter().enumerate() {
            let whole = wholes.iter().find(|(words, _)| words.contains(&place));
            let whole = whole.map(|(words, whole)| (words, QueryWord::new(whole, index)));
            match whole.filter(|(_, whole)| reading.knows(&whole.stem)) {
                Some((words, whole)) => {
                    if words.start == place {
                        reading.word(&whole, 1.0, words.clone());
                    }
                    reading.word(word, PART, place..place + 1);
                }
                None => {
                    let counts = if word.is_value { VALUE } else { 1.0 };
                    reading.word(word, counts, place..place + 1);
                }
            }
        }
        reading.dense(text, said.len());
        reading.drop_repeated_senses();
        reading.pairs(&said);
        reading.query.intent = Intent::of_query(said.iter().map(|word| word.text.as_str()));
        let telling = said.into_iter().filter(|word| !word.is_value);
        reading.query.stems.extend(telling.map(|word| word.stem));
        reading.query
    }
}

struct Reading<'i> {
    index: &'i Index,
    query: Query,
    rank: usize,
    /// Whether few of its words are English, or of the catalog.
    foreign: bool,
}

impl Reading<'_> {
    /// Whether a stem is distinctive here.
    fn knows(&self, stem: &Stem) -> bool {
        stem.term.is_some() || stem.is_common(&self.index.synonyms)
    }

    fn senses(&self, key: &str, scale: f32, kind: Kind, senses: &mut Vec<Sense>) {
        let meanings = ENGLISH.of(key).chain(self.index.synonyms.of(key));
        meanings.for_each(|meaning| self.sense(meaning, scale, kind, senses));
    }

    fn sense(&self, meaning: Synonym<'_>, scale: f32, kind: Kind, senses: &mut Vec<Sense>) {
        let Some(term) = self.index.term(meaning.stem) else { return };
        let weight = meaning.weight * scale;
        match senses.iter_mut().find(|known| known.term == term) {
            Some(known) => known.weight = known.weight.max(weight),
            None => senses.push(Sense { term, weight, kind }),
        }
    }

    /// Phrases: words with a meaning together.
    fn phrases(&mut self, said: &[QueryWord]) {
        for length in (2..=MAX_PHRASE).rev() {
            for (place, window) in said.windows(length).enumerate() {
                let begins = |stem: &Stem| stem.is(BEGINS) || self.index.synonyms.begins(&stem.text);
                if !window.first().is_some_and(|word| begins(&word.stem)) {
                    continue;
                }
                let key = phrase_of(window.iter().map(|word| &word.stem));
                let mut senses = Vec::new();
                self.senses(&key, 1.0, Kind::Meant, &mut senses);
                if !senses.is_empty() && self.query.units.len() < MAX_UNITS {
                    let said = window.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
                    let weight = if window.iter().all(QueryWord::tells_little) { LITTLE } else { 1.0 };
                    let unit = Unit::new(said, place..place + length, senses);
                    self.query.units.push(Unit { weight, ..unit });
                }
            }
        }
    }

    /// Words that the catalog writes as one: "watch list" for `watchlist`.
    fn compounds(&mut self, said: &[QueryWord]) {
        let mut whole = String::new();
        for (place, pair) in said.windows(2).enumerate() {
            let [one, other] = pair else { continue };
            whole.clear();
            if !one.is_part() || !other.is_part() {
                continue;
            }
            whole.extend([one.text.as_str(), other.stem.text.as_str()]);
            let term = self.index.term(&whole);
            if let Some(term) = term.filter(|_| self.query.units.len() < MAX_UNITS) {
                let said = format!("{} {}", one.text, other.text);
                self.query.stems.push(Stem::of(whole.clone(), self.index));
                let senses = vec![Sense { term, weight: 1.0, kind: Kind::Said }];
                let unit = Unit::new(said, place..place + 2, senses);
                self.query.units.push(Unit { weight: COMPOUND, ..unit });
            }
        }
    }

    /// The parts of a word that the catalog writes as two: "watchlist" for `watch list`.
    fn parts(&self, text: &str, stem: &str) -> Option<(Term, Term)> {
        if !text.is_ascii() || text.len() < 2 * MIN_PART {
            return None;
        }
        (MIN_PART..=(stem.len().saturating_sub(MIN_PART))).find_map(|at| {
            let last = self.index.term(stem.get(at..)?)?;
            let first = self.index.term(&stemmed(text.get(..at)?))?;
            self.index.has_pair(first, last).then_some((first, last))
        })
    }

    fn word(&mut self, word: &QueryWord, counts: f32, words: Range<usize>) {
        let QueryWord { text, stem, is_stop, is_name, .. } = word;
        let (own, is_name) = (stem.term, *is_name);
        if *is_stop || text.chars().all(char::is_numeric) || is_dense(text) && own.is_none() {
            return;
        }
        let weak = stem.is(thesaurus::WEAK);
        let weight = counts * if weak { WEAK_WEIGHT } else { 1.0 };
        if let Some(before) =
            self.query.units.iter_mut().find(|unit| unit.words.len() == 1 && unit.said == *text)
        {
            before.weight = (before.weight.max(weight) + AGAIN).min(MOST);
            return;
        }
        if self.query.units.len() >= MAX_UNITS {
            return;
        }
        self.rank += 1;
        let weight = weight * (1.0 + EARLY * (0.5 - (self.rank as f32 / LATE).min(1.0)));
        let mut senses = Vec::new();
        senses.extend(own.map(|term| Sense { term, weight: 1.0, kind: Kind::Said }));
        let parts = self.parts(text, &stem.text).filter(|_| !weak && !is_name);
        if let Some((first, last)) = parts {
            let weight = if own.is_some() { PART * weight } else { weight };
            let part = |term| {
                let senses = vec![Sense { term, weight: OF_COMPOUND, kind: Kind::Said }];
                Unit { weight, ..Unit::new(text.clone(), words.clone(), senses) }
            };
            self.query.units.extend([part(first), part(last)]);
            self.query.pairs.extend(self.pair(first, last));
        }
        let meanings = stem.meanings(&self.index.synonyms);
        meanings.for_each(|meaning| self.sense(meaning, 1.0, Kind::Meant, &mut senses));
        let is_common = stem.is_common(&self.index.synonyms);
        let mut topic = self.topic(stem, is_common, is_name);
        if own.is_none() && !is_common && !weak {
            let meanings = if self.foreign { thesaurus::foreign(text) } else { Vec::new() };
            for meaning in meanings {
                self.sense(meaning, 1.0, Kind::Meant, &mut senses);
                topic = 1.0;
            }
            let is_slip = senses.is_empty() && parts.is_none() && counts == 1.0 && !is_name;
            let spellings = [&self.index.spelling, &*ENGLISH_SPELLING];
            let meant = is_slip.then(|| Spelling::nearest(text, &spellings)).flatten();
            if let Some(meant) = meant {
                let meant = stemmed(meant);
                let term = self.index.term(&meant);
                senses.extend(term.map(|term| Sense { term, weight: MENDED, kind: Kind::Spelled }));
                self.senses(&meant, MENDED, Kind::Spelled, &mut senses);
                topic = if senses.is_empty() { topic } else { 0.8 };
            }
        }
        let unit = Unit::new(text.clone(), words, senses);
        self.query.units.push(Unit { weight, topic: topic * counts, ..unit });
    }

    /// Weight of a word for the choice of a tool: objects count fully, actions half, names and values hardly at all.
    fn topic(&self, stem: &Stem, is_common: bool, is_name: bool) -> f32 {
        let is_told = stem.term.is_some_and(|term| self.index.is_descriptive[term as usize]);
        let (word, name) = match stem.term {
            _ if stem.is(thesaurus::WEAK) => (0.1, 0.1),
            _ if is_common && stem.is(ACTION) => (0.5, 0.5),
            _ if is_common => (1.0, 0.5),
            Some(_) if is_told => (0.6, 0.4),
            Some(_) => (0.1, 0.1),
            None => (0.35, 0.08),
        };
        if is_name { name } else { word }
    }

    /// Words of scripts without spaces.
    fn dense(&mut self, text: &str, place: usize) {
        for (said, meanings) in thesaurus::dense(text) {
            let mut senses = Vec::new();
            meanings.into_iter().for_each(|meaning| self.sense(meaning, 1.0, Kind::Meant, &mut senses));
            if self.query.units.len() < MAX_UNITS && !self.query.units.iter().any(|unit| unit.said == said) {
                self.query.units.push(Unit { topic: 1.0, ..Unit::new(said, place..place + 1, senses) });
            }
        }
    }

    /// A word counts once: not again as a synonym of another word.
    fn drop_repeated_senses(&mut self) {
        let units = self.query.units.iter();
        let all = units.flat_map(|unit| &unit.senses).filter(|sense| sense.kind == Kind::Said);
        let said: Vec<Term> = all.map(|sense| sense.term).collect();
        for unit in &mut self.query.units {
            unit.senses.retain(|sense| sense.kind == Kind::Said || !said.contains(&sense.term));
        }
    }

    fn pair(&self, one: Term, other: Term) -> Option<Pair> {
        let weight = self.index.idf(one).max(self.index.idf(other));
        self.index.has_pair(one, other).then_some(Pair { terms: (one, other), weight })
    }

    fn pairs(&mut self, said: &[QueryWord]) {
        let telling = said.iter().filter(|word| !word.is_stop);
        let terms: Vec<Option<Term>> = telling.map(|word| word.stem.term).collect();
        for pair in terms.windows(2) {
            if let [Some(one), Some(other)] = *pair
                && !self.query.pairs.iter().any(|known| known.terms == (one, other))
            {
                self.query.pairs.extend(self.pair(one, other));
            }
        }
    }
}

impl Index {
    /// The senses of a unit that an entry contains, each with the fields, one bit each.
    pub(super) fn met<'u>(&self, unit: &'u Unit, entry: u32) -> impl Iterator<Item = (&'u Sense, u8)> {
        let all = unit.senses.iter().map(move |sense| (sense, self.fields_with(sense.term, entry)));
        all.filter(|(_, fields)| *fields != 0)
    }
}

// The words of a query, each with what its form tells.

/// Most words that are read of a query.
const MAX_WORDS: usize = 400;
/// Longest word, in bytes: longer ones are data.
const MAX_WRITTEN: usize = 120;
/// Shortest part of a compound.
pub(super) const MIN_PART: usize = 3;

/// A word of the query.
pub(super) struct QueryWord {
    pub(super) text: String,
    pub(super) stem: Stem,
    /// Whether it says nothing about the tool that is meant.
    pub(super) is_stop: bool,
    /// Whether it stands in a path or an address.
    pub(super) is_value: bool,
    /// Whether it is written like a name.
    pub(super) is_name: bool,
}

/// Words, and the ranges that are joined to one word.
pub(super) type JoinedWords = Vec<(Range<usize>, String)>;

/// The words of a query.
pub(super) fn query_words(text: &str, index: &Index) -> (Vec<QueryWord>, JoinedWords) {
    let mut list: Vec<QueryWord> = Vec::new();
    let mut wholes = Vec::new();
    let mut before = ".";
    for written in text.split_whitespace().filter(|written| written.len() <= MAX_WRITTEN) {
        if list.len() >= MAX_WORDS {
            break;
        }
        let is_value = is_value(written);
        let is_name = is_name(written, std::mem::replace(&mut before, written));
        words(written, |word| {
            if word.joined {
                // Its parts are the last words; the lengths of their texts tell how many.
                let mut start = list.len();
                let mut left = word.text;
                while let Some(rest) =
                    start.checked_sub(1).and_then(|last| left.strip_suffix(list[last].text.as_str()))
                {
                    (start, left) = (start - 1, rest);
                }
                wholes.push((start..list.len(), word.text.to_string()));
                return;
            }
            list.push(QueryWord { is_value, is_name, ..QueryWord::new(word.text, index) });
        });
        // The type of a file says more than its folder.
        let has_ending = written.rsplit(['/', '\\']).next().is_some_and(|name| name.contains('.'));
        if let Some(ending) = list.last_mut().filter(|_| is_value && has_ending) {
            ending.is_value = false;
        }
    }
    (list, wholes)
}

/// Whether a word is capitalised within a sentence, and is no abbreviation.
fn is_name(written: &str, before: &str) -> bool {
    let begins = before.ends_with(['.', '!', '?', ':', '"', '\n']);
    let mut letters = written.chars().filter(|c| c.is_alphabetic());
    !begins
        && letters.next().is_some_and(char::is_uppercase)
        && letters.next().is_some_and(char::is_lowercase)
}

/// Whether a word is a value, such as a path or an address.
fn is_value(written: &str) -> bool {
    let bare = written.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '~' | '.' | '\\'));
    bare.starts_with(['/', '~', '\\'])
        || bare.contains('@')
        || bare.contains(':') && bare.contains("://")
        || bare.matches(['/', '\\']).count() > 1
}

impl QueryWord {
    /// A word without a form.
    pub(super) fn new(text: &str, index: &Index) -> Self {
        let stem = Stem::of(stemmed(text).into_owned(), index);
        Self { text: text.to_string(), stem, is_stop: is_stop(text), is_value: false, is_name: false }
    }

    /// Whether all kinds of requests have it: "look" and "up".
    pub(super) fn tells_little(&self) -> bool {
        self.is_stop || self.stem.is(thesaurus::WEAK)
    }

    /// Whether it can be a part of a compound.
    pub(super) fn is_part(&self) -> bool {
        self.text.len() >= MIN_PART && !self.is_stop && !self.text.bytes().any(|byte| byte.is_ascii_digit())
    }
}

// Spelling: replaces unknown words by the ones that were probably meant.

/// Words that are spelled well, by first character and length, each with the set of its letters.
#[derive(Debug, Default)]
pub(super) struct Spelling(HashMap<(char, usize), Vec<WithLetters>>);

/// The set of a word's letters, and the word.
type WithLetters = (u32, Box<str>);

/// Characters of the shortest word that is corrected.
const MIN_LENGTH: usize = SlipPolicy::QUERY_WORD.one_edit;
/// Longer ones are no words.
const MAX_LENGTH: usize = 24;

/// The set of a word's letters, as bits.
fn letters(word: &str) -> u32 {
    word.chars().fold(0, |bits, c| bits | 1 << (c as u32 % 32))
}

impl Spelling {
    /// Takes these words as correct.
    pub(super) fn of<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let mut groups: HashMap<_, Vec<_>> = HashMap::new();
        for word in words.filter(|word| word.chars().all(char::is_alphabetic)) {
            let length = word.chars().count();
            let first = word.chars().next().filter(|_| (MIN_LENGTH - 1..=MAX_LENGTH + 2).contains(&length));
            if let Some(first) = first {
                groups.entry((first, length)).or_default().push((letters(word), word.into()));
            }
        }
        Self(groups)
    }

    /// The words with this first character and length whose letters differ from these in at most so many.
    fn group(&self, first: char, length: usize, letters: u32, most: u32) -> impl Iterator<Item = &str> {
        let words = self.0.get(&(first, length)).into_iter().flatten();
        let near = words.filter(move |(known, _)| (letters ^ known).count_ones() <= most);
        near.map(|(_, word)| &**word)
    }

    /// The word of one of these that was probably meant; `None` where several are as near.
    pub(super) fn nearest<'s>(word: &str, all: &[&'s Self]) -> Option<&'s str> {
        let length = word.chars().count();
        if !(MIN_LENGTH..=MAX_LENGTH).contains(&length) || !word.chars().all(char::is_alphabetic) {
            return None;
        }
        let allowed = SlipPolicy::QUERY_WORD.max_edits(length);
        let (first, own) = (word.chars().next()?, letters(word));
        let mut best: Option<(usize, &str)> = None;
        let mut is_unique = true;
        for near in length.saturating_sub(allowed)..=length + allowed {
            // Each edit changes at most two letters.
            for known in all.iter().flat_map(|one| one.group(first, near, own, 2 * allowed as u32)) {
                let distance = damerau_levenshtein(word, known);
                match best {
                    _ if distance > allowed => {}
                    Some((least, _)) if distance > least => {}
                    // Both lists can have it.
                    Some((least, best)) if distance == least => is_unique &= best == known,
                    _ => (best, is_unique) = (Some((distance, known)), true),
                }
            }
        }
        best.filter(|_| is_unique).map(|(_, word)| word)
    }
}

// The intent of a query or a tool: to look up, make, change or remove. A tool with another intent for the right object is
// near, and wrong.

/// The intent of a query or a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// Get, list, search, check.
    Read,
    /// Make, add, send, book.
    Create,
    /// Change, move, set.
    Update,
    /// Remove, cancel.
    Delete,
}

const READ: &str = "get list show read view fetch find search query look lookup check retrieve tell display browse see count \
    download watch inspect examine describe explain summarize open what which who whom whose where when why how is are was \
    were does did has have any anybody anyone track monitor compare analyze recommend suggest calculate compute";
const CREATE: &str = "create add make new insert write compose generate build post send book reserve schedule order buy open \
    register start upload submit publish invite report record log draw draft share commit push fork copy duplicate remind";
const UPDATE: &str = "update edit modify change set move rename assign reschedule postpone replace adjust mark close reopen \
    merge approve convert switch fix correct extend shift enable disable turn reset rerun retry";
const DELETE: &str =
    "delete remove cancel clear erase drop unsubscribe unlink unassign discard revoke uninstall wipe dismiss";

/// Words that come before the request itself.
const POLITE: &str = "please can could would you i we want need like to help me us let hi hello hey just now then so and the a my \
    am im d ll ve looking trying";
/// Change of the score where the intents of the query and the tool agree, and where they differ.
const SAME: f32 = 0.08;
const OTHER: f32 = 0.12;

impl Intent {
    fn of_word(word: &str) -> Option<Self> {
        // A word of several lists has the intent of the last one.
        static WORDS: LazyLock<HashMap<String, Intent>> = LazyLock::new(|| {
            let lists = [
                (READ, Intent::Read),
                (CREATE, Intent::Create),
                (UPDATE, Intent::Update),
                (DELETE, Intent::Delete),
            ];
            let words = lists.into_iter().flat_map(|(list, intent)| {
                list.split_whitespace().map(move |word| (stemmed(word).into_owned(), intent))
            });
            words.collect()
        });
        WORDS.get(&*stemmed(word)).copied()
    }

    /// Intent of a request: its first distinctive word decides.
    fn of_query<'q>(words: impl Iterator<Item = &'q str>) -> Option<Self> {
        let polite = |word: &&str| !POLITE.split_whitespace().any(|known| known == *word);
        words.filter(polite).take(2).find_map(Self::of_word)
    }

    /// Intent of a tool, by its name.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        plain(name).iter().filter(|word| !is_stop(word)).find_map(|word| Self::of_word(word))
    }

    /// Factor for the score of a tool that does this, where this is wanted.
    pub(super) fn factor(wanted: Option<Self>, does: Option<Self>) -> f32 {
        match (wanted, does) {
            (Some(wanted), Some(does)) if wanted == does => 1.0 + SAME,
            (Some(_), Some(_)) => 1.0 - OTHER,
            _ => 1.0,
        }
    }
}

// Tool names in a query: a query with the name of a tool wants that tool, whatever else it says.

/// Longest query that can be a name, in bytes.
const MAX_NAME: usize = 200;
/// Most identifiers of a query that are looked up.
const MAX_IDENTIFIERS: usize = 200;

impl Index {
    /// Positions of the entries that a query names.
    pub fn named_in(&self, query: &str) -> impl Iterator<Item = usize> {
        self.mentioned(query).into_iter().map(|entry| entry as usize)
    }

    /// The entries that a query names, in its order. The query is the name, or consists of just the words of the
    /// name, or contains the name where it cannot be an ordinary word.
    pub(super) fn mentioned(&self, query: &str) -> Vec<u32> {
        let mut all = Vec::new();
        if query.len() <= MAX_NAME {
            all.extend(self.named(query.trim()));
            all.extend(self.named_in_words(query));
        }
        for (identifier, is_quoted) in identifiers(query).take(MAX_IDENTIFIERS) {
            all.extend(self.identified(identifier, is_quoted));
        }
        let mut seen = HashSet::new();
        all.retain(|entry| seen.insert(*entry));
        all
    }

    /// The entries that an identifier names: as it stands, or without the prefixes that clients and paths add, as in
    /// `mcp__server__NAME`, `functions.NAME` and `tools/NAME.md`.
    fn identified(&self, identifier: &str, is_quoted: bool) -> Vec<u32> {
        let can_be = |name: &str| match is_quoted || is_no_word(name) {
            true => self.named(name).to_vec(),
            false => Vec::new(),
        };
        if !is_quoted && !is_no_word(identifier) && !identifier.contains(['_', '.', '-', ':', '/']) {
            return Vec::new();
        }
        let found = can_be(identifier);
        if !found.is_empty() {
            return found;
        }
        let bare = identifier.strip_suffix(".md").unwrap_or(identifier);
        let ends =
            |separator: &'static str| bare.match_indices(separator).map(move |(at, _)| at + separator.len());
        let endings = ["/", "__", ".", ":"].into_iter().flat_map(ends).map(|at| &bare[at..]);
        let beginnings = bare.match_indices(['-', ':', '/', '.']).map(|(at, _)| &bare[..at]);
        let names = std::iter::once(bare).chain(endings).chain(beginnings).map(can_be);
        names.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }
}

/// Possible names in a text, and whether each is quoted.
fn identifiers(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | ':' | '/');
    text.split(move |c: char| !belongs(c)).filter(|run| !run.is_empty()).map(move |run| {
        let start = run.as_ptr() as usize - text.as_ptr() as usize;
        let is_quoted = text[..start].ends_with(['`', '"', '\'', '\u{201c}']);
        (run.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_'), is_quoted)
    })
}

/// Whether a word is an identifier and no word of a language.
fn is_no_word(name: &str) -> bool {
    let inner = || name.chars().skip(1);
    inner().any(|c| matches!(c, '_' | '.' | '-' | ':') || c.is_ascii_digit())
        || name.chars().zip(inner()).any(|(one, next)| one.is_lowercase() && next.is_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: Option<&str>) {
        let spelling = Spelling::of(
            ["weather", "directory", "document", "repository", "forecast", "house", "mouse"].into_iter(),
        );
        assert_eq!(Spelling::nearest(word, &[&spelling, &spelling]), expected, "{word}");
    }

    #[test]
    fn a_slip_is_mended_and_another_word_is_left() {
        check("wether", Some("weather"));
        check("documnet", Some("document"));
        check("repositroy", Some("repository"));
        check("direktory", Some("directory"));
        check("Paris", None);
        check("horse", Some("house"));
        check("cat", None);
        check("x1234567", None);
    }
}

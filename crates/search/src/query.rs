//! A query as units: each word with its senses, the terms of entries that may stand for it; its meaning, what it asks to
//! do, and the names in it.

use std::ops::Range;

use hashbrown::{HashMap, HashSet};
use strsim::damerau_levenshtein;

use super::actions::{Request, head};
use super::contraries::Contraries;
use super::index::{Index, Term};
use super::meaning::{Meaning, Sum, is_word};
use super::thesaurus::{self, MAX_PHRASE, Synonym, is_stop, is_weak};
use super::words::{is_dense, stemmed, words};
use toolcrib_definition::finding::SlipPolicy;

/// One word or phrase of the query.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// The word or phrase, as written.
    pub(super) said: String,
    /// Weight in the order of entries.
    pub(super) weight: f32,
    /// Weight in the coverage of the query: objects count fully, actions half, weak words hardly at all.
    pub(super) topic: f32,
    /// The terms that stand for it, the most distinctive first.
    pub(super) senses: Vec<Sense>,
    /// Range of its words in the query; phrases have several.
    pub(super) words: Range<usize>,
    pub(super) meaning: Meaning,
}

impl Unit {
    /// A unit of full weight that covers nothing of the query.
    fn new(said: String, words: Range<usize>, senses: Vec<Sense>) -> Self {
        Self { said, weight: 1.0, topic: 0.0, senses, words, meaning: Meaning::default() }
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
    /// A configured synonym, or a translation.
    Meant,
    /// The word in correct spelling.
    Spelled,
}

/// Most units that are read of a query.
const MAX_UNITS: usize = 96;
/// Weight of weak words, and of verbs.
const WEAK_WEIGHT: f32 = 0.45;
/// Weight that a repeated word adds, and the largest weight of a word.
const AGAIN: f32 = 0.2;
const MOST: f32 = 1.5;
/// Weight of the verb of tools for a verb of people.
const PLAIN: f32 = 0.9;
/// Words that "is" is joined with.
const ASKING: [&str; 5] = ["who", "what", "when", "where", "why"];
/// What a request asks for that asks who may do something.
const PEOPLE: [&str; 2] = ["collaborators", "access"];
/// Weight of a corrected word.
const MENDED: f32 = 0.8;

/// The query, read.
#[derive(Debug, Default)]
pub(super) struct Query {
    pub(super) units: Vec<Unit>,
    /// The meaning of all its words: no word is dropped, since "who am I" has no other.
    pub(super) meaning: Meaning,
    /// What it asks to do.
    pub(super) request: Request,
    /// Number of its words.
    pub(super) length: usize,
    /// The place of its head: of the thing that is asked for.
    pub(super) head: Option<usize>,
    /// The groups of entries that it names: servers or categories.
    pub(super) groups: Vec<u32>,
    /// The verbs of tools that would undo what it asks for.
    pub(super) contraries: Contraries,
}

impl Query {
    /// Reads a query with the vocabulary of an index.
    pub(super) fn read(text: &str, index: &Index) -> Self {
        let mut said = query_words(text, index);
        let mut reading = Reading { index, query: Query::default(), sum: Sum::default(), foreign: false };
        let telling = || said.iter().filter(|word| !word.is_stop);
        let known = telling().filter(|word| word.term.is_some() || is_weak(&word.stem)).count();
        reading.foreign = 2 * known <= telling().count();
        said.iter_mut().for_each(|word| reading.mend(word));
        let plain: Vec<String> =
            said.iter().map(|word| word.meant.as_ref().unwrap_or(&word.text).clone()).collect();
        reading.query.request = Request::read(&plain);
        if reading.query.request.verb.is_some_and(|verb| index.undoes(&said[verb])) {
            reading.query.request = reading.query.request.removing();
        }
        reading.query.length = said.len();
        reading.query.head = head(&plain, reading.query.request.verb);
        reading.query.groups = index.groups_in(text);
        let Query { request, head, .. } = &reading.query;
        reading.query.contraries = Contraries::read(&plain, request, *head, index);
        if reading.query.request.asks_who_may {
            PEOPLE.iter().for_each(|word| reading.sum.add(&Sum::of_word(word)));
        }
        reading.phrases(&said);
        said.iter().enumerate().for_each(|(place, word)| reading.word(word, place));
        reading.dense(text, said.len());
        reading.query.meaning = reading.sum.meaning();
        reading.query
    }
}

pub struct Reading<'i> {
    index: &'i Index,
    query: Query,
    /// Sum of its words.
    sum: Sum,
    /// Whether few of its words are of the catalog.
    foreign: bool,
}

impl Reading<'_> {
    fn sense(&self, meaning: Synonym<'_>, senses: &mut Vec<Sense>) {
        let Some(term) = self.index.term(meaning.stem) else { return };
        match senses.iter_mut().find(|known| known.term == term) {
            Some(known) => known.weight = known.weight.max(meaning.weight),
            None => senses.push(Sense { term, weight: meaning.weight, kind: Kind::Meant }),
        }
    }

    /// Corrects the spelling of a word that neither the catalog nor a language has.
    fn mend(&self, word: &mut QueryWord) {
        let QueryWord { text, stem, term, is_stop, meant } = word;
        let is_known = *is_stop || term.is_some() || is_weak(stem) || is_word(text);
        if !is_known
            && self.index.synonyms.of(stem).next().is_none()
            && (!self.foreign || thesaurus::foreign(text).is_empty())
        {
            *meant = self.index.spelling.nearest(text).map(str::to_string);
        }
    }

    /// Configured phrases: words with a meaning together.
    fn phrases(&mut self, said: &[QueryWord]) {
        for length in (2..=MAX_PHRASE).rev() {
            for (place, window) in said.windows(length).enumerate() {
                if !window.first().is_some_and(|word| self.index.synonyms.begins(&word.stem)) {
                    continue;
                }
                let key = window.iter().map(|word| word.stem.as_str()).collect::<Vec<_>>().join(" ");
                let mut senses = Vec::new();
                self.index.synonyms.of(&key).for_each(|meaning| self.sense(meaning, &mut senses));
                if !senses.is_empty() && self.query.units.len() < MAX_UNITS {
                    let said = window.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
                    self.index.synonyms.words_of(&key).for_each(|word| self.sum.add(&Sum::of_word(word)));
                    self.query.units.push(Unit::new(said, place..place + length, senses));
                }
            }
        }
    }

    fn word(&mut self, word: &QueryWord, place: usize) {
        let QueryWord { text, stem, term: own, is_stop, .. } = word;
        let own = *own;
        let mut sum = Sum::of_word(text);
        if *is_stop || text.chars().all(char::is_numeric) || is_dense(text) && own.is_none() {
            self.sum.add(&sum);
            return;
        }
        let is_verb = self.query.request.verb == Some(place);
        let plain = self.query.request.plain.filter(|plain| is_verb && plain != text);
        let weak = is_weak(stem) || plain.is_some();
        let weight = if weak { WEAK_WEIGHT } else { 1.0 };
        if let Some(before) =
            self.query.units.iter_mut().find(|unit| unit.words.len() == 1 && unit.said == *text)
        {
            before.weight = (before.weight.max(weight) + AGAIN).min(MOST);
            return;
        }
        if self.query.units.len() >= MAX_UNITS {
            return;
        }
        let mut senses = Vec::new();
        senses.extend(own.map(|term| Sense { term, weight: 1.0, kind: Kind::Said }));
        self.index.synonyms.of(stem).for_each(|meaning| self.sense(meaning, &mut senses));
        self.index.synonyms.words_of(stem).for_each(|word| sum.add(&Sum::of_word(word)));
        if let Some(other) = self.opposite(word, is_verb) {
            self.sense(Synonym { stem: &stemmed(&other), weight: PLAIN }, &mut senses);
            sum.add(&Sum::of_word(&other));
        }
        let mut topic = match (weak, is_verb) {
            (true, _) => 0.1,
            (_, true) => 0.5,
            _ => 1.0,
        };
        if own.is_none() && !weak && senses.is_empty() {
            let meanings = if self.foreign { thesaurus::foreign(text) } else { Vec::new() };
            for (place, meaning) in meanings.into_iter().enumerate() {
                if place == 0 {
                    sum = Sum::of_word(meaning.word);
                }
                self.sense(meaning.synonym(), &mut senses);
                topic = 1.0;
            }
            if let Some(meant) = &word.meant {
                let term = self.index.term(&stemmed(meant));
                senses.extend(term.map(|term| Sense { term, weight: MENDED, kind: Kind::Spelled }));
                topic = if senses.is_empty() { topic } else { 0.8 };
                sum = Sum::of_word(meant);
            }
        }
        if let Some(plain) = plain {
            sum = Sum::of_word(plain);
            let term = self.index.term(&stemmed(plain));
            senses.extend(term.map(|term| Sense { term, weight: PLAIN, kind: Kind::Meant }));
        }
        self.sum.add(&sum);
        let unit = Unit::new(text.clone(), place..place + 1, senses);
        self.query.units.push(Unit { weight, topic, meaning: sum.meaning(), ..unit });
    }

    /// The word with "un" or without it that the catalog has: to remove a star is to unstar, and to unpin is to remove a pin.
    fn opposite(&self, word: &QueryWord, is_verb: bool) -> Option<String> {
        let other = match word.text.strip_prefix("un") {
            Some(rest) => Some(rest.to_string()).filter(|rest| word.term.is_none() && rest.len() > 2),
            None => (self.query.request.is_removal && !is_verb).then(|| format!("un{}", word.text)),
        };
        other.filter(|other| self.index.term(&stemmed(other)).is_some())
    }

    /// Words of scripts without spaces.
    fn dense(&mut self, text: &str, place: usize) {
        for (said, meanings) in thesaurus::dense(text) {
            let mut senses = Vec::new();
            let sum = meanings.first().map(|first| Sum::of_word(first.word)).unwrap_or_default();
            meanings.iter().for_each(|meaning| self.sense(meaning.synonym(), &mut senses));
            if self.query.units.len() < MAX_UNITS && !self.query.units.iter().any(|unit| unit.said == said) {
                self.sum.add(&sum);
                let unit = Unit::new(said, place..place + 1, senses);
                self.query.units.push(Unit { topic: 1.0, meaning: sum.meaning(), ..unit });
            }
        }
    }
}

impl Index {
    /// Whether a verb that the catalog does not have takes away a thing that a tool deletes: to unpin is to delete a pin.
    fn undoes(&self, verb: &QueryWord) -> bool {
        let thing = verb.text.strip_prefix("un").filter(|_| verb.term.is_none());
        let Some(thing) = thing.and_then(|thing| self.term(&stemmed(thing))) else { return false };
        self.does.iter().zip(&self.nouns).any(|(does, nouns)| does.deletes() && nouns.contains(&thing))
    }

    /// The senses of a unit that an entry contains, each with the fields, one bit each.
    pub(super) fn met<'u>(&self, unit: &'u Unit, entry: u32) -> impl Iterator<Item = (&'u Sense, u8)> {
        let all = unit.senses.iter().map(move |sense| (sense, self.fields_with(sense.term, entry)));
        all.filter(|(_, fields)| *fields != 0)
    }
}

// The words of a query.

/// Most words that are read of a query.
const MAX_WORDS: usize = 400;
/// Longest word, in bytes: longer ones are data.
const MAX_WRITTEN: usize = 120;

/// A word of the query.
struct QueryWord {
    text: String,
    stem: String,
    /// Its term in the index.
    term: Option<Term>,
    /// Whether it says nothing about the tool that is meant.
    is_stop: bool,
    /// The word that was probably meant, for a misspelled one.
    meant: Option<String>,
}

/// A word without the "is" that it was joined with: "whats" for "what's".
fn without_is(word: &str) -> &str {
    word.strip_suffix('s').filter(|word| ASKING.contains(word)).unwrap_or(word)
}

/// The words of a query.
fn query_words(text: &str, index: &Index) -> Vec<QueryWord> {
    let mut list = Vec::new();
    for written in text.split_whitespace().filter(|written| written.len() <= MAX_WRITTEN).take(MAX_WORDS) {
        words(written, |word| list.push(QueryWord::new(without_is(word), index)));
    }
    list.truncate(MAX_WORDS);
    list
}

impl QueryWord {
    fn new(text: &str, index: &Index) -> Self {
        let stem = stemmed(text).into_owned();
        let term = index.term(&stem);
        Self { text: text.to_string(), stem, term, is_stop: is_stop(text), meant: None }
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

    /// The word that was probably meant; `None` where several are as near.
    pub(super) fn nearest(&self, word: &str) -> Option<&str> {
        let length = word.chars().count();
        if !(MIN_LENGTH..=MAX_LENGTH).contains(&length) || !word.chars().all(char::is_alphabetic) {
            return None;
        }
        let allowed = SlipPolicy::QUERY_WORD.max_edits(length);
        let first = word.chars().next()?;
        let own = letters(word);
        let mut best: Option<(usize, &str)> = None;
        let mut is_unique = true;
        for near in length.saturating_sub(allowed)..=length + allowed {
            // Each edit changes at most two letters.
            for known in self.group(first, near, own, 2 * allowed as u32) {
                let distance = damerau_levenshtein(word, known);
                match best {
                    _ if distance > allowed => {}
                    Some((least, _)) if distance > least => {}
                    Some((least, _)) if distance == least => is_unique = false,
                    _ => (best, is_unique) = (Some((distance, known)), true),
                }
            }
        }
        best.filter(|_| is_unique).map(|(_, word)| word)
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
        let can_be =
            |name: &str| if is_quoted || is_no_word(name) { self.named(name).to_vec() } else { Vec::new() };
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
        assert_eq!(spelling.nearest(word), expected, "{word}");
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

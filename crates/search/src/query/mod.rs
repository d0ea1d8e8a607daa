//! A query as units: each word with its senses, the terms of entries that may stand for it; its meaning, and what it asks to
//! do.

mod foreign;
mod query_word;

use std::ops::Range;

use crate::actions::{Request, head};
use crate::contraries::Contraries;
use crate::index::{Index, Term};
use crate::meaning::{Meaning, Sum};
use crate::stems::stemmed;
use crate::stop_words::is_weak;
use crate::synonyms::{MAX_PHRASE, Synonym};
use crate::words::is_dense;
use foreign::{is_foreign_script, translate};
use query_word::{QueryWord, query_words};

/// One word or phrase of the query.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// The word or phrase, as written.
    pub(crate) said: String,
    /// Weight in the order of entries.
    pub(crate) weight: f32,
    /// Weight in the coverage of the query: objects count fully, actions half, weak words hardly at all.
    pub(crate) topic: f32,
    /// The terms that stand for it, the most distinctive first.
    pub(crate) senses: Vec<Sense>,
    /// Range of its words in the query; phrases have several.
    pub(crate) words: Range<usize>,
    pub(crate) meaning: Meaning,
}

/// A term that stands for a word of the query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sense {
    pub(crate) term: Term,
    pub(crate) weight: f32,
    pub(crate) kind: Kind,
}

/// Relation of a term to the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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

/// What a request asks for that asks who may do something.
const PEOPLE: [&str; 2] = ["collaborators", "access"];
/// Weight of a corrected word.
const MENDED: f32 = 0.8;

/// The query, read.
#[derive(Debug, Default)]
pub(crate) struct Query {
    pub(crate) units: Vec<Unit>,
    /// The meaning of all its words: no word is dropped, since "who am I" has no other.
    pub(crate) meaning: Meaning,
    /// What it asks to do.
    pub(crate) request: Request,
    /// Number of its words.
    pub(crate) length: usize,
    /// The place of its head: of the thing that is asked for.
    pub(crate) head: Option<usize>,
    /// The groups of entries that it names: servers or categories.
    pub(crate) groups: Vec<u32>,
    /// Whether most of its words are written with other letters than English.
    pub(crate) is_foreign_script: bool,
    /// The verbs of tools that would undo what it asks for.
    pub(crate) contraries: Contraries,
}

impl Query {
    /// Reads a query with the vocabulary of an index.
    pub(crate) fn read(text: &str, index: &Index) -> Self {
        let mut said = query_words(text, index);
        translate(&mut said, text);
        said.iter_mut().for_each(|word| word.mend(index));
        let plain: Vec<String> = said.iter().map(QueryWord::plain).collect();
        let mut request = Request::read(&plain);
        if request.verb.is_some_and(|verb| index.undoes(&said[verb])) {
            request = request.removing();
        }
        let head = head(&plain, request.verb);
        let contraries = Contraries::read(&plain, &request, head, index);
        let groups = index.groups_in(text);
        let is_foreign_script = is_foreign_script(text);
        let query = Self {
            request,
            length: said.len(),
            head,
            groups,
            is_foreign_script,
            contraries,
            ..Self::default()
        };
        let mut reading = Reading { index, query, sum: Sum::default() };
        if request.asks_who_may {
            PEOPLE.iter().for_each(|word| reading.sum.add(&Sum::of_word(word)));
        }
        reading.phrases(&said);
        said.iter().enumerate().for_each(|(place, word)| reading.word(word, place));
        reading.query.meaning = reading.sum.meaning();
        reading.query
    }
}

impl Query {
    /// Whether it is in a language that neither the catalog nor the lists of words have.
    pub(crate) fn is_unreadable(&self) -> bool {
        self.is_foreign_script && self.units.iter().all(|unit| unit.senses.is_empty())
    }
}

/// A query that is being read.
struct Reading<'i> {
    index: &'i Index,
    query: Query,
    /// Sum of its words.
    sum: Sum,
}

impl Reading<'_> {
    fn sense(&self, meaning: Synonym<'_>, senses: &mut Vec<Sense>) {
        let Some(term) = self.index.term(meaning.stem) else { return };
        match senses.iter_mut().find(|known| known.term == term) {
            Some(known) => known.weight = known.weight.max(meaning.weight),
            None => senses.push(Sense { term, weight: meaning.weight, kind: Kind::Meant }),
        }
    }

    /// Configured phrases: words with a meaning together.
    fn phrases(&mut self, said: &[QueryWord]) {
        for length in (2..=MAX_PHRASE).rev() {
            for (place, window) in said.windows(length).enumerate() {
                let key = window.iter().map(|word| word.stem.as_str()).collect::<Vec<_>>().join(" ");
                let mut senses = Vec::new();
                self.index.synonyms.of(&key).for_each(|meaning| self.sense(meaning, &mut senses));
                if !senses.is_empty() && self.query.units.len() < MAX_UNITS {
                    let said = window.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
                    self.index.synonyms.words_of(&key).for_each(|word| self.sum.add(&Sum::of_word(word)));
                    let words = place..place + length;
                    let meaning = Meaning::default();
                    self.query.units.push(Unit { said, weight: 1.0, topic: 0.0, senses, words, meaning });
                }
            }
        }
    }

    fn word(&mut self, word: &QueryWord, place: usize) {
        let QueryWord { text, stem, term: own, is_stop, .. } = word;
        let own = *own;
        let mut sum = Sum::of_word(text);
        if *is_stop
            || text.chars().all(char::is_numeric)
            || is_dense(text) && own.is_none() && word.meanings.is_empty()
        {
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
            if let Some(first) = word.meanings.first() {
                sum = Sum::of_word(first.word);
                topic = if is_verb { 0.5 } else { 1.0 };
            }
            word.meanings.iter().for_each(|meaning| self.sense(meaning.synonym, &mut senses));
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
        let meaning = sum.meaning();
        let words = place..place + 1;
        self.query.units.push(Unit { said: text.clone(), weight, topic, senses, words, meaning });
    }

    /// The word with "un" or without it that the catalog has: to remove a star is to unstar, and to unpin is to remove a pin.
    fn opposite(&self, word: &QueryWord, is_verb: bool) -> Option<String> {
        let other = match word.text.strip_prefix("un") {
            Some(rest) => Some(rest.to_string()).filter(|rest| word.term.is_none() && rest.len() > 2),
            None => (self.query.request.is_removal && !is_verb).then(|| format!("un{}", word.text)),
        };
        other.filter(|other| self.index.term(&stemmed(other)).is_some())
    }
}

impl Index {
    /// Whether a verb that the catalog does not have takes away a thing that a tool deletes: to unpin is to delete a pin.
    fn undoes(&self, verb: &QueryWord) -> bool {
        let thing = verb.text.strip_prefix("un").and_then(|thing| self.term(&stemmed(thing)));
        let (Some(thing), None) = (thing, verb.term) else { return false };
        self.does.iter().zip(&self.nouns).any(|(does, nouns)| does.deletes() && nouns.contains(&thing))
    }

    /// The senses of a unit that an entry contains, each with the fields, one bit each.
    pub(crate) fn met<'u>(&self, unit: &'u Unit, entry: u32) -> impl Iterator<Item = (&'u Sense, u8)> {
        let all = unit.senses.iter().map(move |sense| (sense, self.fields_with(sense.term, entry)));
        all.filter(|(_, fields)| *fields != 0)
    }
}

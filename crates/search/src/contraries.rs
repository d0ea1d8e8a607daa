//! Contraries: verbs that undo what other verbs do. A tool for the contrary of a request is near in every other way.

use std::sync::LazyLock;

use super::actions::Request;
use super::index::Field;
use super::index::{Index, SHOWN, Term};
use super::stems::stemmed;
use super::stop_words::is_stop;

/// A line for each pair of contraries: the verbs of one side, a colon, those of the other.
const PAIRS: &str = include_str!("words/contraries.txt");

/// The stems of each side, with those of the other.
static SIDES: LazyLock<Vec<[Vec<String>; 2]>> = LazyLock::new(|| {
    let pairs = PAIRS.lines().filter_map(|line| line.split_once(':'));
    let stems = |side: &str| side.split_whitespace().map(|verb| stemmed(verb).into_owned()).collect();
    pairs.flat_map(|(one, other)| [[one, other], [other, one]]).map(|sides| sides.map(stems)).collect()
});

/// The terms of verbs that do what a request asks for, and of verbs that do the contrary.
#[derive(Debug, Default)]
pub(super) struct Contraries {
    /// The verb itself.
    asked: Option<Term>,
    same: Vec<Term>,
    contrary: Vec<Term>,
    /// The thing to remove.
    removed: Option<Term>,
}

impl Contraries {
    /// Reads the first verb of a request that has a contrary. A thing to remove is one as well: to remove a star is not to
    /// star.
    pub(super) fn read(words: &[String], request: &Request, head: Option<usize>, index: &Index) -> Self {
        // "views" of "unpublish the views" looks like a verb.
        let first = words.iter().position(|word| !is_stop(word)).unwrap_or(0);
        let later = words[request.verb.unwrap_or(0).min(first)..].iter().map(String::as_str);
        let found = request.plain.into_iter().chain(later).find_map(|verb| Some((verb, sides(verb)?)));
        let (verb, [same, contrary]) = found.unwrap_or_default();
        let terms = |stems: Vec<String>| stems.iter().filter_map(|stem| index.term(stem)).collect();
        let removed = head.filter(|_| request.is_removal).and_then(|head| index.term(&stemmed(&words[head])));
        Self { asked: index.term(&stemmed(verb)), same: terms(same), contrary: terms(contrary), removed }
    }
}

/// The stems of verbs that do the same as a verb, and the contrary. A verb with "un" undoes the verb without it.
fn sides(verb: &str) -> Option<[Vec<String>; 2]> {
    let own = stemmed(verb).into_owned();
    let bare = verb.strip_prefix("un").filter(|bare| bare.len() > 2);
    let undone = bare.map(|bare| [vec![own.clone()], vec![stemmed(bare).into_owned()]]);
    let known = SIDES.iter().filter(|[same, _]| same.contains(&own)).cloned();
    known
        .chain(undone)
        .reduce(|[same, contrary], [more, others]| [[same, more].concat(), [contrary, others].concat()])
}

impl Index {
    /// Whether the verb of an entry's name does the contrary of what is asked for, and the entry does not do both.
    pub(super) fn is_contrary(&self, asked: &Contraries, entry: u32) -> bool {
        let has = |term: &Term, fields: u8| self.fields_with(*term, entry) & fields != 0;
        let nouns = &self.nouns[entry as usize];
        let does = &self.does[entry as usize];
        // A verb that no frame has comes first among the nouns, and one at the end of a name may be taken for its head: to
        // archive is what `notes_archive` does.
        let unknown = if does.first == 0 { nouns.first() } else { None };
        let says_it = asked.asked.iter().any(|term| has(term, u8::MAX));
        let last = if does.removes() || says_it { None } else { nouns.last() };
        let is_verb = |term: &&Term| !nouns.contains(term) || unknown == Some(*term);
        let verbs = asked.contrary.iter().filter(|term| is_verb(term) || last == Some(*term));
        let is_there = |term: &Term| has(term, Field::Name.bit());
        verbs.chain(asked.removed.iter().filter(is_verb)).any(is_there)
            && !asked.same.iter().any(|term| has(term, SHOWN))
            && !asked.asked.iter().any(|term| has(term, Field::ParameterText.bit()))
    }
}

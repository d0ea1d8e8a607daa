//! A thesaurus: relates words of people to words of tool definitions. The lists of `words/` are built in (`languages`); a
//! configuration adds synonyms.
//!
//! In a list, `=` means the same, and `>` needs what is at its right. A line is a relation.

use std::sync::LazyLock;

use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::IndexMap;
use rayon::prelude::*;

use super::query::Spelling;
use super::words::{FOREIGN, foreign_stem, is_dense, plain, stemmed};

/// Most words of a phrase that is looked up.
pub(super) const MAX_PHRASE: usize = 3;
/// Factor for each word of a phrase.
const OF_PHRASE: f32 = 0.6;
/// Weight of a configured synonym: it was written for this catalog.
const CONFIGURED: f32 = 0.9;
/// Weight of a synonym.
const SAME: f32 = 0.56;
/// Weight of the first related word, and the factor from each to the next.
const RELATED: f32 = 0.44;
const FURTHER: f32 = 0.93;

/// Facts about a word, one bit each: whether longer keys begin with it; whether it says nothing, or little, about the tool
/// that is meant; whether it is an action rather than an object.
pub(super) const BEGINS: u8 = 1;
pub(super) const STOP: u8 = 2;
pub(super) const WEAK: u8 = 4;
pub(super) const ACTION: u8 = 8;

/// Words, with their synonyms and related words.
#[derive(Debug, Default)]
pub(super) struct Thesaurus {
    /// Stems, or stems with a space between them, each with a number.
    words: IndexMap<Box<str>, KnownWord, DefaultHashBuilder>,
    /// Number of words that have meanings.
    keys: usize,
}

/// A word of a thesaurus.
#[derive(Debug, Default)]
pub(super) struct KnownWord {
    /// The numbers of stems, with their weights.
    meanings: Vec<(u32, f32)>,
    /// Number of keys that have it as a meaning.
    meant: u32,
    facts: u8,
}

impl KnownWord {
    /// Whether a fact holds for it.
    pub(super) fn is(&self, fact: u8) -> bool {
        self.facts & fact != 0
    }

    /// Whether it has meanings.
    pub(super) fn is_key(&self) -> bool {
        !self.meanings.is_empty()
    }
}

/// A word as its stem, with its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Synonym<'t> {
    pub(super) stem: &'t str,
    pub(super) weight: f32,
}

/// A text as the stems of its words.
pub(super) fn phrase(text: &str) -> String {
    plain(text).iter().map(|word| stemmed(word)).collect::<Vec<_>>().join(" ")
}

impl Thesaurus {
    /// The synonyms of a configuration.
    pub(super) fn configured<'s>(synonyms: impl IntoIterator<Item = (&'s String, &'s Vec<String>)>) -> Self {
        let mut thesaurus = Self::default();
        for (left, right) in synonyms {
            for right in right {
                thesaurus.add(&phrase(left), &phrase(right), CONFIGURED);
            }
        }
        thesaurus
    }

    /// Reads the lines of a list; `key` makes a key of a word that people say.
    pub(super) fn read(text: &str, key: impl Fn(&str) -> String) -> Self {
        let mut thesaurus = Self::default();
        // Most words stand in many lines, and stemming takes longer than all else.
        let mut phrases: HashMap<&str, String> = HashMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some((left, right)) = line.split_once(" > ") {
                let left = key(left);
                let mut weight = RELATED;
                for right in right.split(", ") {
                    let right = phrases.entry(right).or_insert_with(|| phrase(right));
                    thesaurus.add(&left, right, weight);
                    weight *= FURTHER;
                }
            } else if let Some((left, right)) = line.split_once(" = ") {
                let all: Vec<&str> = std::iter::once(left).chain(right.split(", ")).collect();
                for one in &all {
                    let left = key(one);
                    for other in all.iter().filter(|other| *other != one) {
                        let other = phrases.entry(other).or_insert_with(|| phrase(other));
                        thesaurus.add(&left, other, SAME);
                    }
                }
            }
        }
        thesaurus
    }

    /// Marks the words of a list with a fact, each in a form of it.
    pub(super) fn mark(&mut self, list: &str, fact: u8, form: impl Fn(&str) -> String) {
        let lines = list.lines().filter(|line| !line.starts_with('#'));
        for word in lines.flat_map(str::split_whitespace) {
            let number = self.number(&form(word));
            self.words[number as usize].facts |= fact;
        }
    }

    /// Adds a phrase as a meaning of a key.
    fn add(&mut self, key: &str, right: &str, weight: f32) {
        if key.is_empty() || key == right {
            return;
        }
        if let Some((first, _)) = key.split_once(' ') {
            let first = self.number(first);
            self.words[first as usize].facts |= BEGINS;
        }
        let weight = if right.contains(' ') { weight * OF_PHRASE } else { weight };
        let key = self.number(key) as usize;
        let was_key = self.words[key].is_key();
        for stem in right.split(' ').filter(|stem| !stem.is_empty()) {
            let stem = self.number(stem);
            let meanings = &mut self.words[key].meanings;
            match meanings.iter_mut().find(|(known, _)| *known == stem) {
                Some((_, known)) => *known = known.max(weight),
                None => {
                    meanings.push((stem, weight));
                    self.words[stem as usize].meant += 1;
                }
            }
        }
        self.keys += usize::from(!was_key && self.words[key].is_key());
    }

    fn number(&mut self, text: &str) -> u32 {
        let known = self.words.get_index_of(text);
        known.unwrap_or_else(|| self.words.insert_full(text.into(), KnownWord::default()).0) as u32
    }

    /// A known word, for several questions about it.
    pub(super) fn word(&self, text: &str) -> Option<&KnownWord> {
        self.words.get(text)
    }

    /// Whether a fact holds for a word.
    pub(super) fn is(&self, text: &str, fact: u8) -> bool {
        self.word(text).is_some_and(|word| word.is(fact))
    }

    /// The meanings of a stem, or of stems with a space between them.
    pub(super) fn of<'t>(&'t self, key: &str) -> impl Iterator<Item = Synonym<'t>> + use<'t> {
        self.meanings(self.word(key))
    }

    /// The meanings of a word of it.
    pub(super) fn meanings<'t>(&'t self, word: Option<&'t KnownWord>) -> impl Iterator<Item = Synonym<'t>> {
        let meanings = word.into_iter().flat_map(|word| &word.meanings);
        meanings.filter_map(|(stem, weight)| {
            let (stem, _) = self.words.get_index(*stem as usize)?;
            Some(Synonym { stem, weight: *weight })
        })
    }

    /// Whether it has meanings of a stem.
    pub(super) fn knows(&self, key: &str) -> bool {
        self.word(key).is_some_and(KnownWord::is_key)
    }

    /// Whether any longer key begins with this stem.
    pub(super) fn begins(&self, stem: &str) -> bool {
        self.is(stem, BEGINS)
    }

    /// Distinctiveness of a stem, from 0 to 1: a stem that many words mean has little.
    pub(super) fn tells(&self, stem: &str) -> f32 {
        let all = self.keys.max(2) as f32;
        let meant = self.word(stem).map_or(0, |word| word.meant) as f32;
        (all / (1.0 + meant)).ln() / all.ln()
    }

    /// Every word that has meanings.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter(|(_, word)| word.is_key()).map(|(text, _)| &**text)
    }
}

// The word lists of all languages (`words/*.txt`). Each is read at its first use.

/// The words of English and their meanings, and all words that have a role of their own.
pub(super) static ENGLISH: LazyLock<Thesaurus> = LazyLock::new(|| {
    let mut english = Thesaurus::read(include_str!("words/english.txt"), phrase);
    let stem = |word: &str| stemmed(word).into_owned();
    english.mark(include_str!("words/stop.txt"), STOP, str::to_string);
    english.mark(include_str!("words/weak.txt"), WEAK, stem);
    english.mark(include_str!("../tool/action_words.txt"), ACTION, stem);
    english
});

/// The spelling of those words that have meanings.
pub(super) static ENGLISH_SPELLING: LazyLock<Spelling> = LazyLock::new(|| Spelling::of(ENGLISH.keys()));

/// The lists of [`FOREIGN`], in its order.
static FOREIGN_LISTS: LazyLock<Vec<Thesaurus>> = LazyLock::new(|| {
    let read = |(list, algorithm)| {
        Thesaurus::read(list, |text| foreign_stem(&plain(text).join(" "), algorithm).into_owned())
    };
    FOREIGN.into_par_iter().map(read).collect()
});

/// Words of scripts without spaces, looked up wherever they stand.
static DENSE: LazyLock<Thesaurus> = LazyLock::new(|| {
    let lists =
        concat!(include_str!("words/zh.txt"), include_str!("words/ja.txt"), include_str!("words/ko.txt"));
    Thesaurus::read(lists, str::to_string)
});
/// Length of the longest of them, in characters.
const MAX_DENSE: usize = 8;

/// Whether a word says nothing about the tool that is meant.
pub(super) fn is_stop(word: &str) -> bool {
    ENGLISH.is(word, STOP)
}

/// Whether a stem is a weak word.
pub(super) fn is_weak(stem: &str) -> bool {
    ENGLISH.is(stem, WEAK)
}

/// Whether a stem is an action rather than an object.
pub(super) fn is_action(stem: &str) -> bool {
    ENGLISH.is(stem, ACTION)
}

/// The meanings of a word of another language; the word is in lower case, without accents.
pub(super) fn foreign(word: &str) -> Vec<Synonym<'static>> {
    let mut found: Vec<Synonym> = Vec::new();
    for (list, (_, algorithm)) in FOREIGN_LISTS.iter().zip(FOREIGN) {
        for meaning in list.of(&foreign_stem(word, algorithm)) {
            if !found.iter().any(|known| known.stem == meaning.stem) {
                found.push(meaning);
            }
        }
    }
    found
}

/// Words of scripts without spaces in a text, the longest first where they overlap, with their meanings.
pub(super) fn dense(text: &str) -> Vec<(String, Vec<Synonym<'static>>)> {
    let mut found = Vec::new();
    let places: Vec<(usize, char)> = text.char_indices().collect();
    let mut at = 0;
    while let Some(&(start, c)) = places.get(at) {
        let longest = is_dense(c.encode_utf8(&mut [0; 4])).then(|| {
            (1..=MAX_DENSE.min(places.len() - at)).rev().find_map(|length| {
                let end = places.get(at + length).map_or(text.len(), |(place, _)| *place);
                let word = &text[start..end];
                let meanings: Vec<_> = DENSE.of(word).collect();
                (!meanings.is_empty()).then_some((length, word, meanings))
            })
        });
        match longest.flatten() {
            Some((length, word, meanings)) => {
                found.push((word.to_string(), meanings));
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_the_same_holds_both_ways_and_what_is_needed_one_way() {
        let list = Thesaurus::read("buy = purchase, order\ngift > shopping, present\n", phrase);
        let stems = |key| list.of(key).map(|meaning| meaning.stem).collect::<Vec<_>>();
        assert_eq!(stems("order"), ["buy", "purchas"]);
        assert_eq!(stems("gift"), ["shop", "present"]);
        assert!(stems("shop").is_empty());
    }

    #[test]
    fn every_line_of_the_lists_is_a_relation() {
        let lists = [
            include_str!("words/english.txt"),
            include_str!("words/de.txt"),
            include_str!("words/fr.txt"),
            include_str!("words/es.txt"),
            include_str!("words/pt.txt"),
            include_str!("words/it.txt"),
            include_str!("words/ru.txt"),
            include_str!("words/uk.txt"),
            include_str!("words/zh.txt"),
            include_str!("words/ja.txt"),
            include_str!("words/ko.txt"),
        ];
        for line in lists.iter().flat_map(|list| list.lines()) {
            let is_relation = line.split_once(" > ").or_else(|| line.split_once(" = ")).is_some();
            assert!(is_relation || line.is_empty() || line.starts_with('#'), "{line}");
        }
    }

    fn stems(meanings: &[Synonym]) -> Vec<String> {
        meanings.iter().map(|meaning| meaning.stem.to_string()).collect()
    }

    #[test]
    fn other_languages_find_english_words() {
        assert!(stems(&foreign("wetter")).contains(&"weather".into()));
        assert!(stems(&foreign("погода")).contains(&"weather".into()));
        let found = dense("明天的天气怎么样");
        assert!(found.iter().any(|(_, meanings)| stems(meanings).contains(&"weather".into())), "{found:?}");
    }
}

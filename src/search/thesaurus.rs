//! The thesaurus: relates words of people to words of tool definitions. One list is written for all catalogs
//! (`words/*.txt`), and a configuration adds synonyms.

use std::sync::LazyLock;

use hashbrown::{HashMap, HashSet};
use rust_stemmers::{Algorithm, Stemmer};

use super::words::{ENGLISH_WORDS, is_dense, plain, stem};

/// Weight of a synonym.
const SAME: f32 = 0.56;
/// Weight of the first related word, and the factor from each to the next.
const RELATED: f32 = 0.44;
const FURTHER: f32 = 0.93;
/// Factor for each word of a phrase.
const OF_PHRASE: f32 = 0.6;
/// Weight of a configured synonym: it was written for this catalog.
const CONFIGURED: f32 = 0.9;

/// Most words of a phrase that is looked up.
pub(super) const MAX_PHRASE: usize = 3;

/// Words, with their synonyms and related words.
#[derive(Debug, Default)]
pub(super) struct Thesaurus {
    /// Keys are stems, or stems with a space between them.
    meanings: HashMap<Box<str>, Vec<Synonym>>,
    /// Number of keys that each stem is a meaning of.
    meant: HashMap<Box<str>, u32>,
    /// The first stems of keys with several.
    phrases: HashSet<Box<str>>,
}

/// A word as its stem, with its weight.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Synonym {
    pub(super) stem: Box<str>,
    pub(super) weight: f32,
}

/// The built-in list.
pub(super) static ENGLISH: LazyLock<Thesaurus> = LazyLock::new(|| Thesaurus::read(ENGLISH_WORDS, phrase));

/// Other languages, with the stemmer of each.
static FOREIGN: LazyLock<Vec<(Option<Stemmer>, Thesaurus)>> = LazyLock::new(|| {
    let list = [
        (include_str!("words/de.txt"), Some(Algorithm::German)),
        (include_str!("words/fr.txt"), Some(Algorithm::French)),
        (include_str!("words/es.txt"), Some(Algorithm::Spanish)),
        (include_str!("words/pt.txt"), Some(Algorithm::Portuguese)),
        (include_str!("words/it.txt"), Some(Algorithm::Italian)),
        (include_str!("words/ru.txt"), Some(Algorithm::Russian)),
        (include_str!("words/uk.txt"), None),
    ];
    let read = |(text, algorithm): (&str, Option<Algorithm>)| {
        let stemmer = algorithm.map(Stemmer::create);
        let thesaurus = Thesaurus::read(text, |text| foreign_key(&plain(text).join(" "), stemmer.as_ref()));
        (stemmer, thesaurus)
    };
    list.into_iter().map(read).collect()
});

/// Words of scripts without spaces, looked up wherever they stand.
static DENSE: LazyLock<Thesaurus> = LazyLock::new(|| {
    let mut all = Thesaurus::default();
    for text in [include_str!("words/zh.txt"), include_str!("words/ja.txt"), include_str!("words/ko.txt")] {
        all.add_lines(text, |text| text.to_string());
    }
    all
});
/// Length of the longest of them, in characters.
const MAX_DENSE: usize = 8;

fn foreign_key(word: &str, stemmer: Option<&Stemmer>) -> String {
    stemmer.map_or_else(|| word.to_string(), |stemmer| stemmer.stem(word).into_owned())
}

/// A text as the stems of its words.
fn phrase(text: &str) -> String {
    plain(text).iter().map(|word| stem(word)).collect::<Vec<_>>().join(" ")
}

impl Thesaurus {
    fn read(text: &str, key: impl Fn(&str) -> String) -> Self {
        let mut thesaurus = Self::default();
        thesaurus.add_lines(text, key);
        thesaurus
    }

    fn add_lines(&mut self, text: &str, key: impl Fn(&str) -> String) {
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some((left, right)) = line.split_once(" > ") {
                let mut weight = RELATED;
                for right in right.split(", ") {
                    self.add(key(left), &phrase(right), weight);
                    weight *= FURTHER;
                }
            } else if let Some((left, right)) = line.split_once(" = ") {
                let all: Vec<&str> = std::iter::once(left).chain(right.split(", ")).collect();
                for one in &all {
                    for other in all.iter().filter(|other| *other != one) {
                        self.add(key(one), &phrase(other), SAME);
                    }
                }
            }
        }
    }

    /// The synonyms of a configuration.
    pub(super) fn configured<'s>(synonyms: impl IntoIterator<Item = (&'s String, &'s Vec<String>)>) -> Self {
        let mut thesaurus = Self::default();
        for (left, right) in synonyms {
            for right in right {
                thesaurus.add(phrase(left), &phrase(right), CONFIGURED);
            }
        }
        thesaurus
    }

    fn add(&mut self, key: String, right: &str, weight: f32) {
        if key.is_empty() || key == right {
            return;
        }
        if let Some((first, _)) = key.split_once(' ') {
            self.phrases.insert(first.into());
        }
        let weight = if right.contains(' ') { weight * OF_PHRASE } else { weight };
        let meanings = self.meanings.entry(key.into_boxed_str()).or_default();
        for stem in right.split(' ').filter(|stem| !stem.is_empty()) {
            match meanings.iter_mut().find(|known| *known.stem == *stem) {
                Some(known) => known.weight = known.weight.max(weight),
                None => {
                    meanings.push(Synonym { stem: stem.into(), weight });
                    *self.meant.entry(stem.into()).or_default() += 1;
                }
            }
        }
    }

    /// Distinctiveness of a stem, from 0 to 1: a stem that many words mean has little.
    pub(super) fn tells(&self, stem: &str) -> f32 {
        let all = self.meanings.len().max(2) as f32;
        let meant = self.meant.get(stem).copied().unwrap_or(0) as f32;
        (all / (1.0 + meant)).ln() / all.ln()
    }

    /// The meanings of a stem, or of stems with a space between them.
    pub(super) fn of(&self, key: &str) -> &[Synonym] {
        self.meanings.get(key).map_or(&[], Vec::as_slice)
    }

    /// Whether it knows a stem.
    pub(super) fn knows(&self, key: &str) -> bool {
        self.meanings.contains_key(key)
    }

    /// Whether any longer key begins with this stem.
    pub(super) fn begins(&self, stem: &str) -> bool {
        self.phrases.contains(stem)
    }

    /// Every stem that it knows.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.meanings.keys().map(|key| &**key)
    }
}

/// The meanings of a word of another language; the word is in lower case, without accents.
pub(super) fn foreign(word: &str) -> Vec<Synonym> {
    let mut found: Vec<Synonym> = Vec::new();
    for (stemmer, thesaurus) in FOREIGN.iter() {
        for meaning in thesaurus.of(&foreign_key(word, stemmer.as_ref())) {
            if !found.iter().any(|known| known.stem == meaning.stem) {
                found.push(meaning.clone());
            }
        }
    }
    found
}

/// Words of scripts without spaces in a text, the longest first where they overlap, with their meanings.
pub(super) fn dense(text: &str) -> Vec<(String, &'static [Synonym])> {
    let mut found = Vec::new();
    let places: Vec<(usize, char)> = text.char_indices().collect();
    let mut at = 0;
    while let Some(&(start, c)) = places.get(at) {
        let longest = is_dense(c.encode_utf8(&mut [0; 4])).then(|| {
            (1..=MAX_DENSE.min(places.len() - at)).rev().find_map(|length| {
                let end = places.get(at + length).map_or(text.len(), |(place, _)| *place);
                let word = &text[start..end];
                let meanings = DENSE.of(word);
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

    fn stems(meanings: &[Synonym]) -> Vec<&str> {
        meanings.iter().map(|meaning| &*meaning.stem).collect()
    }

    #[test]
    fn what_means_the_same_holds_both_ways_and_what_is_needed_one_way() {
        let list = Thesaurus::read("buy = purchase, order\ngift > shopping, present\n", phrase);
        assert_eq!(stems(list.of("order")), ["buy", "purchas"]);
        assert_eq!(stems(list.of("gift")), ["shop", "present"]);
        assert!(list.of("shop").is_empty());
    }

    #[test]
    fn other_languages_find_english_words() {
        assert!(stems(&foreign("wetter")).contains(&"weather"));
        assert!(stems(&foreign("погода")).contains(&"weather"));
        let found = dense("明天的天气怎么样");
        assert!(found.iter().any(|(_, meanings)| stems(meanings).contains(&"weather")), "{found:?}");
    }

    #[test]
    fn every_line_of_the_lists_is_a_relation() {
        let lists = [
            ENGLISH_WORDS,
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
}

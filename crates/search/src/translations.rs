//! Words of other languages with their English meanings. Each list is read at its first use.
//!
//! In the lists of `words/`, a word is left of `>`, and its meanings are at its right.

use std::sync::LazyLock;

use hashbrown::HashMap;
use rayon::prelude::*;
use rust_stemmers::{Algorithm, Stemmer};

use super::stems::{phrase, stemmed};
use super::synonyms::Synonym;
use super::words::{is_dense, plain};

/// Weight of the first meaning of a word of another language, and the factor from each to the next.
const FIRST: f32 = 0.9;
const FURTHER: f32 = 0.8;

/// An English meaning of a word of another language.
#[derive(Clone, Copy, Debug)]
pub(super) struct Translation {
    pub(super) word: &'static str,
    pub(super) synonym: Synonym<'static>,
}

/// English meanings by word.
type Dictionary = HashMap<String, Vec<(&'static str, String)>>;

/// The dictionaries of languages with spaces, with the stemmer of each.
const SPACED: [(&str, Option<Algorithm>); 8] = [
    (include_str!("words/de.txt"), Some(Algorithm::German)),
    (include_str!("words/fr.txt"), Some(Algorithm::French)),
    (include_str!("words/es.txt"), Some(Algorithm::Spanish)),
    (include_str!("words/pt.txt"), Some(Algorithm::Portuguese)),
    (include_str!("words/it.txt"), Some(Algorithm::Italian)),
    (include_str!("words/ru.txt"), Some(Algorithm::Russian)),
    (include_str!("words/uk.txt"), None),
    (include_str!("words/hi.txt"), None),
];

fn dictionary(text: &'static str, key: impl Fn(&str) -> String) -> Dictionary {
    let mut all = Dictionary::new();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    for (word, meanings) in lines.filter_map(|line| line.split_once(" > ")) {
        let meanings = meanings.split(", ").map(|meaning| (meaning, phrase(meaning)));
        all.entry(key(word)).or_default().extend(meanings);
    }
    all
}

/// The stems of words, with a space between them.
fn foreign_stems(words: &[&str], algorithm: Option<Algorithm>) -> String {
    let stem = |word: &&str| match algorithm {
        Some(algorithm) => Stemmer::create(algorithm).stem(word).into_owned(),
        None => stemmed(word).into_owned(),
    };
    words.iter().map(stem).collect::<Vec<_>>().join(" ")
}

static SPACED_WORDS: LazyLock<Vec<Dictionary>> = LazyLock::new(|| {
    let key = |text: &str, algorithm| {
        let words = plain(text);
        foreign_stems(&words.iter().map(String::as_str).collect::<Vec<_>>(), algorithm)
    };
    let read = |(list, algorithm)| dictionary(list, |text| key(text, algorithm));
    SPACED.into_par_iter().map(read).collect()
});

/// Words of scripts without spaces, looked up wherever they stand.
static DENSE: LazyLock<Dictionary> = LazyLock::new(|| dictionary(DENSE_LISTS, str::to_string));
const DENSE_LISTS: &str =
    concat!(include_str!("words/zh.txt"), include_str!("words/ja.txt"), include_str!("words/ko.txt"));
/// Length of the longest of them, in characters.
const MAX_DENSE: usize = 8;

fn translations(dictionary: &'static Dictionary, word: &str) -> impl Iterator<Item = Translation> + use<> {
    let known = dictionary.get(word).into_iter().flatten();
    let weights = std::iter::successors(Some(FIRST), |weight| Some(weight * FURTHER));
    known.zip(weights).map(|((word, stem), weight)| Translation { word, synonym: Synonym { stem, weight } })
}

/// The meanings of a word or a phrase of another language; its words are in lower case, without accents.
pub(super) fn foreign(words: &[&str]) -> Vec<Translation> {
    let all = SPACED_WORDS.iter().zip(SPACED);
    all.flat_map(|(known, (_, algorithm))| translations(known, &foreign_stems(words, algorithm))).collect()
}

/// Parts of German verbs that end a clause.
const SEPARABLE: &str = "ab an auf aus bei ein fest frei her heraus herunter hin hinzu hoch los mit nach neu raus rein runter um \
    vor weg weiter wieder zu zurück zuruck zusammen";
/// Most words between a verb and its part.
const APART: usize = 9;

/// The first of these words with its part that ends the clause, and the place of the part: "leg einen Ordner an" is "anleg".
pub(super) fn rejoined(words: &[&str]) -> Option<(String, usize)> {
    let later = words.iter().enumerate().skip(1).take(APART);
    let mut parts = later.filter(|(_, word)| SEPARABLE.split_whitespace().any(|part| part == **word));
    parts.find_map(|(at, part)| {
        // "brich ab" is of "abbrechen", and "wirf weg" of "wegwerfen".
        let forms = [words.first()?.to_string(), words.first()?.replacen('i', "e", 1)];
        let joined = forms.map(|verb| format!("{part}{verb}"));
        let german = &SPACED_WORDS[0];
        let is_known = |verb: &String| german.contains_key(&foreign_stems(&[verb], SPACED[0].1));
        joined.into_iter().find(is_known).map(|verb| (verb, at))
    })
}

/// Words of scripts without spaces in a text, the longest first where they overlap, with their meanings.
pub(super) fn dense(text: &str) -> Vec<(String, Vec<Translation>)> {
    let mut found = Vec::new();
    let places: Vec<(usize, char)> = text.char_indices().collect();
    let mut at = 0;
    while let Some(&(start, c)) = places.get(at) {
        let is_dense = is_dense(c.encode_utf8(&mut [0; 4]));
        let most = if is_dense { MAX_DENSE.min(places.len() - at) } else { 0 };
        let longest = (1..=most).rev().find_map(|length| {
            let end = places.get(at + length).map_or(text.len(), |(place, _)| *place);
            let meanings: Vec<_> = translations(&DENSE, &text[start..end]).collect();
            (!meanings.is_empty()).then(|| (length, text[start..end].to_string(), meanings))
        });
        at += longest.as_ref().map_or(1, |(length, ..)| *length);
        found.extend(longest.map(|(_, word, meanings)| (word, meanings)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(meanings: &[Translation]) -> Vec<&str> {
        meanings.iter().map(|meaning| meaning.word).collect()
    }

    #[test]
    fn other_languages_find_english_words() {
        for word in ["wetter", "погода", "मौसम"] {
            assert!(words(&foreign(&[word])).contains(&"weather"), "{word}");
        }
        let found = dense("明天的天气怎么样");
        assert!(found.iter().any(|(_, meanings)| words(meanings).contains(&"weather")), "{found:?}");
    }
}

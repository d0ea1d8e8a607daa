//! Words of other languages with their English meanings. Each list is read at its first use.
//!
//! In the lists of `words/`, a word is left of `>`, and its meanings are at its right.

use std::sync::LazyLock;

use hashbrown::HashMap;
use rayon::prelude::*;
use rust_stemmers::{Algorithm, Stemmer};

use super::stems::phrase;
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
const SPACED: [(&str, Option<Algorithm>); 7] = [
    (include_str!("words/de.txt"), Some(Algorithm::German)),
    (include_str!("words/fr.txt"), Some(Algorithm::French)),
    (include_str!("words/es.txt"), Some(Algorithm::Spanish)),
    (include_str!("words/pt.txt"), Some(Algorithm::Portuguese)),
    (include_str!("words/it.txt"), Some(Algorithm::Italian)),
    (include_str!("words/ru.txt"), Some(Algorithm::Russian)),
    (include_str!("words/uk.txt"), None),
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

fn foreign_stem(word: &str, algorithm: Option<Algorithm>) -> String {
    algorithm.map_or_else(|| word.to_string(), |algorithm| Stemmer::create(algorithm).stem(word).into_owned())
}

static SPACED_WORDS: LazyLock<Vec<Dictionary>> = LazyLock::new(|| {
    let read = |(list, algorithm)| dictionary(list, |word| foreign_stem(&plain(word).join(" "), algorithm));
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

/// The meanings of a word of another language; the word is in lower case, without accents.
pub(super) fn foreign(word: &str) -> Vec<Translation> {
    let all = SPACED_WORDS.iter().zip(SPACED);
    all.flat_map(|(known, (_, algorithm))| translations(known, &foreign_stem(word, algorithm))).collect()
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
        assert!(words(&foreign("wetter")).contains(&"weather"));
        assert!(words(&foreign("погода")).contains(&"weather"));
        let found = dense("明天的天气怎么样");
        assert!(found.iter().any(|(_, meanings)| words(meanings).contains(&"weather")), "{found:?}");
    }
}

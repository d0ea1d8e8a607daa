//! The word lists of all languages (`words/*.txt`). Each is read at its first use.

use std::sync::LazyLock;

use rayon::prelude::*;

use super::spelling::Spelling;
use super::stemming::{FOREIGN, foreign_stem, stemmed};
use super::thesaurus::{ACTION, STOP, Synonym, Thesaurus, WEAK, phrase};
use super::words::{is_dense, plain};

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

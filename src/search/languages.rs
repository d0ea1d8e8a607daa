//! The word lists of all languages (`words/*.txt`), as `build.rs` compiles them into the program.

use std::borrow::Cow;
use std::sync::LazyLock;

use bytes::Bytes;

use super::columns::{ColumnReader, Columns};
use super::spelling::Spelling;
use super::stemming::{FOREIGN, foreign_stem};
use super::thesaurus::Synonym;
use super::word_list::WordList;
use super::words::is_dense;

macro_rules! compiled {
    ($name:literal) => {
        WordList::new(
            include_str!(concat!(env!("OUT_DIR"), "/", $name, ".txt")),
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".table")),
        )
    };
}

/// The words of English and their meanings, and all words that have a role of their own.
pub(super) static ENGLISH: WordList = compiled!("english");

/// The spelling of those words that have meanings.
pub(super) static ENGLISH_SPELLING: LazyLock<Spelling> =
    LazyLock::new(|| read(include_bytes!(concat!(env!("OUT_DIR"), "/english.spelling"))));

/// Columns that `build.rs` made.
pub(super) fn read<C: Columns + Default>(bytes: &'static [u8]) -> C {
    C::read(&mut ColumnReader(Bytes::from_static(bytes))).unwrap_or_default()
}

/// The lists of [`FOREIGN`], in its order.
static FOREIGN_LISTS: [WordList; FOREIGN.len()] = [
    compiled!("de"),
    compiled!("fr"),
    compiled!("es"),
    compiled!("pt"),
    compiled!("it"),
    compiled!("ru"),
    compiled!("uk"),
];

/// Words of scripts without spaces, looked up wherever they stand.
static DENSE: WordList = compiled!("dense");
/// Length of the longest of them, in characters.
const MAX_DENSE: usize = 8;

/// The common stem of all forms of a word.
pub(super) fn stem(word: &str) -> Cow<'_, str> {
    ENGLISH.stemmed(word)
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
    use super::super::stemming::stemmed;
    use super::super::thesaurus::{Thesaurus, phrase};
    use super::super::words::words;
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

    #[test]
    fn the_compiled_list_says_the_same_as_its_lines() {
        let text = include_str!("words/english.txt");
        let read = Thesaurus::read(text, phrase);
        for key in read.meanings.keys() {
            assert!(ENGLISH.of(key).eq(read.of(key)) && ENGLISH.knows(key), "{key}");
        }
        assert_eq!(ENGLISH.keys().count(), read.meanings.len());
        assert_eq!(ENGLISH.keys().filter(|key| !read.knows(key)).count(), 0);
        words(text, |word| {
            assert_eq!(stem(word.text), stemmed(word.text));
            assert_eq!(
                ENGLISH.is(word.text, super::super::word_list::BEGINS),
                read.begins(word.text),
                "{word:?}"
            );
        });
        let meant = read.meanings.values().flatten().filter(|(stem, _)| **stem == *"file").count() as f32;
        let all = read.meanings.len() as f32;
        assert_eq!(ENGLISH.tells("file"), (all / (1.0 + meant)).ln() / all.ln());
        assert!(
            !ENGLISH.knows("xyzzy") && ENGLISH.of("xyzzy").next().is_none() && stem("xyzzies") == "xyzzi"
        );
    }
}

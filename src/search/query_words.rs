//! The words of a query, each with what its form tells.

use super::index::Index;
use super::languages::is_stop;
use super::stem::Stem;
use super::stemming::stemmed;
use super::thesaurus::WEAK;
use super::words::words;

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
pub(super) type JoinedWords = Vec<(std::ops::Range<usize>, String)>;

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
        self.is_stop || self.stem.is(WEAK)
    }

    /// Whether it can be a part of a compound.
    pub(super) fn is_part(&self) -> bool {
        self.text.len() >= MIN_PART && !self.is_stop && !self.text.bytes().any(|byte| byte.is_ascii_digit())
    }
}

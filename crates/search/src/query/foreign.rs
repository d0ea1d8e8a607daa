//! Requests in other languages: words and phrases with their meanings in English, and the verb first as in English.

use super::query_word::QueryWord;
use crate::actions::is_verb;
use crate::meaning::is_word;
use crate::stop_words::{is_foreign_stop, is_weak};
use crate::translations::{dense, foreign, rejoined};

/// Most words of a phrase.
const MAX_PHRASE: usize = 3;

/// Reads the words of a request that may be in another language.
pub(super) fn translate(said: &mut Vec<QueryWord>, text: &str) {
    if is_foreign(said) {
        join_phrases(said);
        join_verbs(said);
        said.retain(|word| !word.meanings.is_empty() || !is_foreign_stop(&word.text));
        for word in said.iter_mut().filter(|word| word.meanings.is_empty()) {
            word.meanings = foreign(&[&word.text]);
        }
    }
    for (word, meanings) in dense(text) {
        if !said
            .iter()
            .any(|known| known.text == word && (known.term.is_some() || !known.meanings.is_empty()))
        {
            said.push(QueryWord::foreign(word, meanings));
        }
    }
    if let Some(verb) = said.iter().position(is_foreign_verb) {
        said[..=verb].rotate_right(1);
    }
}

/// Whether at least half of the words of a text have letters that English does not have.
pub(super) fn is_foreign_script(text: &str) -> bool {
    let words = || text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic));
    let others = words().filter(|word| word.chars().any(|c| c.is_alphabetic() && !c.is_ascii())).count();
    others > 0 && 2 * others >= words().count()
}

/// Whether at most half of the words of a request are English or of the catalog, or as many of them are small words of another
/// language as of English.
fn is_foreign(said: &[QueryWord]) -> bool {
    let count = |is: fn(&QueryWord) -> bool| said.iter().filter(|word| is(word)).count();
    let known =
        count(|word| word.is_stop || word.term.is_some() || is_weak(&word.stem) || is_word(&word.text));
    let is_small = |word: &QueryWord| !word.is_stop && is_foreign_stop(&word.text);
    let small = count(is_small);
    2 * known <= said.len() || small > 0 && small >= count(|word| word.is_stop)
}

/// Whether a word is a verb: each of its first two meanings is one.
fn is_foreign_verb(word: &QueryWord) -> bool {
    !word.meanings.is_empty() && word.meanings.iter().take(2).all(|meaning| is_verb(meaning.word))
}

/// Makes one word of the words of a phrase that has meanings of its own, the longest first.
fn join_phrases(said: &mut Vec<QueryWord>) {
    for length in (2..=MAX_PHRASE).rev() {
        let mut place = 0;
        while place + length <= said.len() {
            let words: Vec<&str> =
                said[place..place + length].iter().map(|word| word.text.as_str()).collect();
            let meanings = foreign(&words);
            // Words of the catalog mean themselves.
            let is_new = said[place..place + length].iter().all(|word| word.term.is_none());
            if is_new && !meanings.is_empty() {
                let phrase = QueryWord::foreign(words.join(" "), meanings);
                said.splice(place..place + length, [phrase]);
            }
            place += 1;
        }
    }
}

/// Makes one word of a German verb and its part at the end of the clause.
fn join_verbs(said: &mut Vec<QueryWord>) {
    let mut place = 0;
    while place < said.len() {
        let words: Vec<&str> = said[place..].iter().map(|word| word.text.as_str()).collect();
        if let Some((verb, part)) = rejoined(&words) {
            let meanings = foreign(&[&verb]);
            said.remove(place + part);
            said[place] = QueryWord::foreign(verb, meanings);
        }
        place += 1;
    }
}

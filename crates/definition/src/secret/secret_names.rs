//! Names of secrets, in any case and joined in any way.

use std::sync::LazyLock;

use serde_json::Value;

use crate::finding::normalized;

/// The lists of `secret_names.txt`, in their order.
static LISTS: LazyLock<[Vec<&str>; 7]> = LazyLock::new(|| {
    let lines = include_str!("secret_names.txt").lines().filter(|line| !line.starts_with('#'));
    let mut lists = lines.map(|line| line.split(' ').collect());
    std::array::from_fn(|_| lists.next().unwrap_or_default())
});

/// Whether a name is that of a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let [anywhere, at_end, letters, last_letters, about, measures, places] = &*LISTS;
    let words = words_of(name);
    let last = words.last().copied().unwrap_or_default();
    let before_last = words.len().checked_sub(2).map_or("", |index| words[index]);
    let is_token = is_word(last, "token") || is_word(last, "tokens");
    let is_measured = is_word(last, "tokens") && words.iter().any(|word| is_one_of(word, measures));
    let joined = normalized(name).replace("passwordless", "");
    if (is_one_of(last, about) && !joined.ends_with("secretid"))
        || is_measured
        || (is_token && is_one_of(before_last, places))
    {
        return false;
    }
    let one = joined.strip_suffix('s').unwrap_or(&joined);
    words.iter().any(|word| is_one_of(word, anywhere))
        || is_one_of(last, at_end)
        || letters.iter().any(|secret| joined.contains(secret))
        || last_letters.iter().any(|secret| one.ends_with(secret))
}

/// Whether a value can be the secret that a name promises: booleans and null cannot, and `tokens: 500` is a count.
pub(super) fn can_hold_secret(name: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(_) => !normalized(name).ends_with("tokens"),
        _ => true,
    }
}

pub(super) fn is_one_of(word: &str, lower: &[&str]) -> bool {
    lower.iter().any(|lower| is_word(word, lower))
}

/// Whether a word is this one, in any case.
pub(super) fn is_word(word: &str, lower: &str) -> bool {
    word.chars().flat_map(char::to_lowercase).eq(lower.chars())
}

/// The words of a name: `apiKey`, `API_KEY` and `x-api-key` have an `api` and a `key`, in some case.
pub(super) fn words_of(name: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut begin = 0;
    let mut before = None::<char>;
    let mut letters = name.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let after = letters.peek().map(|(_, after)| *after);
        let begins = letter.is_uppercase()
            && (before.is_some_and(|before| before.is_lowercase() || before.is_numeric())
                || after.is_some_and(char::is_lowercase));
        if begins || !letter.is_alphabetic() {
            words.push(&name[begin..at]);
            begin = if letter.is_alphabetic() { at } else { at + letter.len_utf8() };
        }
        before = Some(letter);
    }
    words.push(&name[begin..]);
    words.retain(|word| !word.is_empty());
    words
}

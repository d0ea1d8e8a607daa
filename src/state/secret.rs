//! Names that say that what goes by them is secret, in any case and joined in any way.

use serde_json::Value;

/// Words that say it wherever they stand in a name, by themselves: `compass` is none.
const WORDS: [&str; 14] = [
    "passcode",
    "pwd",
    "pw",
    "pass",
    "secret",
    "secrets",
    "token",
    "tokens",
    "jwt",
    "bearer",
    "authentication",
    "cookie",
    "cookies",
    "otp",
];

/// What says it anywhere in the letters of a name, whatever stands between them.
const JOINED: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "encryptionkey",
    "signingkey",
    "sshkey",
    "credential",
    "authorization",
];

/// The same at the end of a name, in one or several: `tokenizer` is none.
const LAST: [&str; 8] = ["token", "secret", "passcode", "pwd", "jwt", "bearer", "cookie", "otp"];

/// Whether what goes by this name is secret.
pub(super) fn is_secret(name: &str) -> bool {
    let joined = joined(name);
    let one = joined.strip_suffix('s').unwrap_or(&joined);
    words(name).iter().any(|word| WORDS.iter().any(|secret| is_word(word, secret)))
        || JOINED.iter().any(|secret| joined.contains(secret))
        || LAST.iter().any(|secret| one.ends_with(secret))
}

/// `max_tokens: 500` tells no secret.
pub(super) fn is_count(name: &str, value: &Value) -> bool {
    value.is_number() && joined(name).ends_with("tokens")
}

/// The letters and digits of a name, in lower case.
fn joined(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a word is this one, in any case.
pub(super) fn is_word(word: &str, lower: &str) -> bool {
    word.chars().flat_map(char::to_lowercase).eq(lower.chars())
}

/// The words of a name: `apiKey`, `API_KEY` and `x-api-key` have an `api` and a `key`, in some case.
fn words(name: &str) -> Vec<&str> {
    let (mut words, mut begin, mut before) = (Vec::new(), 0, None::<char>);
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

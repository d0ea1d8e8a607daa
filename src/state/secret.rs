//! Names that say that what goes by them is secret, in any case and joined in any way.

use serde_json::Value;

/// Names of secrets, each a run of words.
const SECRETS: [&[&str]; 33] = [
    &["password"],
    &["passwords"],
    &["passwd"],
    &["passphrase"],
    &["passcode"],
    &["pwd"],
    &["pw"],
    &["pass"],
    &["secret"],
    &["secrets"],
    &["token"],
    &["tokens"],
    &["jwt"],
    &["bearer"],
    &["api", "key"],
    &["api", "keys"],
    &["apikey"],
    &["apikeys"],
    &["access", "key"],
    &["accesskey"],
    &["secretkey"],
    &["private", "key"],
    &["privatekey"],
    &["encryption", "key"],
    &["signing", "key"],
    &["ssh", "key"],
    &["authorization"],
    &["authentication"],
    &["credential"],
    &["credentials"],
    &["cookie"],
    &["cookies"],
    &["otp"],
];

/// Secrets that are known when they are written without anything between the words, wherever they stand in a name.
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
    let words = words(name);
    let is_known = |secret: &&[&str]| words.windows(secret.len()).any(|run| is_run(run, secret));
    let joined = joined(name);
    let one = joined.strip_suffix('s').unwrap_or(&joined);
    SECRETS.iter().any(is_known)
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

/// Whether these words, in any case, are those.
fn is_run(run: &[&str], secret: &[&str]) -> bool {
    run.iter().zip(secret).all(|(word, secret)| is_word(word, secret))
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

//! Names of secrets, in any case and joined in any way.

use serde_json::Value;

use crate::finding::normalized;

/// Whole words that mark a secret anywhere in a name. Parts of words do not: `hotplug` is not a secret.
const SECRET_WORDS: [&str; 15] = [
    "passcode", "pwd", "secret", "secrets", "token", "tokens", "jwt", "bearer", "authentication", "cookie",
    "cookies", "otp", "csrf", "xsrf", "cvv",
];

/// Words that mark a secret only at the end of a name: `auth_method` and `pass_through` are not secrets.
const SECRET_ENDS: [&str; 3] = ["pass", "pw", "auth"];

/// Letters that mark a secret anywhere in a name, across word borders.
const SECRET_LETTERS: [&str; 17] = [
    "password", "passwd", "passphrase", "apikey", "accesskey", "secretkey", "privatekey", "encryptionkey",
    "signingkey", "sshkey", "authkey", "masterkey", "sharedkey", "subscriptionkey", "secretid", "credential",
    "authorization",
];

/// Letters that mark a secret at the end of a name, in one word or several: `tokenizer` is not a secret.
const SECRET_LAST_LETTERS: [&str; 8] =
    ["token", "secret", "passcode", "pwd", "jwt", "bearer", "cookie", "otp"];

/// Last words of names that are about a secret but hold none: `token_count`, `password_policy`.
const ABOUT_SECRETS: [&str; 45] = [
    "budget", "cost", "count", "counts", "enabled", "endpoint", "expiration", "expires", "expiry", "field",
    "format", "id", "in", "kind", "len", "length", "lifetime", "limit", "limits", "location", "method",
    "methods", "mode", "name", "names", "path", "policy", "price", "rate", "required", "rule", "rules",
    "scheme", "scope", "scopes", "size", "status", "strength", "ttl", "type", "types", "uri", "url", "usage",
    "used",
];

/// Words beside which `tokens` is a number of tokens.
const TOKEN_MEASURES: [&str; 14] = [
    "cached", "completion", "input", "max", "maximum", "min", "minimum", "num", "output", "per", "prompt",
    "reasoning", "total", "used",
];

/// Words for tokens that continue a list, or that a model reads.
const TOKEN_PLACES: [&str; 17] = [
    "change", "continuation", "continue", "cursor", "delta", "eos", "next", "page", "pagination", "prev",
    "previous", "resume", "special", "start", "stop", "sync", "watermark",
];

/// Whether a name is that of a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let words = words_of(name);
    let last = words.last().copied().unwrap_or_default();
    let before_last = words.len().checked_sub(2).map_or("", |index| words[index]);
    let is_token = is_word(last, "token") || is_word(last, "tokens");
    let is_measured = is_word(last, "tokens") && words.iter().any(|word| is_one_of(word, &TOKEN_MEASURES));
    let joined = normalized(name).replace("passwordless", "");
    if (is_one_of(last, &ABOUT_SECRETS) && !joined.ends_with("secretid"))
        || is_measured
        || (is_token && is_one_of(before_last, &TOKEN_PLACES))
    {
        return false;
    }
    let one = joined.strip_suffix('s').unwrap_or(&joined);
    words.iter().any(|word| is_one_of(word, &SECRET_WORDS))
        || is_one_of(last, &SECRET_ENDS)
        || SECRET_LETTERS.iter().any(|secret| joined.contains(secret))
        || SECRET_LAST_LETTERS.iter().any(|secret| one.ends_with(secret))
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

//! The one answer to "is this secret?". Dry runs, traces, errors, examples and approvals all ask here.
//!
//! 1. [`schema`] reads the marks of a JSON Schema: `format: password`, `writeOnly`, `x-secret`.
//! 2. Words in a name show that its value is secret; [`masked`] hides secrets within texts.
//! 3. [`Echo`] finds a secret that a server repeats, however it was encoded on its way.
//! 4. [`SecretPolicy`] is all of that, with the operator's rules, applied to a value.

mod schema;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};
pub use schema::{Hidden, declared_names};
use schema::{Place, Reach, Walk, read_json};
use serde_json::{Map, Value};

use crate::finding::{Violation, normalized, pointer_join, pointer_unescape};

/// The text in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// The rules for secrets: the usual names, and the operator's own (`[state] redact`).
#[derive(Clone, Copy, Debug, Default)]
pub struct SecretPolicy<'p> {
    /// Globs of names.
    rules: &'p [String],
}

impl<'p> SecretPolicy<'p> {
    /// A policy with the operator's rules: globs of names.
    pub fn new(rules: &'p [String]) -> Self {
        Self { rules }
    }

    /// Whether a name says that its value is secret.
    pub fn is_secret(self, name: &str) -> bool {
        is_secret_name(name) || self.is_ruled(name)
    }

    /// A text with secrets redacted.
    pub fn text(self, text: &str) -> Cow<'_, str> {
        masked(text)
    }

    /// A value with secrets redacted, otherwise whole.
    pub fn redacted(self, schema: &Value, value: &Value) -> Value {
        self.split(schema, value).0
    }

    /// A value with secrets redacted, and the secrets.
    pub fn split(self, schema: &Value, value: &Value) -> (Value, Vec<Hidden>) {
        Walk::new(self, Reach::Everything).run(schema, value)
    }

    /// A value with secrets redacted and long texts cut, for a trace.
    pub fn noted(self, schema: &Value, value: &Value) -> Value {
        Walk::new(self, Reach::Everything).briefly().run(schema, value).0
    }

    /// A value with `null` in place of everything that the schema or the operator declares secret, and these secrets.
    /// Names and texts that a caller chose hide nothing.
    pub fn declared(self, schema: &Value, value: &Value) -> (Value, Vec<Hidden>) {
        Walk::new(self, Reach::Declared).run(schema, value)
    }

    /// The items of a command line with secrets redacted: `--token=x`, and the item after `--token`.
    pub fn command_line(self, items: &[String]) -> Vec<String> {
        let mut after = "";
        let shown = items.iter().map(|item| {
            let option = std::mem::take(&mut after);
            after = if item.starts_with('-') && !item.contains('=') { item } else { "" };
            let is_value = !option.is_empty() && !item.starts_with('-');
            if is_value && (self.is_secret(option) || (is_key(option) && is_generated(item))) {
                return REDACTED.into();
            }
            // `--env=NAME=VALUE` has the name of the value after the option.
            let begin = item.find('=').filter(|at| item.starts_with('-') && item[at + 1..].contains('='));
            let (begin, pair) = item.split_at(begin.map_or(0, |at| at + 1));
            match pair.split_once('=') {
                Some((name, value)) if !value.contains("${") && self.is_pair(name, value) => {
                    format!("{begin}{name}={REDACTED}")
                }
                _ => self.argument(item),
            }
        });
        shown.collect()
    }

    /// An argument or an address with secrets redacted, also in JSON, in a command line within it, and in the path of an address.
    fn argument(self, item: &str) -> String {
        let shown = self.text(item);
        let Some(parts) = &*PARTS else { return shown.into_owned() };
        let is_address = item.contains("://");
        let redacted = |found: &Captures<'_>| {
            let part = |name: &str| found.name(name).map_or("", |part| part.as_str());
            let begin = part("begin");
            let name = part("field").to_string() + part("option");
            let (between, value) =
                (part("between").to_string() + part("gap"), part("value").to_string() + part("word"));
            let is_secret = match found.name("segment") {
                Some(segment) => {
                    let is_host = shown[segment.end()..].starts_with(['.', ':', '@']);
                    return if is_address && !is_host && is_opaque(segment.as_str()) {
                        format!("/{REDACTED}")
                    } else {
                        found[0].to_string()
                    };
                }
                None => {
                    !value.starts_with(['-', '[', '$'])
                        && (self.is_secret(&name) || (is_key(&name) && is_generated(&value)))
                }
            };
            format!("{begin}{name}{between}{}", if is_secret { REDACTED } else { &value })
        };
        parts.replace_all(&shown, redacted).into_owned()
    }

    /// Whether the value of a setting is secret, by its name or its looks.
    pub fn is_secret_value(self, name: &str, value: &str) -> bool {
        self.is_pair(name, value) || self.is_secret(name) || self.argument(value) != value
    }

    /// Whether a value looks like the key that its name may stand for.
    fn is_pair(self, name: &str, value: &str) -> bool {
        let may_be =
            words_of(name).iter().any(|word| is_one_of(word, &["key", "api", "auth", "pat", "access"]));
        is_opaque(value) || ((may_be || is_key(name)) && is_generated(value))
    }

    /// A violation whose message repeats no secret.
    pub fn conceal(self, schema: &Value, value: &Value, mut violation: Violation) -> Violation {
        if !violation.unknown && self.covers(schema, value, &violation.pointer) {
            violation.message = match &violation.expected {
                Some(expected) => format!("expected {expected}"),
                None if value.pointer(&violation.pointer).is_some() => "this value does not fit".into(),
                None => violation.message,
            };
        }
        violation = violation.requoted(|text| self.redacted(&Value::Null, &text.into()));
        if let Cow::Owned(masked) = self.text(&violation.message) {
            violation.message = masked;
        }
        violation
    }

    /// Whether the value at a place is secret, or is part of a secret.
    pub fn covers(self, schema: &Value, value: &Value, pointer: &str) -> bool {
        let mut place = Place::root(schema);
        let mut here = Some(Cow::Borrowed(value));
        for token in pointer.split('/').skip(1) {
            let token = pointer_unescape(token);
            // Arguments that are text may have been read as the JSON that they say.
            let read = here.as_deref().and_then(Value::as_str).and_then(read_json).map(Cow::Owned);
            let outer = read.or(here);
            let fields = outer.as_deref().and_then(Value::as_object);
            place = match outer.as_deref() {
                Some(Value::Array(_)) => place.item(Some(token.parse().unwrap_or(0))),
                _ => place.property(&token).0,
            };
            let beside_a_name = fields.is_some_and(|fields| self.names_a_secret(fields));
            here = outer.and_then(|outer| step(outer, &token));
            if place.is_secret() || self.is_named(&token, here.as_deref(), beside_a_name) {
                return true;
            }
        }
        here.map_or(place.is_secret(), |value| place.hides(&value))
    }

    /// Whether a field is secret by its name, or by what the field beside it names.
    fn is_named(self, name: &str, value: Option<&Value>, beside_a_name: bool) -> bool {
        let can_be = value.is_none_or(|value| can_hold_secret(name, value));
        (is_secret_name(name) && can_be) || self.is_ruled(name) || (beside_a_name && is_word(name, "value"))
    }

    /// Lists of headers and variables have the form `{"name": "Authorization", "value": "..."}`.
    fn names_a_secret(self, fields: &Map<String, Value>) -> bool {
        let is_naming = |name: &str| ["name", "key", "header"].iter().any(|naming| is_word(name, naming));
        let mut named =
            fields.iter().filter(|(name, _)| is_naming(name)).filter_map(|(_, named)| named.as_str());
        named.any(|name| self.is_secret(name))
    }

    /// Whether the operator's rules name it.
    fn is_ruled(self, name: &str) -> bool {
        !self.rules.is_empty() && {
            let name = name.to_lowercase();
            self.rules.iter().any(|glob| crate::matches_glob(&glob.to_lowercase(), &name))
        }
    }
}

/// The field or the item of a value that a part of a pointer names.
fn step<'v>(value: Cow<'v, Value>, token: &str) -> Option<Cow<'v, Value>> {
    let pointer = pointer_join("", token);
    match value {
        Cow::Borrowed(value) => value.pointer(&pointer).map(Cow::Borrowed),
        Cow::Owned(mut value) => value.pointer_mut(&pointer).map(|inner| Cow::Owned(inner.take())),
    }
}

// Finds secrets within texts: credentials of headers and URLs, tokens of known issuers, private keys.

/// A pattern for a secret, with the text before it, which is kept.
static LOOKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?P<scheme>\b(?:bearer|basic)\s+)(?P<credentials>[A-Za-z0-9+/._~=-]{6,})",
        r"|(?P<url>://)(?:[^\s/@]*:[^\s/@]+|[^\s/?#@]+)(?P<at>@)",
        r#"|(?P<before>^|[?&;,\s"'(=])(?P<name>-{0,2}[a-z][a-z0-9_.-]{0,60})=(?P<value>[^\s&#;"']+)"#,
        r#"|\b(?P<header>(?:proxy-)?authorization|(?:set-)?cookie|x-[a-z0-9-]{1,60})(?P<colon>\s*:\s*)[^\r\n"']+"#,
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
        r"|\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}|\bgh[a-z]_[A-Za-z0-9]{16,}|\bgithub_pat_[A-Za-z0-9_]{16,}|\bglpat-[A-Za-z0-9_-]{12,}",
        r"|\bxox[a-z]-[A-Za-z0-9-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}",
        r"|\b(?P<issued>(?:ntn|secret|lin_api|hf|npm|dop_v1|shp[a-z]{2}|figd|phx|sbp|whsec|glsa|gsk|r8|tvly|pplx|nvapi|xai|dckr_pat|pul|sntrys)[-_]",
        r"[A-Za-z0-9_-]{16,}|SG\.[A-Za-z0-9_-]{16,}|ATATT[A-Za-z0-9_=-]{16,})",
        r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    ))
    .ok()
});

/// What can hold a secret in an argument: a field of JSON, an option of a command line, and a segment of a path.
static PARTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"(?i)(?P<begin>\\?")(?P<field>[a-z][a-z0-9_.-]{0,60})(?P<between>\\?"\s*:\s*\\?")(?P<value>[^"\\]+)"#,
        r#"|(?P<option>\B--?[a-z][a-z0-9_-]{0,60})(?P<gap>\s+["']?)(?P<word>[^\s"']+)"#,
        r"|/(?P<segment>[a-z0-9_-]{20,})",
    ))
    .ok()
});

/// A text with everything that looks like a secret redacted.
fn masked(text: &str) -> Cow<'_, str> {
    let Some(looks) = LOOKS.as_ref() else { return text.into() };
    let mut masked = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = looks.captures_at(text, at) {
        let part = |name: &str| found.name(name).map_or("", |part| part.as_str());
        let is_kept = match (found.name("credentials"), found.name("name"), found.name("header")) {
            (Some(credentials), _, _) => !is_random(credentials.as_str()),
            (_, Some(name), _) => !is_parameter(name.as_str(), part("before")),
            (_, _, Some(header)) => !is_secret_name(header.as_str()),
            _ => found
                .name("issued")
                .is_some_and(|issued| !issued.as_str().contains(|c: char| c.is_ascii_digit())),
        };
        let Some(whole) = found.get(0) else { break };
        at = whole.end();
        if is_kept {
            // The value of an option can be a pair itself: `--env=TOKEN=x`.
            let option =
                found.name("name").filter(|name| name.as_str().starts_with('-') && part("before") != "=");
            at = option.map_or(at, |option| option.end());
            continue;
        }
        let told: String = ["scheme", "url", "before", "name"].into_iter().map(part).collect::<String>();
        let told = if found.name("name").is_some() { told + "=" } else { told };
        masked += &text[copied..whole.start()];
        masked += &format!("{told}{}{}{REDACTED}{}", part("header"), part("colon"), part("at"));
        copied = at;
    }
    // A match that was kept is no change.
    if copied == 0 { text.into() } else { (masked + &text[copied..]).into() }
}

/// Whether a text for readers holds a credential, rather than the place of one or an example such as `sk-xxxxxxxxxxxx`.
pub fn holds_credential(text: &str) -> bool {
    let is_made_up = |secret: &str| {
        let different: HashSet<char> = secret.chars().collect();
        different.len() < 8 || secret.to_ascii_lowercase().contains("example")
    };
    let is_made = |secret: &str| is_generated(secret.trim_end_matches(['.', ',', ':', '!', '?', ')', '`']));
    let is_credential = |found: Captures<'_>| {
        let part = |name: &str| found.name(name).map(|part| part.as_str());
        let secret = match (part("credentials"), part("header"), part("name").zip(part("value"))) {
            (Some(credentials), ..) => Some(credentials).filter(|credentials| is_made(credentials)),
            (_, Some(header), _) => {
                let last = found[0].split_whitespace().next_back();
                last.filter(|value| is_secret_name(header) && is_made(value))
            }
            (_, _, Some((name, value))) => Some(value).filter(|value| is_secret_name(name) && is_made(value)),
            _ => Some(&found[0]).filter(|_| part("url").is_none()),
        };
        secret.is_some_and(|secret| secret.chars().any(|c| c.is_ascii_digit()) && !is_made_up(secret))
    };
    has_room_for_credential(text)
        && LOOKS.as_ref().is_some_and(|looks| looks.captures_iter(text).any(is_credential))
}

/// Whether a text has room for a credential: letters in a row with a digit between them, or a beginning of a private key or a
/// signed token. Few texts do, and the expression takes a hundred times as long.
fn has_room_for_credential(text: &str) -> bool {
    // Without regard to case, the expression takes ſ and K for letters.
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=\xC5\xBF\xE2\x84\xAA".contains(&byte);
    let has = |run: &[u8], mark: &[u8]| run.windows(mark.len()).any(|part| part.eq_ignore_ascii_case(mark));
    let mut runs = text.as_bytes().split(|byte| !is_part(*byte)).filter(|run| run.len() >= 10);
    runs.any(|run| {
        (run.len() >= 15 && run.iter().any(u8::is_ascii_digit)) || has(run, b"eyJ") || has(run, b"-----BEGIN")
    })
}

/// Whether an option can hold a key: `--key` may also hold the name of a field.
fn is_key(option: &str) -> bool {
    ["k", "key", "auth", "pat"].iter().any(|word| is_word(option.trim_start_matches('-'), word))
}

/// Whether a text was made by a program, as a UUID is.
fn is_generated(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let has = |kind: fn(&char) -> bool| text.chars().any(|c| kind(&c));
    text.len() >= 16 && text.chars().all(is_plain) && has(char::is_ascii_digit)
}

/// Whether a text is a key though nothing names it: in letters of both cases with digits, a UUID, or long and hexadecimal.
fn is_opaque(text: &str) -> bool {
    let has = |kind: fn(&char) -> bool| text.chars().any(|c| kind(&c));
    let is_hex = text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let is_mixed = has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase) && text.len() >= 20;
    is_generated(text) && (is_mixed || (is_hex && text.len() >= 32))
}

/// Whether letters are more likely a credential than the next word of a sentence.
fn is_random(credentials: &str) -> bool {
    let has = |kind: fn(char) -> bool| credentials.chars().any(kind);
    credentials.len() >= 20 || has(|c| c.is_ascii_digit() || "=+/_".contains(c))
}

/// Whether a parameter is secret by its name; in a URL some short names are.
fn is_parameter(name: &str, before: &str) -> bool {
    let in_url = matches!(before, "?" | "&");
    is_secret_name(name)
        || (in_url && ["sig", "signature", "key", "code", "ak", "sk"].iter().any(|word| is_word(name, word)))
}

/// A secret to look for.
pub struct Echo<'s> {
    secret: &'s str,
}

impl<'s> Echo<'s> {
    /// The forms of a secret in text.
    pub fn of(secret: &'s str) -> Self {
        Self { secret }
    }

    /// Whether a text repeats it.
    pub fn occurs_in(&self, text: &str) -> bool {
        let is_encoded = |(at, _)| self.encoded_length(&text[at..]).is_some();
        text.contains(self.secret) || (may_hold_encoded(text) && text.char_indices().any(is_encoded))
    }

    /// A text without it.
    pub fn hidden_in(&self, text: &str) -> String {
        if !may_hold_encoded(text) {
            return text.replace(self.secret, REDACTED);
        }
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let exact = rest.starts_with(self.secret).then_some(self.secret.len());
            // A secret that ends with `\` is longer escaped.
            let found = exact.max(self.encoded_length(rest));
            match found {
                Some(_) => shown.push_str(REDACTED),
                None => shown.push(first),
            }
            rest = &rest[found.unwrap_or(first.len_utf8())..];
        }
        shown
    }

    /// The bytes of the secret where a text begins with it, each letter encoded or not.
    fn encoded_length(&self, text: &str) -> Option<usize> {
        let mut rest = text;
        for letter in self.secret.chars() {
            let plain = || rest.starts_with(letter).then_some(letter.len_utf8());
            rest = &rest[length_of(letter, rest).or_else(plain)?..];
        }
        Some(text.len() - rest.len())
    }
}

/// Any letter can be encoded, also one that an encoder would usually leave.
fn may_hold_encoded(text: &str) -> bool {
    text.contains(['%', '+', '\\'])
}

/// The bytes of an encoded letter that a text begins with.
fn length_of(letter: char, text: &str) -> Option<usize> {
    let is_hex = |at: usize, digits: usize, code: u32| {
        text.get(at..at + digits).is_some_and(|hex| u32::from_str_radix(hex, 16) == Ok(code))
    };
    let begins = |at: usize, sign: &str| text.get(at..).is_some_and(|rest| rest.starts_with(sign));
    match text.as_bytes().first()? {
        b'+' => (letter == ' ').then_some(1),
        b'%' => {
            let mut utf8 = [0; 4];
            let mut bytes = letter.encode_utf8(&mut utf8).bytes().enumerate();
            let is_it =
                bytes.all(|(index, byte)| begins(3 * index, "%") && is_hex(3 * index + 1, 2, byte.into()));
            is_it.then_some(3 * letter.len_utf8())
        }
        b'\\' => {
            let short = match letter {
                '\n' => 'n',
                '\r' => 'r',
                '\t' => 't',
                '\u{8}' => 'b',
                '\u{c}' => 'f',
                letter => letter,
            };
            let has_short = matches!(letter, '"' | '\\' | '/') || short != letter;
            if has_short && text[1..].starts_with(short) {
                return Some(2);
            }
            let mut utf16 = [0; 2];
            let mut units = letter.encode_utf16(&mut utf16).iter().enumerate();
            let is_it = units
                .all(|(index, unit)| begins(6 * index, "\\u") && is_hex(6 * index + 2, 4, (*unit).into()));
            is_it.then_some(6 * letter.len_utf16())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;

// Names of secrets, in any case and joined in any way.

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
fn is_secret_name(name: &str) -> bool {
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
fn can_hold_secret(name: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(_) => !normalized(name).ends_with("tokens"),
        _ => true,
    }
}

fn is_one_of(word: &str, lower: &[&str]) -> bool {
    lower.iter().any(|lower| is_word(word, lower))
}

/// Whether a word is this one, in any case.
fn is_word(word: &str, lower: &str) -> bool {
    word.chars().flat_map(char::to_lowercase).eq(lower.chars())
}

/// The words of a name: `apiKey`, `API_KEY` and `x-api-key` have an `api` and a `key`, in some case.
fn words_of(name: &str) -> Vec<&str> {
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

//! Finds secrets within texts: credentials of headers and URLs, tokens of known issuers, private keys.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{REDACTED, name};

/// A pattern for a secret, with the text before it, which is kept.
static LOOKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?P<scheme>\b(?:bearer|basic)\s+)(?P<credentials>[A-Za-z0-9+/._~=-]{6,})",
        r"|(?P<url>://)(?:[^\s/@]*:[^\s/@]+|[^\s/?#@]+)(?P<at>@)",
        r#"|(?P<before>^|[?&;,\s"'(])(?P<name>-{0,2}[a-z][a-z0-9_.-]{0,60})=(?P<value>[^\s&#;"']+)"#,
        r#"|\b(?P<header>(?:proxy-)?authorization|(?:set-)?cookie|x-[a-z0-9-]{1,60})(?P<colon>\s*:\s*)[^\r\n"']+"#,
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
        r"|\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}|\bgh[a-z]_[A-Za-z0-9]{16,}|\bgithub_pat_[A-Za-z0-9_]{16,}|\bglpat-[A-Za-z0-9_-]{12,}",
        r"|\bxox[a-z]-[A-Za-z0-9-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}",
        r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    ))
    .ok()
});

/// A text with everything that looks like a secret redacted.
pub(super) fn masked(text: &str) -> Cow<'_, str> {
    let Some(looks) = LOOKS.as_ref() else { return text.into() };
    let masked = looks.replace_all(text, |found: &Captures<'_>| {
        let part = |name: &str| found.name(name).map_or("", |part| part.as_str());
        let is_kept = match (found.name("credentials"), found.name("name"), found.name("header")) {
            (Some(credentials), _, _) => !is_random(credentials.as_str()),
            (_, Some(name), _) => !is_parameter(name.as_str(), part("before")),
            (_, _, Some(header)) => !name::is_secret(header.as_str()),
            _ => false,
        };
        if is_kept {
            return found[0].to_string();
        }
        let told: String = ["scheme", "url", "before", "name"].into_iter().map(part).collect::<String>();
        let told = if found.name("name").is_some() { told + "=" } else { told };
        format!("{told}{}{}{REDACTED}{}", part("header"), part("colon"), part("at"))
    });
    // A match that was kept is no change.
    if masked == text { text.into() } else { masked.into_owned().into() }
}

/// Whether letters are more likely a credential than the next word of a sentence.
fn is_random(credentials: &str) -> bool {
    let has = |kind: fn(char) -> bool| credentials.chars().any(kind);
    credentials.len() >= 20 || has(|c| c.is_ascii_digit() || "=+/_".contains(c))
}

/// Whether a parameter is secret by its name; in a URL some short names are.
fn is_parameter(name: &str, before: &str) -> bool {
    let in_url = matches!(before, "?" | "&");
    name::is_secret(name)
        || (in_url && ["sig", "signature", "key", "code"].iter().any(|word| name::is_word(name, word)))
}

/// A secret to look for.
pub(crate) struct Echo<'s> {
    secret: &'s str,
}

impl<'s> Echo<'s> {
    pub(crate) fn of(secret: &'s str) -> Self {
        Self { secret }
    }

    /// Whether a text repeats it.
    pub(crate) fn occurs_in(&self, text: &str) -> bool {
        let is_encoded = |(at, _)| self.encoded_length(&text[at..]).is_some();
        text.contains(self.secret) || (may_hold_encoded(text) && text.char_indices().any(is_encoded))
    }

    /// A text without it.
    pub(crate) fn hidden_in(&self, text: &str) -> String {
        if !may_hold_encoded(text) {
            return text.replace(self.secret, REDACTED);
        }
        let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
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

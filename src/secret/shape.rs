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

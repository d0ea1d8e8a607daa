//! Finds secrets within texts: credentials of headers and URLs, tokens of known issuers, private keys.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::secret_names::{is_secret_name, is_word};

/// The text in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// A pattern for a secret, with the text before it, which is kept. To fold the case of a class of almost everything takes most of the
/// time that compiling takes, so these classes stand apart.
pub(super) static LOOKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?P<scheme>\b(?:bearer|basic)\s+)(?P<credentials>[A-Za-z0-9+/._~=-]{6,})",
        r"|(?-i:(?P<url>://)(?:[^\s/@]*:[^\s/@]+|[^\s/?#@]+)(?P<at>@))",
        r#"|(?P<before>^|[?&;,\s"'(=])(?P<name>-{0,2}[a-z][a-z0-9_.-]{0,60})=(?-i:(?P<value>[^\s&#;"']+))"#,
        r#"|\b(?P<header>(?:proxy-)?authorization|(?:set-)?cookie|x-[a-z0-9-]{1,60})(?P<colon>\s*:\s*)(?-i:[^\r\n"']+)"#,
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----(?s-i:.)*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
        r"|\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}|\bgh[a-z]_[A-Za-z0-9]{16,}|\bgithub_pat_[A-Za-z0-9_]{16,}|\bglpat-[A-Za-z0-9_-]{12,}",
        r"|\bxox[a-z]-[A-Za-z0-9-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}",
        r"|\b(?P<issued>(?:ntn|secret|lin_api|hf|npm|dop_v1|shp[a-z]{2}|figd|phx|sbp|whsec|glsa|gsk|r8|tvly|pplx|nvapi|xai|dckr_pat|pul|sntrys)[-_]",
        r"[A-Za-z0-9_-]{16,}|SG\.[A-Za-z0-9_-]{16,}|ATATT[A-Za-z0-9_=-]{16,})",
        r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    ))
    .ok()
});

/// A text with everything that looks like a secret redacted.
pub(super) fn masked(text: &str) -> Cow<'_, str> {
    if !may_hold_secret(text) {
        return text.into();
    }
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

/// Whether a text has any sign of what the expression finds: a mark before a value, the beginning of a word that it knows, or a run of
/// characters as long as a token. Most texts have none, and the expression takes thirty times as long.
pub(super) fn may_hold_secret(text: &str) -> bool {
    const BEGINNINGS: [&[u8]; 4] = [b"beare", b"basic", b"-----", b"eyj"];
    let begins = |at: &[u8]| BEGINNINGS.iter().any(|word| at[..word.len()].eq_ignore_ascii_case(word));
    let mut run = 0;
    let mut is_sign = |byte: &u8| {
        run = if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') { run + 1 } else { 0 };
        run >= 15 || matches!(byte, b'=' | b':' | 0x80..)
    };
    text.as_bytes().iter().any(&mut is_sign) || text.as_bytes().windows(5).any(begins)
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
            _ => part("url").is_none().then_some(&found[0]),
        };
        secret.is_some_and(|secret| secret.chars().any(|c| c.is_ascii_digit()) && !is_made_up(secret))
    };
    has_room_for_credential(text)
        && LOOKS.as_ref().is_some_and(|looks| looks.captures_iter(text).any(is_credential))
}

/// Whether a text has room for a credential: letters in a row with a digit between them, or a beginning of a private key or a
/// signed token. Few texts do, and the expression takes a hundred times as long.
pub(super) fn has_room_for_credential(text: &str) -> bool {
    // Without regard to case, the expression takes ſ and K for letters.
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=\xC5\xBF\xE2\x84\xAA".contains(&byte);
    let has = |run: &[u8], mark: &[u8]| run.windows(mark.len()).any(|part| part.eq_ignore_ascii_case(mark));
    let mut runs = text.as_bytes().split(|byte| !is_part(*byte)).filter(|run| run.len() >= 10);
    runs.any(|run| {
        (run.len() >= 15 && run.iter().any(u8::is_ascii_digit)) || has(run, b"eyJ") || has(run, b"-----BEGIN")
    })
}

/// Whether an option can hold a key: `--key` may also hold the name of a field.
pub(super) fn is_key(option: &str) -> bool {
    ["k", "key", "auth", "pat"].iter().any(|word| is_word(option.trim_start_matches('-'), word))
}

/// Whether a text was made by a program, as a UUID is.
pub(super) fn is_generated(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let has = |kind: fn(&char) -> bool| text.chars().any(|c| kind(&c));
    text.len() >= 16 && text.chars().all(is_plain) && has(char::is_ascii_digit)
}

/// Whether a text is a key though nothing names it: in letters of both cases with digits, a UUID, or long and hexadecimal.
pub(super) fn is_opaque(text: &str) -> bool {
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

//! What the text of an argument says of its values: an example, a form, a value that it must have.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use toolcrib_definition::schema::limits::Limits;
use toolcrib_definition::words;

/// Most bytes of a text that are read.
const MAX_TEXT: usize = 4_000;
/// Longest example without quotes, in characters, and in words.
const LONGEST: usize = 40;
const LONGEST_QUOTED: usize = 120;
const MOST_WORDS: usize = 3;

static ANNOUNCED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:e\.g\.?|eg[.:]|ex[.:]|for (?:example|instance)|such as|examples?(?: values?)?(?:\*\*)?:|examples? (?:is|are)\b)[,:\s*]*",
    )
});
/// Words after which the examples of a sentence are no values.
static REFUSED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(?:not|never|cannot|except|excluding|avoid|unlike|instead of|don't|can't|rather than)\b")
});
/// The form of a date or a time, in the letters that stand for its parts.
static DATE_FORM: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:YYYY|yyyy|MM|DD|dd|HH)(?:[-/.: ]?(?:T|YYYY|yyyy|YY|MM|mm|DD|dd|HH|hh|SS|ss)){1,6}(?:\.?SSS)?(?:Z\b)?",
    )
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}

/// The first example of a text that is a value of a type.
pub(super) fn text_example(text: &str, kind: &str) -> Option<Value> {
    let text = &text[..text.floor_char_boundary(MAX_TEXT)];
    ANNOUNCED.find_iter(text).find_map(|found| {
        let sentence = text[..found.start()].rsplit(['.', '\n', ';']).next().unwrap_or_default();
        if REFUSED.is_match(sentence) {
            return None;
        }
        let is_bare = !found.as_str().to_ascii_lowercase().starts_with(['f', 's']);
        value(&text[found.end()..], kind, is_bare)
    })
}

/// The value of a type at the start of a text.
fn value(text: &str, kind: &str, is_bare: bool) -> Option<Value> {
    let inner = text.trim_start_matches(['`', '"', '\'']);
    match (kind, inner.chars().next()?) {
        ("array", '[') | ("object", '{') => json(inner),
        ("array" | "object", _) => None,
        ("integer" | "number", _) => {
            let end =
                inner.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-')).unwrap_or(inner.len());
            let number = inner[..end].trim_end_matches(['.', '-']);
            let is_alone =
                !inner[end..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | ':' | '%'));
            let value = serde_json::from_str::<Value>(number).ok().filter(Value::is_number)?;
            (is_alone && (kind == "number" || !number.contains('.'))).then_some(value)
        }
        ("string", '[') if text.trim_start_matches('`').starts_with('[') => {
            json(inner)?.get(0).filter(|first| first.is_string()).cloned()
        }
        ("string", _) => {
            let example = quoted(text).or_else(|| if is_bare { bare(text) } else { None })?;
            is_value(example).then(|| example.into())
        }
        _ => None,
    }
}

/// The content of the quotes at the start of a text; an apostrophe within a word closes none.
fn quoted(text: &str) -> Option<&str> {
    let inner = text.trim_start_matches('`');
    let open = inner.chars().next()?;
    let (inner, close) = match open {
        '"' | '\'' => (&inner[1..], open),
        '“' => (&inner[open.len_utf8()..], '”'),
        '‘' => (&inner[open.len_utf8()..], '’'),
        _ if inner.len() < text.len() => (inner, '`'),
        _ => return None,
    };
    let is_close = |at: usize| !inner[at + close.len_utf8()..].starts_with(char::is_alphanumeric);
    let (end, _) = inner.char_indices().find(|&(at, c)| c == '\n' || (c == close && is_close(at)))?;
    let quoted = &inner[..end];
    (inner[end..].starts_with(close) && quoted.chars().count() <= LONGEST_QUOTED).then_some(quoted)
}

/// The JSON at the start of a text, also with single quotes.
fn json(text: &str) -> Option<Value> {
    let first = |text: &str| serde_json::Deserializer::from_str(text).into_iter().next()?.ok();
    first(text).or_else(|| first(&text.replace('\'', "\""))).filter(|value: &Value| {
        value.as_array().is_none_or(|items| !items.is_empty())
            && value.as_object().is_none_or(|members| !members.is_empty())
            && !value.to_string().contains("...")
    })
}

const STOP_WORDS: [&str; 10] = ["a", "an", "the", "etc", "none", "null", "this", "to", "if", "when"];

/// An example without quotes: some words up to a mark.
fn bare(text: &str) -> Option<&str> {
    let ends = [", ", ";", ")", "\n", " or ", " and ", ". ", " (", " - ", " – ", " for "];
    let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    let state = text.get(end..).and_then(|rest| rest.strip_prefix(", "));
    let is_state = state.is_some_and(|state| {
        state.len() >= 2
            && state.bytes().take(2).all(|byte| byte.is_ascii_uppercase())
            && !state[2..].starts_with(char::is_alphanumeric)
            && text[..end].contains(char::is_lowercase)
    });
    let example = text[..if is_state { end + 4 } else { end }].trim().trim_end_matches('.');
    let is_short = example.chars().count() <= LONGEST && example.split(' ').count() <= MOST_WORDS;
    let is_name =
        !example.contains(' ') || example.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
    let is_word = !STOP_WORDS.contains(&example.to_ascii_lowercase().as_str());
    (is_short && is_name && is_word && !example.contains(['"', '\'', '`'])).then_some(example)
}

/// Whether an example can be a value as written: no placeholder, no ending of one.
fn is_value(example: &str) -> bool {
    let is_ending = example.starts_with('.') && !example.contains('/');
    example.contains(char::is_alphanumeric)
        && !is_ending
        && !example.contains(['<', '…'])
        && !example.contains("...")
}

/// Whether an example keeps the limits that can be told at sight.
pub(super) fn fits(example: &Value, limits: &Limits<'_>) -> bool {
    let length = example.as_str().map(|text| text.chars().count() as u64);
    let is_long_enough = length.is_none_or(|length| {
        length >= limits.length.least.unwrap_or_default() && length <= limits.length.most.unwrap_or(u64::MAX)
    });
    is_long_enough && limits.pattern.is_none()
}

/// Last words of arguments whose texts speak of other things than their own form.
const NAMED: [&str; 17] = [
    "id", "ids", "name", "key", "token", "sid", "type", "label", "title", "text", "body", "content",
    "message", "query", "description", "subject", "prompt",
];
/// Forms by the words that name them, in lower case.
const FORMS: [(&[&str], &str); 13] = [
    (&["e.164", "phone number"], "+12025550123"),
    (&["email address", "e-mail address"], "user@example.com"),
    (&["uuid"], "00000000-0000-4000-8000-000000000000"),
    (&["iso 4217", "currency code", "three-letter currency", "3-letter currency"], "USD"),
    (&["iso 3166", "iso-3166", "country code"], "US"),
    (&["iso 639", "language code"], "en"),
    (&["bcp 47", "bcp-47", "locale code"], "en-US"),
    (&["iana time zone", "iana timezone", "time zone name", "timezone name"], "Europe/London"),
    (&["cron expression"], "0 9 * * 1"),
    (&["base64"], "SGVsbG8="),
    (&["ip address"], "192.0.2.1"),
    (&["url of", "url to", "absolute url", "public url", "https url"], "https://example.com"),
    (&["iso 8601", "iso8601", "iso-8601", "rfc 3339", "rfc3339", "rfc-3339"], "2030-01-01T09:00:00Z"),
];

/// A text of the form that the text of an argument names.
pub(super) fn form(name: &str, text: &str) -> Option<String> {
    let text = &text[..text.floor_char_boundary(MAX_TEXT)];
    if words(name).last().is_some_and(|last| NAMED.contains(&last.as_str())) {
        return None;
    }
    if let Some(form) = DATE_FORM.find(text) {
        return Some(date(form.as_str()));
    }
    let text = text.to_ascii_lowercase();
    let place = |names: &[&str]| names.iter().filter_map(|name| text.find(name)).min();
    let places = FORMS.iter().filter_map(|form| Some((place(form.0)?, form)));
    let (_, (names, form)) = places.min_by_key(|(place, _)| *place)?;
    let is_duration = names.contains(&"iso 8601") && text.contains("duration");
    Some(if is_duration { "PT1H" } else { form }.to_string())
}

/// Nine o'clock on the first day of 2030, in a form such as `DD/MM/YYYY HH:MM`.
fn date(form: &str) -> String {
    let mut hour_is_past = false;
    let mut date = String::new();
    let mut rest = form;
    while let Some(c) = rest.chars().next() {
        let run = rest.chars().take_while(|next| *next == c).count();
        date.push_str(match (c.to_ascii_lowercase(), run) {
            ('y', 2) => "30",
            ('y', _) => "2030",
            ('h', _) => "09",
            ('m', _) if hour_is_past => "00",
            ('m' | 'd', _) => "01",
            ('s', 3) => "000",
            ('s', _) => "00",
            _ => &rest[..c.len_utf8() * run],
        });
        hour_is_past |= c.eq_ignore_ascii_case(&'h');
        rest = &rest[c.len_utf8() * run..];
    }
    date
}

/// Whether a text says of a switch that it has to be on.
pub(super) fn must_be_true(text: &str) -> bool {
    let text = text.to_ascii_lowercase().replace('`', "");
    ["must be true", "must be set to true"].iter().any(|must| text.contains(must))
}

//! JSON with mistakes, mended: a mistake costs no more of a text than it must.

use std::borrow::Cow;
use std::cell::RefCell;

use serde_json::Value;

use super::any_value::{MOST_NAMED, Meter, Node, TWICE, read_json};
use super::json::{MAX_LEVELS, document_error, offset, parse_with};
use crate::finding::Code;

/// Something that was mended: its offset, the code of its finding, and the message.
type Mended = (usize, Code, String);

/// A text that could not be read, its value, and what was done: a mistake costs no more than it must. `None` if it costs the text.
pub(super) fn mended(text: &str) -> Option<(String, Value, Vec<Mended>)> {
    let mut notes = Vec::new();
    let mut out = well_formed(text);
    if out != text {
        let same = out.bytes().zip(text.bytes()).take_while(|(out, text)| out == text).count();
        let message = "half a character, a control character in a text, or a number that JSON does not have was replaced";
        notes.push((same, Code::DefinitionRepaired, message.to_string()));
    }
    let read = |text: &str| {
        let mut meter = Meter::new(MAX_LEVELS - 1);
        meter.twice = Some(RefCell::default());
        parse_with(text, &meter).map(|value| (value, meter.twice.unwrap_or_default().into_inner()))
    };
    let lines: Vec<&str> = out.split_inclusive('\n').collect();
    if lines.len() > 1
        && lines.iter().all(|line| line.trim().is_empty() || line.trim_start().starts_with('{'))
    {
        let is_lost = |line: &&&str| !line.trim().is_empty() && read(line).is_err();
        for line in lines.iter().filter(is_lost).take(MOST_NAMED) {
            let message = "this line is not valid JSON, and was left out";
            notes.push((offset(&out, line), Code::FileInvalid, message.into()));
        }
        let blank = |line: &&str| {
            let blank = " ".repeat(line.trim_end_matches('\n').len()) + "\n";
            if is_lost(&line) { blank } else { line.to_string() }
        };
        out = lines.iter().map(blank).collect();
    }
    let (value, twice) = read(&out).ok()?;
    // A strict reading stops at the first of them.
    let strict = read_json(serde_json::Deserializer::from_str(&out), Node::root(&Meter::new(MAX_LEVELS)));
    let first = strict.err().map_or(0, |error| document_error(&out, &error).offset);
    let note =
        |key| (first, Code::DefinitionRepaired, format!("the key {key:?}{TWICE}; the last one is used"));
    notes.extend(twice.into_iter().map(note));
    Some((out, value, notes))
}

/// A text with mistakes of common writers of JSON undone: half a character becomes U+FFFD, control characters are escaped,
/// and the numbers that JSON does not have become texts, so that nobody takes them for others.
pub fn well_formed(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    let mut is_text = false;
    while let Some(next) = rest.chars().next() {
        let (taken, put): (usize, Cow<'_, str>) = match next {
            '"' => {
                is_text = !is_text;
                (1, "\"".into())
            }
            '\\' if is_text => escape(rest),
            control @ '\0'..' ' if is_text => (1, format!("\\u{:04x}", u32::from(control)).into()),
            'N' | 'I' | '-' if !is_text => {
                match ["NaN", "-Infinity", "Infinity"].into_iter().find(|number| rest.starts_with(number)) {
                    Some(number) => (number.len(), format!("\"{number}\"").into()),
                    None => (1, rest[..1].into()),
                }
            }
            other => (other.len_utf8(), rest[..other.len_utf8()].into()),
        };
        out.push_str(&put);
        rest = &rest[taken..];
    }
    out
}

/// The escape at the beginning of a text: its length, and what stands for it.
fn escape(text: &str) -> (usize, Cow<'_, str>) {
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
    match (unit(text), text.get(6..).and_then(unit)) {
        (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => (12, text[..12].into()),
        (Some(0xd800..0xe000), _) => (6, "\u{fffd}".into()),
        _ => {
            let length = 1 + text.chars().nth(1).map_or(0, char::len_utf8);
            (length, text[..length].into())
        }
    }
}

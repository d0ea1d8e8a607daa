//! Objects as models write them: JSON, or nearly JSON, with commas too many, single quotes, keys without quotes, line breaks in texts, or
//! the words of Python. They are rewritten as JSON; what has no certain meaning is not read.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::value::RawValue;

/// Levels that are rewritten.
const MAX_LEVELS: usize = 100;

/// The object or list at the beginning of a text, as JSON, and the text after it.
pub(super) fn value_at(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    if let Some(Ok(value)) = values.next() {
        return Some((value.get().into(), &text[values.byte_offset()..]));
    }
    let mut writer = Rewriter { rest: text, json: String::new() };
    writer.value(0)?;
    Some((writer.json.into(), writer.rest))
}

struct Rewriter<'t> {
    rest: &'t str,
    json: String,
}

impl Rewriter<'_> {
    fn value(&mut self, level: usize) -> Option<()> {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next()? {
            '{' | '[' if level == MAX_LEVELS => None,
            '{' => self.members('{', '}', level),
            '[' => self.members('[', ']', level),
            '"' | '\'' => self.text(),
            _ => self.word(),
        }
    }

    fn members(&mut self, open: char, close: char, level: usize) -> Option<()> {
        self.takes(open);
        while !self.takes(close) {
            if close == '}' {
                self.key()?;
                self.takes(':').then_some(())?;
            }
            self.value(level + 1)?;
            if !self.takes(',') && !self.rest.starts_with(close) {
                return None;
            }
        }
        // The comma after the last member.
        let end = self.json.len() - 1;
        if self.json[..end].ends_with(',') {
            self.json.remove(end - 1);
        }
        Some(())
    }

    /// Copies a sign, if it is the next one.
    fn takes(&mut self, sign: char) -> bool {
        self.rest = self.rest.trim_start();
        let Some(rest) = self.rest.strip_prefix(sign) else { return false };
        self.rest = rest;
        self.json.push(sign);
        true
    }

    /// A key in quotes, or a name without, as JavaScript has it.
    fn key(&mut self) -> Option<()> {
        let is_inside = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '$' | '-');
        let (name, rest) = self.rest.split_at(self.rest.find(|sign| !is_inside(sign)).unwrap_or(0));
        if name.is_empty() {
            return self.text();
        }
        self.rest = rest;
        _ = write!(self.json, "\"{name}\"");
        Some(())
    }

    fn text(&mut self) -> Option<()> {
        let quote = self.rest.chars().next().filter(|sign| matches!(sign, '"' | '\''))?;
        let inside = &self.rest[1..];
        let mut signs = inside.char_indices();
        self.json.push('"');
        while let Some((at, sign)) = signs.next() {
            match sign {
                '\\' => match signs.next()?.1 {
                    '\'' => self.json.push('\''),
                    'x' => {
                        let digits = inside.get(at + 2..at + 4)?;
                        self.json.push_str("\\u00");
                        self.json.push_str(digits);
                        signs.nth(1);
                    }
                    escaped => self.json.extend(['\\', escaped]),
                },
                end if end == quote => {
                    self.json.push('"');
                    self.rest = &inside[at + 1..];
                    return Some(());
                }
                '"' => self.json.push_str("\\\""),
                control if control < ' ' => _ = write!(self.json, "\\u{:04x}", u32::from(control)),
                plain => self.json.push(plain),
            }
        }
        None
    }

    fn word(&mut self) -> Option<()> {
        let is_inside = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '+' | '.');
        let end = self.rest.find(|sign| !is_inside(sign)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.json.push_str(match word {
            "None" => "null",
            "True" => "true",
            "False" => "false",
            // The reader of the whole judges numbers.
            other => Some(other).filter(|other| {
                matches!(*other, "null" | "true" | "false")
                    || other.starts_with(|c: char| c == '-' || c.is_ascii_digit())
            })?,
        });
        self.rest = rest;
        Some(())
    }
}

//! JSON: reads it, and any other self-describing format, within limits; and locates values in its text.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use super::Code;
use super::document::DocumentError;
use super::pointer::{NodeId, PointerTree, ROOT, Span};

/// Levels of nesting at which a text is refused, as the parser does.
const MAX_LEVELS: usize = 128;

/// Reads a JSON text. Values that each begin a line (JSON Lines) are an array of them.
pub(super) fn parse(text: &str) -> Result<Value, DocumentError> {
    parse_with(text, &Meter::new(MAX_LEVELS - 1))
}

fn parse_with(text: &str, meter: &Meter) -> Result<Value, DocumentError> {
    let read = |part: &str| {
        let value = read_json(serde_json::Deserializer::from_str(part), Node::root(meter));
        value.map_err(|error| document_error(part, &error).behind(offset(text, part)))
    };
    read(text).or_else(|error| match lines(text).as_slice() {
        [] | [_] => Err(error),
        lines => lines.iter().map(|line| read(line.get())).collect(),
    })
}

/// The offset of a part of a text.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr().addr() - text.as_ptr().addr()
}

/// The objects and arrays of a text, which each begin a line; nothing if it has other text.
fn lines(text: &str) -> Vec<&RawValue> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let mut lines = Vec::new();
    let mut end = 0;
    while let Some(value) = values.next() {
        let Ok(value) = value else { return Vec::new() };
        let between = text.get(end..offset(text, value.get())).unwrap_or_default();
        let begins_line = lines.is_empty() || between.contains('\n');
        if !begins_line || !value.get().starts_with(['{', '[']) {
            return Vec::new();
        }
        lines.push(value);
        end = values.byte_offset();
    }
    lines
}

/// Reads a JSON text that is, or is part of, a call. An object with a repeated key is refused: readers differ on
/// which value counts, so the checked call could differ from the executed one.
pub fn from_json(text: &str) -> serde_json::Result<Value> {
    check_size(text.as_bytes())?;
    read_json(serde_json::Deserializer::from_str(text), Node::root(&Meter::new(MAX_LEVELS)))
}

/// Reads such a text from bytes.
pub fn from_json_bytes(bytes: &[u8]) -> serde_json::Result<Value> {
    check_size(bytes)?;
    read_json(serde_json::Deserializer::from_slice(bytes), Node::root(&Meter::new(MAX_LEVELS)))
}

/// Reads JSON of another program, an object or a list, though texts in it are cut within a character.
pub fn from_others<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    check_size(text)?;
    serde_json::from_slice(text).or_else(|error| match std::str::from_utf8(text) {
        Ok(text) if text.trim_start().starts_with(['{', '[']) => {
            serde_json::from_str(&well_formed(text)).map_err(|_| error)
        }
        _ => Err(error),
    })
}

/// Most values that are read of a text from elsewhere.
pub const MAX_OTHERS_VALUES: usize = 500_000;

/// Whether a JSON text has more values than are read of others. A value of two bytes takes a hundred in memory, so values
/// are counted before they are read, as [`Meter`] counts them; only an empty list or object counts for more.
pub fn has_too_many_values(text: &[u8]) -> bool {
    let mut values = 0;
    let mut is_text = false;
    let mut bytes = if text.len() > MAX_OTHERS_VALUES { text.iter() } else { [].iter() };
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_text = !is_text,
            b'\\' if is_text => _ = bytes.next(),
            _ if is_text => {}
            b',' => values += 1,
            b'[' | b'{' => values += 2,
            _ => {}
        }
    }
    values > MAX_OTHERS_VALUES
}

fn check_size(text: &[u8]) -> serde_json::Result<()> {
    if has_too_many_values(text) {
        Err(Error::custom(format!("{TOO_MANY}: more than {MAX_OTHERS_VALUES}")))
    } else {
        Ok(())
    }
}

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
        let meter = Meter { twice: Some(RefCell::default()), ..Meter::new(MAX_LEVELS - 1) };
        parse_with(text, &meter).map(|value| (value, meter.twice.unwrap_or_default().into_inner()))
    };
    let lines: Vec<&str> = out.split_inclusive('\n').collect();
    if lines.len() > 1
        && lines.iter().all(|line| line.trim().is_empty() || line.trim_start().starts_with('{'))
    {
        let is_lost = |line: &&&str| !line.trim().is_empty() && read(line).is_err();
        for line in lines.iter().filter(is_lost).take(MOST_NAMED) {
            notes.push((
                offset(&out, line),
                Code::FileInvalid,
                "this line is not valid JSON, and was left out".into(),
            ));
        }
        let blank = |line: &&str| {
            if is_lost(&line) {
                " ".repeat(line.trim_end_matches('\n').len()) + "\n"
            } else {
                line.to_string()
            }
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

fn document_error(text: &str, error: &serde_json::Error) -> DocumentError {
    let start: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let offset = (start + error.column()).saturating_sub(1);
    let shown = error.to_string();
    let cause = shown.rsplit_once(" at line ").map_or(shown.as_str(), |(cause, _)| cause);
    let (what, help) = match cause {
        TOO_DEEP | "recursion limit exceeded" => return DocumentError::too_deep(offset, MAX_LEVELS),
        TOO_MANY => return DocumentError::too_many(offset),
        _ if cause.ends_with(TWICE) => {
            let before = text.get(..=offset).unwrap_or_default().trim_end();
            let start = before.strip_suffix('"').and_then(|before| before.rfind('"')).unwrap_or(offset);
            return DocumentError::new(start, cause).help("remove one of the two");
        }
        _ if text.trim().is_empty() => return DocumentError::new(0, "the file is empty"),
        "EOF while parsing a list" => ("the file ends inside an array", "close it with `]`"),
        "EOF while parsing an object" => ("the file ends inside an object", "close it with `}`"),
        "EOF while parsing a string" => ("the file ends inside a string", "close it with `\"`"),
        "EOF while parsing a value" => ("the file ends where a value is due", ""),
        "trailing comma" => ("a comma before a closing bracket", "remove the comma"),
        "trailing characters" => ("more text after the end of the value", "put several values into an array"),
        "expected ident" | "expected value" => {
            ("a value is due here", "values are objects, arrays, \"text\", numbers, true, false and null")
        }
        "key must be a string" => ("a key in double quotes is due here", ""),
        "invalid escape" => ("unknown escape in a string", "write `\\\\` for a backslash"),
        "number out of range" => ("a number that is too large", "put it in quotes"),
        "lone leading surrogate in hex escape"
        | "unexpected end of hex escape"
        | "invalid unicode code point" => {
            ("an escape that is no character", "characters beyond U+FFFF are written as two escapes")
        }
        cause if cause.starts_with("control character") => {
            ("a control character in a string", "write a line break as `\\n` and a tab as `\\t`")
        }
        cause => (cause, ""),
    };
    let invalid = DocumentError::new(offset, format!("not valid JSON: {what}"));
    if help.is_empty() { invalid } else { invalid.help(help) }
}

/// Spans of the nodes of the tree, in a text that is known to be valid.
pub(super) fn spans(text: &str, tree: &PointerTree<'_>) -> Vec<Option<Span>> {
    let mut scan = Scan { text, tree, found: vec![None; tree.len()] };
    match lines(text).as_slice() {
        [] | [_] => scan.value(ROOT, None, text.trim()),
        lines => {
            for (index, line) in lines.iter().enumerate() {
                if let Some(child) = tree.element(ROOT, index) {
                    scan.value(child, None, line.get());
                }
            }
        }
    }
    scan.found
}

struct Scan<'t> {
    text: &'t str,
    tree: &'t PointerTree<'t>,
    found: Vec<Option<Span>>,
}

impl<'t> Scan<'t> {
    /// Records the span of a node, and of the nodes below it. `key` and `value` are parts of the text.
    fn value(&mut self, node: NodeId, key: Option<&'t str>, value: &'t str) {
        let start = offset(self.text, value);
        let key = key.map(|key| offset(self.text, key));
        let span = Span { key, value: start..start + value.len() };
        if let Some(slot) = self.found.get_mut(node) {
            *slot = Some(span);
        }
        if !self.tree.is_leaf(node) {
            // A value that is no container has nothing below it.
            let _ = Inside { scan: self, node }.deserialize(&mut serde_json::Deserializer::from_str(value));
        }
    }
}

/// Looks for wanted values among the members or elements of one value.
struct Inside<'s, 't> {
    scan: &'s mut Scan<'t>,
    node: NodeId,
}

impl<'t> DeserializeSeed<'t> for Inside<'_, 't> {
    type Value = ();

    fn deserialize<D: Deserializer<'t>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'t> Visitor<'t> for Inside<'_, 't> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(key) = members.next_key::<&'t RawValue>()? {
            let name: String = serde_json::from_str(key.get()).unwrap_or_default();
            match self.scan.tree.member(self.node, &name) {
                Some(child) => {
                    let value: &'t RawValue = members.next_value()?;
                    self.scan.value(child, Some(key.get()), value.get());
                }
                None => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut elements: A) -> Result<(), A::Error> {
        for index in 0.. {
            let child = self.scan.tree.element(self.node, index);
            let is_there = match child {
                Some(child) => {
                    let element = elements.next_element::<&'t RawValue>()?;
                    element.map(|value| self.scan.value(child, None, value.get())).is_some()
                }
                None => elements.next_element::<IgnoredAny>()?.is_some(),
            };
            if !is_there {
                break;
            }
        }
        Ok(())
    }
}

// Any self-describing format as a JSON value.

/// The error of a value that is nested too deeply.
pub(super) const TOO_DEEP: &str = "nested too deeply";
/// End of the error for a repeated key.
pub(super) const TWICE: &str = " is there twice";
/// Most such keys, and lines that cannot be read, that are named.
const MOST_NAMED: usize = 20;
/// Most characters of such a key in the error.
const LONGEST_KEY: usize = 80;
/// The error of a document of too many values.
pub(super) const TOO_MANY: &str = "too many values";
/// Most values in one document; a real catalog of 64 MiB has about as many.
pub(super) const MAX_VALUES: usize = 4_000_000;

/// Most keys that are compared one by one; above that a set is faster.
const FEW: usize = 16;

/// Limits of one document, and the amounts used so far.
pub(super) struct Meter {
    max_depth: usize,
    values: Cell<usize>,
    /// The keys that are there twice, of which the last counts; `None` where such a key is a mistake.
    twice: Option<RefCell<Vec<String>>>,
}

impl Meter {
    pub(super) fn new(max_depth: usize) -> Self {
        Self { max_depth, values: Cell::new(0), twice: None }
    }

    /// Counts one value at this depth; the error names the limit that is exceeded.
    pub(super) fn count(&self, depth: usize) -> Result<(), &'static str> {
        self.values.set(self.values.get() + 1);
        if depth > self.max_depth {
            Err(TOO_DEEP)
        } else if self.values.get() > MAX_VALUES {
            Err(TOO_MANY)
        } else {
            Ok(())
        }
    }
}

/// Reads one value, `depth` containers deep.
#[derive(Clone, Copy)]
pub(super) struct Node<'m> {
    meter: &'m Meter,
    depth: usize,
}

impl<'m> Node<'m> {
    pub(super) fn root(meter: &'m Meter) -> Self {
        Self { meter, depth: 0 }
    }

    /// Reads one value that is one container deeper.
    fn inside<E: Error>(self) -> Result<Self, E> {
        let inner = Node { depth: self.depth + 1, ..self };
        self.meter.count(inner.depth).map_err(E::custom)?;
        Ok(inner)
    }
}

/// The value of a whole JSON text.
fn read_json<'t, R: serde_json::de::Read<'t>>(
    mut parser: serde_json::Deserializer<R>,
    node: Node<'_>,
) -> serde_json::Result<Value> {
    let value = node.deserialize(&mut parser)?;
    parser.end().map(|()| value)
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(number(value as f64))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_bytes<E>(self, value: &[u8]) -> Result<Value, E> {
        Ok(String::from_utf8_lossy(value).into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let inner = self.inside()?;
        let mut array = Vec::new();
        while let Some(element) = elements.next_element_seed(inner)? {
            self.meter.count(0).map_err(A::Error::custom)?;
            array.push(element);
        }
        array.shrink_to_fit();
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = self.inside()?;
        let mut read: Vec<(String, Value)> = Vec::new();
        // With few keys, comparing each is fastest.
        let mut known = HashSet::new();
        while let Some(key) = members.next_key::<Option<String>>()? {
            let key = key.unwrap_or_else(|| "null".into());
            let is_twice = match read.len() {
                0..FEW => read.iter().any(|(known, _)| *known == key),
                FEW => {
                    known.extend(read.iter().map(|(key, _)| key.clone()));
                    !known.insert(key.clone())
                }
                _ => !known.insert(key.clone()),
            };
            if is_twice {
                let shown: String = key.chars().take(LONGEST_KEY).collect();
                match self.meter.twice.as_ref().map(RefCell::borrow_mut) {
                    None => return Err(A::Error::custom(format!("the key {shown:?}{TWICE}"))),
                    Some(mut twice) if twice.len() < MOST_NAMED => twice.push(shown),
                    Some(_) => {}
                }
            }
            let value = members.next_value_seed(inner)?;
            self.meter.count(0).map_err(A::Error::custom)?;
            read.push((key, value));
        }
        // A growing map reserves more than it needs, and most of a catalog is small maps.
        let mut object = Map::with_capacity(read.len());
        object.extend(read);
        Ok(Value::Object(object))
    }
}

/// A number, or the text of a number that JSON cannot hold.
pub(super) fn number(value: f64) -> Value {
    Number::from_f64(value).map_or_else(|| value.to_string().to_lowercase().into(), Value::Number)
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

// JSON in a wrapping: with comments, one value a line, or in a capture of server-sent events. The wrapping is replaced with
// spaces, so that every place stays the same.

/// The text without its wrapping, if it has one.
pub(super) fn unwrapped(text: &str) -> Option<String> {
    let events = text.lines().any(|line| line.starts_with("data:")).then(|| data_of_events(text));
    let text = events.as_deref().unwrap_or(text);
    let plain = without_comments(text);
    let has_comments = plain.bytes().zip(text.bytes()).any(|(plain, byte)| plain != byte && byte != b',');
    if has_comments { Some(plain) } else { events }
}

/// The `data` of server-sent events alone.
fn data_of_events(text: &str) -> String {
    let line = |line: &str| {
        let data = line.strip_prefix("data:").filter(|data| data.trim() != "[DONE]");
        let kept = data.unwrap_or_default();
        let blank = &line[..line.len() - kept.len()];
        let blank =
            blank.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' });
        blank.collect::<String>() + kept
    };
    text.split_inclusive('\n').map(line).collect()
}

/// JSON with its comments, and commas before a closing bracket, replaced with spaces: every place stays the same.
pub fn without_comments(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let mut at = 0;
    let mut comma = None;
    let blank = |out: &mut Vec<u8>, from: usize, to: usize| {
        out[from..to].iter_mut().filter(|byte| !byte.is_ascii_whitespace()).for_each(|byte| *byte = b' ');
    };
    if text.starts_with('\u{feff}') {
        blank(&mut out, 0, '\u{feff}'.len_utf8());
    }
    while at < out.len() {
        match (out[at], out.get(at + 1)) {
            (b'"', _) => {
                comma = None;
                at += 1;
                while at < out.len() && out[at] != b'"' {
                    at += if out[at] == b'\\' { 2 } else { 1 };
                }
            }
            (b'/', Some(b'/')) => {
                let end = text.as_bytes()[at..].iter().position(|byte| *byte == b'\n');
                let end = end.map_or(out.len(), |end| at + end);
                blank(&mut out, at, end);
                at = end;
                continue;
            }
            (b'/', Some(b'*')) => {
                let end = text.as_bytes()[at + 2..].windows(2).position(|pair| pair == b"*/");
                let end = end.map_or(out.len(), |end| at + 2 + end + 2);
                blank(&mut out, at, end);
                at = end;
                continue;
            }
            (b',', _) => comma = Some(at),
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take() {
                    out[comma] = b' ';
                }
            }
            (byte, _) if !byte.is_ascii_whitespace() => comma = None,
            _ => {}
        }
        at += 1;
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_string())
}

#[cfg(test)]
mod wrapping_tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn comments_and_last_commas_are_blank_and_texts_are_not() {
        let text = "{ // a, }\n \"a\": \"// \\\" /* x */,}\", /* é\n */ \"b\": [1, 2, ],\n}";
        let plain = without_comments(text);
        assert_eq!(plain.len(), text.len());
        let value: Value = serde_json::from_str(&plain).unwrap();
        assert_eq!(value, serde_json::json!({"a": "// \" /* x */,}", "b": [1, 2]}));
        for broken in ["/*", "//", "\"", "\"\\", "/", "{,", ",}"] {
            assert_eq!(without_comments(broken).len(), broken.len());
        }
    }

    #[test]
    fn the_data_of_events_keeps_its_place() {
        let text = ": note\r\nevent: message\r\nid: é\r\ndata: {\"a\":\ndata: 1}\n\ndata: [DONE]\n";
        let plain = unwrapped(text).unwrap();
        assert_eq!(plain.len(), text.len());
        assert_eq!(serde_json::from_str::<Value>(&plain).unwrap(), serde_json::json!({"a": 1}));
        assert_eq!(unwrapped("[1,]"), None);
        assert_eq!(unwrapped("{\"a\": \"// data:\"}"), None);
    }
}

#[cfg(test)]
#[path = "tests/json.rs"]
mod tests;

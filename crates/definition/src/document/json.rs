//! JSON: reads it within limits, and locates values in its text.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::any_value::{Meter, Node, TOO_DEEP, TOO_MANY, TWICE, read_json};
use super::document_error::DocumentError;
use super::pointer_tree::{NodeId, PointerTree, ROOT, Span};

/// Levels of nesting at which a text is refused, as the parser does.
pub(super) const MAX_LEVELS: usize = 128;

/// Reads a JSON text. Values that each begin a line (JSON Lines) are an array of them.
pub(super) fn parse(text: &str) -> Result<Value, DocumentError> {
    parse_with(text, &Meter::new(MAX_LEVELS - 1))
}

pub(super) fn parse_with(text: &str, meter: &Meter) -> Result<Value, DocumentError> {
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
pub(super) fn offset(text: &str, part: &str) -> usize {
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

pub(super) fn document_error(text: &str, error: &serde_json::Error) -> DocumentError {
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
    let whole = text.trim();
    if scan.value(ROOT, None, whole).is_ok() && !tree.is_leaf(ROOT) {
        return scan.found;
    }
    let lines = lines(text);
    if lines.len() > 1 {
        scan.found.fill(None);
        for (index, line) in lines.iter().enumerate() {
            if let Some(child) = tree.element(ROOT, index) {
                let _ = scan.value(child, None, line.get());
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
    /// Records the span of a node, and of the nodes below it. `key` and `value` are parts of the text. A value that is no container
    /// has nothing below it, and is an error where the tree goes on.
    fn value(&mut self, node: NodeId, key: Option<&'t str>, value: &'t str) -> serde_json::Result<()> {
        let start = offset(self.text, value);
        let key = key.map(|key| offset(self.text, key));
        let span = Span { key, value: start..start + value.len() };
        if let Some(slot) = self.found.get_mut(node) {
            *slot = Some(span);
        }
        if self.tree.is_leaf(node) {
            return Ok(());
        }
        let mut reading = serde_json::Deserializer::from_str(value);
        Inside { scan: self, node }.deserialize(&mut reading).and_then(|()| reading.end())
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
                    let _ = self.scan.value(child, Some(key.get()), value.get());
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
                    element.map(|value| _ = self.scan.value(child, None, value.get())).is_some()
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

#[cfg(test)]
#[path = "tests/json.rs"]
mod tests;

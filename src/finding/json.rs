//! JSON: reads it, and locates values in its text.

use serde_json::Value;

use super::json_text::JsonText;
use super::limits::{DocumentError, Limits};
use super::long_array;
use super::pointer_tree::{NodeId, PointerTree, ROOT, Span};
use super::value::{Meter, Node, TOO_DEEP, TOO_MANY, TWICE, read_json};

/// Levels of nesting that the parser refuses, whatever limit it is given.
const PARSER_DEPTH: usize = 128;

/// Reads a JSON text.
pub(super) fn parse(text: &str, limits: &Limits) -> Result<Value, DocumentError> {
    let levels = limits.max_depth.min(PARSER_DEPTH);
    if let Some(value) = long_array::parse(text, levels) {
        return Ok(value);
    }
    let meter = Meter::new(levels.saturating_sub(1));
    read_json(serde_json::Deserializer::from_str(text), Node::root(&meter))
        .map_err(|error| document_error(text, &error, levels))
}

/// Reads a JSON text that is, or is part of, a call. An object with a repeated key is refused: readers differ on
/// which value counts, so the checked call could differ from the executed one.
pub fn from_json(text: &str) -> serde_json::Result<Value> {
    read_json(serde_json::Deserializer::from_str(text), Node::root(&Meter::new(PARSER_DEPTH)))
}

/// Reads such a text from bytes.
pub fn from_json_bytes(bytes: &[u8]) -> serde_json::Result<Value> {
    read_json(serde_json::Deserializer::from_slice(bytes), Node::root(&Meter::new(PARSER_DEPTH)))
}

fn document_error(text: &str, error: &serde_json::Error, levels: usize) -> DocumentError {
    let start: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let offset = (start + error.column()).saturating_sub(1);
    let shown = error.to_string();
    let cause = shown.rsplit_once(" at line ").map_or(shown.as_str(), |(cause, _)| cause);
    let (what, help) = match cause {
        TOO_DEEP | "recursion limit exceeded" => return DocumentError::too_deep(offset, levels),
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

/// Spans of the nodes of the tree, in one pass over a text that is known to be valid.
pub(super) fn spans(text: &str, tree: &PointerTree<'_>) -> Vec<Option<Span>> {
    let mut scan = Scan { text: JsonText::new(text), tree, found: vec![None; tree.len()] };
    scan.value(ROOT, None);
    scan.found
}

struct Scan<'a> {
    text: JsonText<'a>,
    tree: &'a PointerTree<'a>,
    found: Vec<Option<Span>>,
}

impl Scan<'_> {
    /// Skips the value of a node and records its span. The depth of the tree bounds the recursion.
    fn value(&mut self, node: NodeId, key: Option<usize>) {
        self.text.blanks();
        let start = self.text.at;
        match self.text.peek() {
            Some(b'{') if !self.tree.is_leaf(node) => self.object(node),
            Some(b'[') if !self.tree.is_leaf(node) => self.array(node),
            _ => self.text.skip(),
        }
        if let Some(slot) = self.found.get_mut(node) {
            *slot = Some(Span { key, value: start..self.text.at });
        }
    }

    fn object(&mut self, node: NodeId) {
        self.text.at += 1;
        loop {
            self.text.blanks();
            match self.text.peek() {
                Some(b'"') => {
                    let key = self.text.at;
                    self.text.string();
                    let child = self.text.key(key).and_then(|name| self.tree.member(node, &name));
                    self.text.blanks();
                    self.text.at += usize::from(self.text.peek() == Some(b':'));
                    self.text.blanks();
                    match child {
                        Some(child) => self.value(child, Some(key)),
                        None => self.text.skip(),
                    }
                }
                Some(b',') => self.text.at += 1,
                Some(b'}') => return self.text.at += 1,
                _ => return self.text.give_up(),
            }
        }
    }

    fn array(&mut self, node: NodeId) {
        self.text.at += 1;
        let mut index = 0;
        loop {
            self.text.blanks();
            let start = self.text.at;
            match self.text.peek() {
                Some(b',') => self.text.at += 1,
                Some(b']') => return self.text.at += 1,
                _ => {
                    match self.tree.element(node, index) {
                        Some(child) => self.value(child, None),
                        None => self.text.skip(),
                    }
                    index += 1;
                }
            }
            if self.text.at == start {
                return self.text.give_up();
            }
        }
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;

//! JSON: reads it, and locates values in its text.

use serde::de::DeserializeSeed;
use serde_json::Value;

use super::limits::{DocumentError, Limits};
use super::pointer_tree::{NodeId, PointerTree, ROOT, Span};
use super::value::{Meter, Node, TOO_DEEP, TOO_MANY, TWICE};

/// Levels of nesting that the parser refuses, whatever limit it is given.
const PARSER_DEPTH: usize = 128;

/// Reads a JSON text.
pub(super) fn parse(text: &str, limits: &Limits) -> Result<Value, DocumentError> {
    let levels = limits.max_depth.min(PARSER_DEPTH);
    let meter = Meter::new(levels.saturating_sub(1));
    read(serde_json::Deserializer::from_str(text), &meter)
        .map_err(|error| document_error(text, &error, levels))
}

/// Reads a JSON text that is, or is part of, a call. An object with a repeated key is refused: readers differ on
/// which value counts, so the checked call could differ from the executed one.
pub fn from_json(text: &str) -> serde_json::Result<Value> {
    read(serde_json::Deserializer::from_str(text), &Meter::new(PARSER_DEPTH))
}

/// Reads such a text from bytes.
pub fn from_json_bytes(bytes: &[u8]) -> serde_json::Result<Value> {
    read(serde_json::Deserializer::from_slice(bytes), &Meter::new(PARSER_DEPTH))
}

fn read<'t, R: serde_json::de::Read<'t>>(
    mut parser: serde_json::Deserializer<R>,
    meter: &Meter,
) -> serde_json::Result<Value> {
    let value = Node::root(meter).deserialize(&mut parser)?;
    parser.end().map(|()| value)
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
    let mut scan = Scan { text, bytes: text.as_bytes(), at: 0, tree, found: vec![None; tree.len()] };
    scan.value(ROOT, None);
    scan.found
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    tree: &'a PointerTree<'a>,
    found: Vec<Option<Span>>,
}

impl Scan<'_> {
    /// Skips the value of a node and records its span. The depth of the tree bounds the recursion.
    fn value(&mut self, node: NodeId, key: Option<usize>) {
        self.blanks();
        let start = self.at;
        match self.peek() {
            Some(b'{') if !self.tree.is_leaf(node) => self.object(node),
            Some(b'[') if !self.tree.is_leaf(node) => self.array(node),
            _ => self.skip(),
        }
        if let Some(slot) = self.found.get_mut(node) {
            *slot = Some(Span { key, value: start..self.at });
        }
    }

    fn object(&mut self, node: NodeId) {
        self.at += 1;
        loop {
            self.blanks();
            match self.peek() {
                Some(b'"') => {
                    let key = self.at;
                    self.string();
                    let child = self.key(key).and_then(|name| self.tree.member(node, &name));
                    self.blanks();
                    self.at += usize::from(self.peek() == Some(b':'));
                    self.blanks();
                    match child {
                        Some(child) => self.value(child, Some(key)),
                        None => self.skip(),
                    }
                }
                Some(b',') => self.at += 1,
                Some(b'}') => return self.at += 1,
                _ => return self.give_up(),
            }
        }
    }

    fn array(&mut self, node: NodeId) {
        self.at += 1;
        let mut index = 0;
        loop {
            self.blanks();
            let start = self.at;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => return self.at += 1,
                _ => {
                    match self.tree.element(node, index) {
                        Some(child) => self.value(child, None),
                        None => self.skip(),
                    }
                    index += 1;
                }
            }
            if self.at == start {
                return self.give_up();
            }
        }
    }

    /// The key that was just read, unescaped.
    fn key(&self, start: usize) -> Option<std::borrow::Cow<'_, str>> {
        let quoted = self.text.get(start..self.at)?;
        if quoted.contains('\\') {
            return serde_json::from_str::<String>(quoted).ok().map(Into::into);
        }
        Some(quoted.strip_prefix('"')?.strip_suffix('"')?.into())
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        self.pass_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'));
    }

    fn pass_while(&mut self, passes: impl Fn(u8) -> bool) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(|byte| !passes(*byte)).unwrap_or(rest.len());
    }

    /// Skips one value without looking into it.
    fn skip(&mut self) {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{' | b'[') => self.container(),
            _ => self.pass_while(|byte| !matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t')),
        }
    }

    fn container(&mut self) {
        let mut depth = 0usize;
        loop {
            self.pass_while(|byte| !matches!(byte, b'"' | b'{' | b'[' | b'}' | b']'));
            match self.peek() {
                Some(b'"') => {
                    self.string();
                    continue;
                }
                Some(b'{' | b'[') => depth += 1,
                Some(_) => depth = depth.saturating_sub(1),
                None => return,
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.at += 1;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(end) = rest.find('"') else { return self.give_up() };
            let escapes = rest.bytes().take(end).rev().take_while(|byte| *byte == b'\\').count();
            self.at += end + 1;
            if escapes.is_multiple_of(2) {
                return;
            }
        }
    }

    /// The text is not valid JSON after all: no more spans are found.
    fn give_up(&mut self) {
        self.at = self.bytes.len();
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;

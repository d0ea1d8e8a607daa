//! Reads one source as JSON, YAML or TOML, within limits, and locates values in its text.

use std::sync::Arc;

use serde_json::Value;

use super::document_error::DocumentError;
use super::json_wrappings::unwrapped;
use super::line_columns::Cursor;
use super::pointer_tree::{PointerTree, Span};
use super::{json, toml, yaml};
use crate::finding::{Code, Finding, Place};

/// Most bytes of a source.
pub const MAX_BYTES: u64 = 64 << 20;

/// The notation of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON, also with comments, as JSON Lines, or in a capture of server-sent events.
    Json,
    Yaml,
    Toml,
}

impl Format {
    /// The format of files with this extension, given without the dot.
    pub fn of_extension(extension: &str) -> Option<Format> {
        match extension.to_ascii_lowercase().as_str() {
            "json" | "jsonc" | "jsonl" | "ndjson" | "sse" => Some(Format::Json),
            "yaml" | "yml" => Some(Format::Yaml),
            "toml" => Some(Format::Toml),
            _ => None,
        }
    }
}

/// A source that was read.
#[derive(Clone, Debug)]
pub struct Document {
    /// Name of the file in findings.
    pub file: String,
    /// Its notation.
    pub format: Format,
    /// Its text, without a byte order mark.
    pub text: Arc<str>,
    /// Its content. A YAML stream of several documents is an array of them.
    pub value: Value,
    /// What was wrong in its text, and did not cost the whole of it.
    pub repairs: Vec<Finding>,
}

/// The reason why a source was not read, and its text where that shows the mistake.
#[derive(Clone, Debug)]
pub struct Unread {
    /// The mistake and its place.
    pub finding: Finding,
    /// The source, without a value.
    pub document: Option<Document>,
}

impl From<Finding> for Box<Unread> {
    fn from(finding: Finding) -> Self {
        Box::new(Unread { finding, document: None })
    }
}

impl Document {
    /// Reads a source; on failure the finding has the mistake and its place.
    pub fn parse(file: &str, bytes: Vec<u8>, format: Format) -> Result<Document, Finding> {
        Self::read(file, bytes, format).map_err(|unread| unread.finding)
    }

    /// The same; on failure, the text that shows the mistake stays with the finding.
    pub fn read(file: &str, bytes: Vec<u8>, format: Format) -> Result<Document, Box<Unread>> {
        if bytes.len() as u64 > MAX_BYTES {
            let message = format!("larger than {} MiB", MAX_BYTES >> 20);
            return Err(Finding::new(Code::FileTooLarge, message).at(Place::new(file, "")).into());
        }
        let mut text = decode(file, bytes)?;
        let value = match format {
            Format::Json => json::parse(&text).or_else(|error| match unwrapped(&text) {
                Some(plain) => {
                    text = plain;
                    json::parse(&text)
                }
                None => Err(error),
            }),
            Format::Yaml => yaml::parse(&text),
            Format::Toml => toml::parse(&text),
        };
        let document = |value| Document {
            file: file.to_owned(),
            format,
            text: text.as_str().into(),
            value,
            repairs: Vec::new(),
        };
        value.map(document).map_err(|DocumentError { offset, finding }| {
            let finding = finding.at(located(file, &text, offset));
            Box::new(Unread { finding, document: Some(document(Value::Null)) })
        })
    }

    /// The source text of the values at these JSON Pointers, byte for byte; only JSON has such texts.
    pub fn slices(&self, pointers: &[String]) -> Vec<Option<&str>> {
        if self.format != Format::Json {
            return vec![None; pointers.len()];
        }
        let (tree, ends) = PointerTree::new(pointers.iter().map(String::as_str));
        let spans = self.spans(&tree);
        let slice = |node: usize| self.text.get(spans.get(node)?.as_ref()?.value.clone());
        ends.into_iter().map(|end| end.and_then(slice)).collect()
    }

    /// Spans of the nodes of the tree, by node; `None` for a node that does not exist.
    pub(super) fn spans(&self, tree: &PointerTree<'_>) -> Vec<Option<Span>> {
        match self.format {
            Format::Json => json::spans(&self.text, tree),
            Format::Yaml => yaml::spans(&self.text, tree),
            Format::Toml => toml::spans(&self.text, tree),
        }
    }
}

/// The text without its byte order mark.
fn decode(file: &str, mut bytes: Vec<u8>) -> Result<String, Finding> {
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let byte = bytes.get(offset).copied().unwrap_or_default();
        let valid = String::from_utf8_lossy(bytes.get(..offset).unwrap_or_default());
        let utf16 = bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF");
        let help = if utf16 { "it looks like UTF-16; save it as UTF-8" } else { "save it as UTF-8" };
        let message = format!("not UTF-8 text: byte 0x{byte:02X} at offset {offset}");
        Finding::new(Code::FileUnreadable, message).help(help).at(located(file, &valid, offset))
    })
}

/// The place of a byte offset.
pub(super) fn located(file: &str, text: &str, offset: usize) -> Place {
    let (line, column) = Cursor::new(text).seek(offset);
    Place { line: Some(line), column: Some(column), ..Place::new(file, "") }
}

#[cfg(test)]
#[path = "tests/source.rs"]
mod tests;

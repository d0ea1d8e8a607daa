//! Reads one source as JSON, YAML or TOML, within limits, and locates values in its text.

use std::sync::Arc;

use serde_json::Value;

use super::limits::{DocumentError, Limits};
use super::pointer_tree::{PointerTree, Span};
use super::position::Cursor;
use super::{Code, Finding, Place, json, toml, yaml};

/// The notation of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON, without comments.
    Json,
    /// YAML 1.2.
    Yaml,
    /// TOML.
    Toml,
}

impl Format {
    /// The format of files with this extension, given without the dot.
    pub fn of_extension(extension: &str) -> Option<Format> {
        match extension.to_ascii_lowercase().as_str() {
            "json" => Some(Format::Json),
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
    pub fn parse(file: &str, bytes: Vec<u8>, format: Format, limits: &Limits) -> Result<Document, Finding> {
        Self::read(file, bytes, format, limits).map_err(|unread| unread.finding)
    }

    /// The same; on failure, the text that shows the mistake stays with the finding.
    pub fn read(
        file: &str,
        bytes: Vec<u8>,
        format: Format,
        limits: &Limits,
    ) -> Result<Document, Box<Unread>> {
        if bytes.len() as u64 > limits.max_bytes {
            let message = format!("larger than {}", size(limits.max_bytes));
            let finding = Finding::new(Code::FileTooLarge, message).at(Place::new(file, ""));
            return Err(finding.help("split it into several files").into());
        }
        let text = decode(bytes).map_err(|(error, line, column)| error.finding(file, line, column))?;
        let value = match format {
            Format::Json => json::parse(&text, limits),
            Format::Yaml => yaml::parse(&text, limits),
            Format::Toml => toml::parse(&text, limits),
        };
        let mut document = Document { file: file.to_owned(), format, text: text.into(), value: Value::Null };
        match value {
            Ok(value) => {
                document.value = value;
                Ok(document)
            }
            Err(error) => {
                let (line, column) = Cursor::new(&document.text).seek(error.offset);
                let finding = error.finding(file, line, column);
                Err(Box::new(Unread { finding, document: Some(document) }))
            }
        }
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

/// The text without its byte order mark, or the mistake with its line and column.
fn decode(mut bytes: Vec<u8>) -> Result<String, (DocumentError, usize, usize)> {
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let byte = bytes.get(offset).copied().unwrap_or_default();
        let valid = String::from_utf8_lossy(bytes.get(..offset).unwrap_or_default());
        let (line, column) = Cursor::new(&valid).seek(offset);
        let utf16 = bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF");
        let what = if utf16 { "it looks like UTF-16; save it as UTF-8" } else { "save it as UTF-8" };
        let fault = DocumentError::unreadable(
            offset,
            format!("not UTF-8 text: byte 0x{byte:02X} at offset {offset}"),
        );
        (fault.help(what), line, column)
    })
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

#[cfg(test)]
#[path = "tests/document.rs"]
mod tests;

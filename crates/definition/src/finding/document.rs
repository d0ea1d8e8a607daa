//! Reads one source as JSON, YAML or TOML, within limits, and locates values in its text.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::json::{MAX_VALUES, TOO_DEEP, TOO_MANY, unwrapped};
use super::pointer::{Cursor, PointerTree, Span};
use super::{Code, Finding, Place, Severity, json, toml, yaml};

/// Most bytes of a source.
pub const MAX_BYTES: u64 = 64 << 20;

/// The notation of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON, also with comments, as JSON Lines, or in a capture of server-sent events.
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
        let mut document = Document {
            file: file.to_owned(),
            format,
            text: text.into(),
            value: Value::Null,
            repairs: Vec::new(),
        };
        match value {
            Ok(value) => {
                document.value = value;
                Ok(document)
            }
            Err(DocumentError { offset, finding }) => {
                let finding = finding.at(located(file, &document.text, offset));
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
fn located(file: &str, text: &str, offset: usize) -> Place {
    let (line, column) = Cursor::new(text).seek(offset);
    Place { line: Some(line), column: Some(column), ..Place::new(file, "") }
}

// Opens a file of the user as a document.

/// Reads and parses a file. `shown` is its name in findings; the format follows from its extension.
pub fn open(path: &Path, shown: &str) -> Result<Document, Box<Unread>> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let format = Format::of_extension(&extension).ok_or_else(|| {
        if is_database(path) {
            let message =
                format!("{shown} is a database, such as toolcrib's state, and holds no definitions");
            let help = "name the catalog; its state is `url` in `[state]`, or --state";
            return Finding::new(Code::OwnOutput, message).help(help).at(Place::new(shown, ""));
        }
        let message = format!("cannot tell the format of {shown} by its name");
        Finding::new(Code::FileUnreadable, message)
            .help("use a name that ends in .json, .jsonl, .sse, .yaml, .yml or .toml")
            .at(Place::new(shown, ""))
    })?;
    let bytes = read(path, MAX_BYTES).map_err(|error| {
        Finding::new(Code::FileUnreadable, format!("cannot read {shown}: {error}")).at(Place::new(shown, ""))
    })?;
    let unread = match Document::read(shown, bytes, format) {
        Err(unread) if format == Format::Json => unread,
        document => return document,
    };
    let mended = unread.document.as_ref().and_then(|document| json::mended(&document.text));
    let Some((text, value, notes)) = mended else { return Err(unread) };
    let finding = |(offset, code, message)| {
        let mut finding = Finding::new(code, message).at(located(shown, &text, offset));
        finding.severity = finding.severity.min(Severity::Warning);
        finding
    };
    let repairs = notes.into_iter().map(finding).collect();
    Ok(Document { file: shown.to_owned(), format, text: text.into(), value, repairs })
}

fn is_database(path: &Path) -> bool {
    const HEADER: &[u8] = b"SQLite format 3\0";
    read(path, HEADER.len() as u64).is_ok_and(|bytes| bytes.starts_with(HEADER))
}

/// Reads at most one byte over the limit, so that a file that grows, or never ends, is refused all the same.
fn read(path: &Path, max_bytes: u64) -> std::io::Result<Vec<u8>> {
    let file = std::fs::File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(std::io::Error::other("it is a folder"));
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(max_bytes + 1) as usize);
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

// The fault that ends the reading of a source, in any format.

/// Reason why a text cannot be read, with its byte offset.
#[derive(Debug)]
pub(super) struct DocumentError {
    pub(super) offset: usize,
    finding: Finding,
}

impl DocumentError {
    /// The text is not valid in its format.
    pub(super) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, finding: Finding::new(Code::FileInvalid, message) }
    }

    /// The same fault in a longer text, of which the text before is left out.
    pub(super) fn behind(self, before: usize) -> Self {
        Self { offset: self.offset + before, ..self }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Self {
        Self { finding: self.finding.help(help), ..self }
    }

    /// There are `levels` or more of nesting.
    pub(super) fn too_deep(offset: usize, levels: usize) -> Self {
        Self::new(offset, format!("{TOO_DEEP}: {levels} levels or more"))
    }

    /// There are more values than a catalog needs.
    pub(super) fn too_many(offset: usize) -> Self {
        Self::too_large(offset, format!("{TOO_MANY}: more than {MAX_VALUES}"))
    }

    /// The text holds more bytes than one source may have.
    pub(super) fn too_large(offset: usize, message: String) -> Self {
        Self { offset, finding: Finding::new(Code::FileTooLarge, message) }
    }
}

#[cfg(test)]
#[path = "tests/document.rs"]
mod tests;

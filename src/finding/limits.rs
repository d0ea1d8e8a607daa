//! Limits of a source, and the fault that ends its reading, in any format.

use super::value::{MAX_VALUES, TOO_DEEP, TOO_MANY};
use super::{Code, Finding, Place};

/// Limits of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes.
    pub max_bytes: u64,
    /// Levels of nesting at which a source is refused; at most 128, and for TOML 80.
    pub max_depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_bytes: 64 << 20, max_depth: 128 }
    }
}

/// Reason why a text cannot be read, with its byte offset.
#[derive(Debug)]
pub(super) struct DocumentError {
    code: Code,
    pub(super) offset: usize,
    message: String,
    help: Option<String>,
}

impl DocumentError {
    /// The text is not valid in its format.
    pub(super) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { code: Code::FileInvalid, offset, message: message.into(), help: None }
    }

    /// The bytes are no text.
    pub(super) fn unreadable(offset: usize, message: String) -> Self {
        Self { code: Code::FileUnreadable, ..Self::new(offset, message) }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
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
        let fault = Self { code: Code::FileTooLarge, ..Self::new(offset, message) };
        fault.help("split it into several files")
    }

    pub(super) fn finding(self, file: &str, line: usize, column: usize) -> Finding {
        let place = Place { line: Some(line), column: Some(column), ..Place::new(file, "") };
        Finding { help: self.help, ..Finding::new(self.code, self.message).at(place) }
    }
}

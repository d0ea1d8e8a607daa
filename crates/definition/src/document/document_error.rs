//! The fault that ends the reading of a source, in any format.

use super::any_value::{MAX_VALUES, TOO_DEEP, TOO_MANY};
use crate::finding::{Code, Finding};

/// Reason why a text cannot be read, with its byte offset.
#[derive(Debug)]
pub(super) struct DocumentError {
    pub(super) offset: usize,
    pub(super) finding: Finding,
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

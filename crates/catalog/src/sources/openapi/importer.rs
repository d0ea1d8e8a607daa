//! The state of one import.

use std::collections::HashSet;

use serde_json::Value;

use super::bundle::Bundle;
use super::document::Document;
use super::flatten::Memo;
use super::report::Loss;
use crate::sources::unique_names::Names;
use toolcrib_definition::Definition;

/// One operation of a document.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The operation as a tool.
    pub definition: Definition,
    /// JSON Pointer to the operation in the document, such as `/paths/~1files~1{id}/get`.
    pub pointer: String,
    /// Whether some of its arguments could not be read.
    pub lost_arguments: bool,
}

/// The state of one import.
pub(super) struct Importer<'a, 'd> {
    pub(super) document: &'a Document<'d>,
    pub(super) bundle: Bundle<'a, 'd>,
    /// The title of the API.
    pub(super) title: Option<String>,
    pub(super) plain: Memo,
    /// All names, including the names of later operations.
    pub(super) names: Names,
    /// The operationIds that are taken.
    pub(super) ids: HashSet<String>,
    /// Places and names of API keys, which are configuration and never arguments.
    pub(super) secrets: HashSet<(String, String)>,
    /// Memory that is left for the current tool.
    pub(super) budget: usize,
}

impl<'d> Importer<'_, 'd> {
    /// Follows the `$ref`s of a value; `None` after reporting one that cannot be resolved.
    pub(super) fn follow(
        &mut self,
        value: &'d Value,
        pointer: String,
        loss: Loss,
    ) -> Option<(&'d Value, String)> {
        self.document.follow(value, pointer, loss, &mut self.bundle.report)
    }
}

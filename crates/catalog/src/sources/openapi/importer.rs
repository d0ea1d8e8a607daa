//! The state of one import.

use std::collections::HashSet;

use super::bundle::Bundle;
use super::document::Document;
use super::flatten::Memo;
use super::report::Report;
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
    pub(super) report: Report,
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

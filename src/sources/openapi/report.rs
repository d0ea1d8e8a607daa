//! The report about one document.

use std::collections::HashSet;

use serde_json::Value;

use crate::finding::{Code, Finding, Place, plain_meaning, pointer_join};
use crate::tool::clean_line;

/// The findings about one document, each place and message once, however many operations share it.
pub(super) struct Report {
    file: String,
    /// The operation that is being read.
    pub(super) tool: Option<String>,
    seen: HashSet<(Code, String, String)>,
    pub(super) findings: Vec<Finding>,
}

impl Report {
    pub(super) fn new(file: &str) -> Self {
        Self { file: file.to_string(), tool: None, seen: HashSet::new(), findings: Vec::new() }
    }

    pub(super) fn add(&mut self, code: Code, pointer: &str, message: impl Into<String>) {
        self.add_with_help(code, pointer, message.into(), None);
    }

    /// Reports a value of the wrong kind in `field` of the object at `pointer`.
    pub(super) fn invalid(&mut self, pointer: &str, field: &str, message: impl Into<String>) {
        self.add(Code::FieldInvalid, &pointer_join(pointer, field), message);
    }

    /// Reports a value of the wrong kind that was read as the one thing that it can mean.
    pub(super) fn repaired(&mut self, pointer: &str, field: &str, read: &Value) {
        let message = format!("`{}` has the wrong kind of value; it was read as {read}", quote(field));
        self.add(Code::FieldRepaired, &pointer_join(pointer, field), message);
    }

    /// The boolean that the value of a field says. A text that says so is a mistake with one meaning.
    pub(super) fn flag(&mut self, value: Option<&Value>, field: &str, pointer: &str) -> Option<bool> {
        let value = value.filter(|value| !value.is_null())?;
        let flag = plain_meaning::flag(value);
        match flag {
            Some(_) if value.is_boolean() => {}
            Some(flag) => self.repaired(pointer, field, &flag.into()),
            None => self.invalid(pointer, field, format!("`{field}` is not true or false; it was left out")),
        }
        flag
    }

    /// Reports a `$ref`, in the object at `pointer`, to nothing.
    pub(super) fn broken(&mut self, reference: &str, pointer: &str) {
        let message = format!("$ref `{}` points nowhere; the place accepts anything", quote(reference));
        self.add(Code::SchemaReferenceBroken, &pointer_join(pointer, "$ref"), message);
    }

    /// Reports a `$ref`, in the object at `pointer`, to another document.
    pub(super) fn remote(&mut self, reference: &str, pointer: &str) {
        let message =
            format!("$ref `{}` points outside this document; the place accepts anything", quote(reference));
        let help = "bundle the document into one file first, with an OpenAPI bundler, and import the result";
        let pointer = pointer_join(pointer, "$ref");
        self.add_with_help(Code::SchemaReferenceRemote, &pointer, message, Some(help));
    }

    fn add_with_help(&mut self, code: Code, pointer: &str, message: String, help: Option<&str>) {
        if !self.seen.insert((code, pointer.to_string(), message.clone())) {
            return;
        }
        let mut finding = Finding::new(code, message).at(Place::new(&self.file, pointer));
        finding.tool = self.tool.clone();
        finding.help = help.map(str::to_string);
        self.findings.push(finding);
    }
}

/// An untrusted text, short enough for a message.
pub(super) fn quote(text: &str) -> String {
    let line = clean_line(text);
    match line.char_indices().nth(80) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

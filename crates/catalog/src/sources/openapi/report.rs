//! The findings about one document.

use std::collections::HashSet;

use serde_json::{Map, Value};

use toolcrib_definition::clean_line;
use toolcrib_definition::document::{plain_flag, pointer_join};
use toolcrib_definition::finding::{Code, Finding, Place, Severity, nearest};

/// What is missing from a tool because of a `$ref` without a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// Nothing that a call needs.
    Nothing,
    /// A part of a schema, in whose place any value is accepted.
    Part,
    /// The whole schema of a parameter or body, in whose place any value is accepted.
    Schema,
    /// Arguments. The tool is documented, and cannot be called.
    Arguments,
}

/// The findings about one document, each place and message once, however many operations share it.
pub(super) struct Report {
    file: String,
    /// The operation that is being read.
    pub(super) tool: Option<String>,
    /// Whether arguments of that operation are missing.
    pub(super) lost_arguments: bool,
    seen: HashSet<(Code, String, String)>,
    pub(super) findings: Vec<Finding>,
}

impl Report {
    /// A report that begins with these findings.
    pub(super) fn new(file: &str, findings: Vec<Finding>) -> Self {
        Self { file: file.to_string(), tool: None, lost_arguments: false, seen: HashSet::new(), findings }
    }

    pub(super) fn add(&mut self, code: Code, pointer: &str, message: impl Into<String>) {
        self.add_with_help(code, pointer, message.into(), None);
    }

    /// Reports a value of the wrong kind in `field` of the object at `pointer`.
    pub(super) fn invalid(&mut self, pointer: &str, field: &str, message: impl Into<String>) {
        self.add(Code::FieldInvalid, &pointer_join(pointer, field), message);
    }

    /// Reports a definition or an argument that was left out.
    pub(super) fn left_out(&mut self, pointer: &str, what: &str) {
        self.add(Code::DefinitionInvalid, pointer, format!("{what}; it was left out"));
    }

    /// Reports a value of the wrong kind that was read as the one thing that it can mean.
    pub(super) fn repaired(&mut self, pointer: &str, field: &str, read: &Value) {
        let message = format!("`{}` has the wrong kind of value; it was read as {read}", quote(field));
        self.add(Code::FieldRepaired, &pointer_join(pointer, field), message);
    }

    /// The boolean that the value of a field says. A text that says so is a mistake with one meaning.
    pub(super) fn flag(&mut self, value: Option<&Value>, field: &str, pointer: &str) -> Option<bool> {
        let value = value.filter(|value| !value.is_null())?;
        let flag = plain_flag(value);
        match flag {
            Some(_) if value.is_boolean() => {}
            Some(flag) => self.repaired(pointer, field, &flag.into()),
            None => self.invalid(pointer, field, format!("`{field}` is not true or false; it was left out")),
        }
        flag
    }

    /// Warns of fields that an object of the document does not have.
    pub(super) fn unknown_fields(&mut self, object: &Map<String, Value>, known: &[&str], pointer: &str) {
        let is_known = |field: &str| known.contains(&field) || field.starts_with("x-") || field == "$ref";
        for field in object.keys().filter(|field| !is_known(field)) {
            let message = format!("`{}` is not read here", quote(field));
            let near =
                nearest(field, known.iter().copied()).first().map(|near| format!("did you mean `{near}`?"));
            let help = near.unwrap_or_else(|| format!("known are {}", known.join(", ")));
            self.warn(Code::FieldUnknown, &pointer_join(pointer, field), message, &help);
        }
    }

    /// Adds a finding as a warning.
    pub(super) fn warn(&mut self, code: Code, pointer: &str, message: String, help: &str) {
        let is_first = self.add_with_help(code, pointer, message, Some(help));
        if let Some(finding) = self.findings.last_mut()
            && is_first
        {
            finding.severity = Severity::Warning;
        }
    }

    /// Warns that a header is no argument.
    pub(super) fn reserved_header(&mut self, name: &str, pointer: &str) {
        let message = format!("the header `{}` is never an argument; calls go without it", quote(name));
        let help = "if calls need it, write it into the `headers` of the server in toolcrib.toml";
        self.warn(Code::FieldInvalid, pointer, message, help);
    }

    /// Reports a `$ref`, in the object at `pointer`, to nothing.
    pub(super) fn broken(&mut self, reference: &str, pointer: &str, loss: Loss) {
        let message = format!("$ref `{}` points nowhere", quote(reference));
        self.unresolved(Code::SchemaReferenceBroken, &pointer_join(pointer, "$ref"), &message, None, loss);
    }

    /// Reports a `$ref`, in the object at `pointer`, to another document.
    pub(super) fn remote(&mut self, reference: &str, pointer: &str, loss: Loss) {
        let message = format!("$ref `{}` points outside this document", quote(reference));
        let help = "bundle the document into one file first, with an OpenAPI bundler, and import the result";
        let pointer = pointer_join(pointer, "$ref");
        self.unresolved(Code::SchemaReferenceRemote, &pointer, &message, Some(help), loss);
    }

    /// Reports a `$ref` that cannot be resolved. It is an error if the tool lacks arguments, or their schema.
    pub(super) fn unresolved(
        &mut self,
        code: Code,
        pointer: &str,
        message: &str,
        help: Option<&str>,
        loss: Loss,
    ) {
        let what = match loss {
            Loss::Nothing => "it was left out",
            Loss::Part | Loss::Schema => "the place accepts anything",
            Loss::Arguments => "arguments are missing",
        };
        self.lost_arguments |= loss == Loss::Arguments;
        let is_first = self.add_with_help(code, pointer, format!("{message}; {what}"), help);
        let is_error = matches!(loss, Loss::Schema | Loss::Arguments);
        if let Some(finding) = self.findings.last_mut()
            && is_first
            && is_error
        {
            finding.severity = Severity::Error;
        }
    }

    fn add_with_help(&mut self, code: Code, pointer: &str, message: String, help: Option<&str>) -> bool {
        let is_first = self.seen.insert((code, pointer.to_string(), message.clone()));
        if is_first {
            let mut finding = Finding::new(code, message).at(Place::new(&self.file, pointer));
            finding.tool = self.tool.clone();
            finding.help = help.map(str::to_string);
            self.findings.push(finding);
        }
        is_first
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

//! The operations of a document, found but not yet read.

use serde_json::{Map, Value};

use super::document::Document;
use super::report::{Report, quote};
use crate::finding::{Code, pointer_join, pointer_push};

const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];
/// Methods that ask about an endpoint rather than use it.
const UNCALLED: [&str; 2] = ["options", "trace"];
const OTHER_FIELDS: [&str; 6] =
    ["$ref", "summary", "description", "servers", "parameters", "additionalOperations"];

/// An operation as it stands in the document.
pub(super) struct Found<'d> {
    /// The method, in capitals.
    pub(super) method: String,
    pub(super) path: &'d str,
    pub(super) operation: &'d Map<String, Value>,
    pub(super) pointer: String,
    /// The path item it belongs to.
    pub(super) item: &'d Map<String, Value>,
    pub(super) item_pointer: String,
}

impl Found<'_> {
    /// The `operationId`, unless it is blank.
    pub(super) fn id(&self) -> Option<&str> {
        self.operation.get("operationId").and_then(Value::as_str).filter(|id| !id.trim().is_empty())
    }
}

/// All operations, in the order of the document.
pub(super) fn operations<'d>(document: &Document<'d>, report: &mut Report) -> Vec<Found<'d>> {
    let mut found = Vec::new();
    let Some(paths) = document.root.get("paths").and_then(Value::as_object) else {
        report.add(Code::DefinitionInvalid, "/paths", "`paths` is not an object; there are no operations");
        return found;
    };
    for (path, item) in paths.iter().filter(|(path, _)| !path.starts_with("x-")) {
        let pointer = pointer_join("/paths", path);
        let Some(own) = item.as_object() else {
            report.add(Code::DefinitionInvalid, &pointer, "a path item is an object; it was left out");
            continue;
        };
        collect(path, own, pointer.clone(), report, &mut found);
        if own.contains_key("$ref")
            && let Some((target, target_pointer)) = document.follow(item, pointer, report)
        {
            match target.as_object() {
                Some(shared) => collect(path, shared, target_pointer, report, &mut found),
                None => report.add(
                    Code::DefinitionInvalid,
                    &target_pointer,
                    "a path item is an object; it was left out",
                ),
            }
        }
    }
    found
}

fn collect<'d>(
    path: &'d str,
    item: &'d Map<String, Value>,
    item_pointer: String,
    report: &mut Report,
    found: &mut Vec<Found<'d>>,
) {
    let more = item.get("additionalOperations").and_then(Value::as_object);
    let usual = item.iter().map(|(name, operation)| (None, name, operation));
    let unusual =
        more.into_iter().flatten().map(|(name, operation)| (Some("additionalOperations"), name, operation));
    for (under, method, operation) in usual.chain(unusual) {
        let is_method = under.is_some() || METHODS.contains(&method.to_ascii_lowercase().as_str());
        if !is_method && (method.starts_with("x-") || OTHER_FIELDS.contains(&method.as_str())) {
            continue;
        }
        let mut pointer = item_pointer.clone();
        under.iter().for_each(|under| pointer_push(&mut pointer, under));
        pointer_push(&mut pointer, method);
        match operation.as_object() {
            _ if !is_method => {
                let message = format!("`{}` is not an HTTP method; it was left out", quote(method));
                report.add(Code::DefinitionInvalid, &pointer, message);
            }
            None => {
                report.add(Code::DefinitionInvalid, &pointer, "an operation is an object; it was left out")
            }
            Some(_) if UNCALLED.contains(&method.to_ascii_lowercase().as_str()) => {
                let message = format!(
                    "{} asks about {path} rather than doing something; it is no tool",
                    method.to_ascii_uppercase()
                );
                report.add(Code::OperationSkipped, &pointer, message);
            }
            Some(operation) => {
                let item_pointer = item_pointer.clone();
                found.push(Found {
                    method: method.to_ascii_uppercase(),
                    path,
                    operation,
                    pointer,
                    item,
                    item_pointer,
                });
            }
        }
    }
}

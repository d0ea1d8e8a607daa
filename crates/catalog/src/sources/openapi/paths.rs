//! Finds the operations of a document, without reading them yet.

use std::rc::Rc;

use serde_json::{Map, Value};

use super::address::{base, first_server, joined};
use super::document::Document;
use super::report::{Loss, Report, quote};
use toolcrib_definition::document::{pointer_join, pointer_push};
use toolcrib_definition::finding::Code;

const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// Methods that ask about an endpoint rather than use it.
const UNCALLED: [&str; 2] = ["options", "trace"];

const OTHER_FIELDS: [&str; 6] =
    ["$ref", "summary", "description", "servers", "parameters", "additionalOperations"];

/// An operation as the document has it.
pub(super) struct Found<'d> {
    /// The method, in capitals.
    pub(super) method: String,
    pub(super) path: &'d str,
    pub(super) operation: &'d Map<String, Value>,
    pub(super) pointer: String,
    /// The path item that it belongs to, after the target of its `$ref`.
    pub(super) items: Rc<[Item<'d>]>,
}

/// A path item, and its pointer.
pub(super) type Item<'d> = (&'d Map<String, Value>, String);

impl Found<'_> {
    /// The `operationId`, unless it is blank.
    pub(super) fn id(&self) -> Option<&str> {
        self.operation.get("operationId").and_then(Value::as_str).filter(|id| !id.trim().is_empty())
    }

    /// The address of its first server, if it differs from the document's first server.
    pub(super) fn address(&self, root: &Value) -> Option<String> {
        let owners = [self.operation].into_iter().chain(self.items.iter().rev().map(|(item, _)| *item));
        let own = owners.into_iter().find_map(|owner| first_server(owner.get("servers")?))?;
        let usual = root.get("servers").and_then(first_server);
        let own = base(root).and_then(|base| joined(&base, &own)).unwrap_or(own);
        (usual.as_ref() != Some(&own)).then_some(own)
    }
}

/// Whether an object maps paths to operations, or lists such a map's items.
pub(in super::super) fn is_path_map(object: &Map<String, Value>) -> bool {
    let has_method = |item: &Value| {
        let methods =
            item.as_object().into_iter().flatten().filter(|(key, _)| METHODS.contains(&key.as_str()));
        methods.map(|(_, operation)| operation).any(|operation| operation.get("responses").is_some())
    };
    object.iter().any(|(path, item)| path.starts_with('/') && has_method(item))
        || object.contains_key("path") && has_method(&object.clone().into())
}

/// All operations, in the order of the document.
pub(super) fn operations<'d>(document: &Document<'d>, report: &mut Report) -> Vec<Found<'d>> {
    let mut found = Vec::new();
    let paths = document.root.get("paths").unwrap_or(&Value::Null);
    let Some((paths, within)) = followed_alone(document, paths, "/paths".into(), report) else {
        return found;
    };
    let Some(paths) = paths.as_object() else {
        report.add(Code::DefinitionInvalid, &within, "`paths` is not an object; there are no operations");
        return found;
    };
    for (path, item) in paths.iter().filter(|(path, _)| !path.starts_with("x-")) {
        let pointer = pointer_join(&within, path);
        let own = [(item, pointer.clone())];
        let target = item.get("$ref").and_then(|_| document.follow(item, pointer, Loss::Arguments, report));
        let mut object = |(value, pointer): (&'d Value, String)| {
            if !value.is_object() {
                let message = "a path item is an object; it was left out";
                report.add(Code::DefinitionInvalid, &pointer, message);
            }
            Some((value.as_object()?, pointer))
        };
        let items: Rc<[Item<'d>]> = target.into_iter().chain(own).filter_map(&mut object).collect();
        for index in (0..items.len()).rev() {
            collect(document, path, &items, index, report, &mut found);
        }
    }
    found
}

/// The target of a `$ref`. Fields next to the `$ref` are not read.
fn followed_alone<'d>(
    document: &Document<'d>,
    value: &'d Value,
    pointer: String,
    report: &mut Report,
) -> Option<(&'d Value, String)> {
    if value.get("$ref").is_some_and(Value::is_string) {
        let is_lost = |field: &&String| {
            !field.starts_with("x-") && !["$ref", "summary", "description"].contains(&field.as_str())
        };
        let others = value.as_object().into_iter().flat_map(Map::keys);
        for field in others.filter(is_lost) {
            let message = format!("`{}` is next to a `$ref`, and was left out", quote(field));
            report.invalid(&pointer, field, message);
        }
    }
    document.follow(value, pointer, Loss::Arguments, report)
}

/// Adds the operations of one path item. An operation of the path item itself replaces the same one of its `$ref`.
fn collect<'d>(
    document: &Document<'d>,
    path: &'d str,
    items: &Rc<[Item<'d>]>,
    index: usize,
    report: &mut Report,
    found: &mut Vec<Found<'d>>,
) {
    let Some((item, item_pointer)) = items.get(index) else { return };
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
        if !is_method {
            let message = format!("`{}` is not an HTTP method; it was left out", quote(method));
            report.add(Code::DefinitionInvalid, &pointer, message);
            continue;
        }
        let is_replaced = |(item, _): &Item<'_>| under.is_none() && item.contains_key(method);
        if items.iter().skip(index + 1).any(is_replaced) {
            let message = "the path item that refers to this one has the same operation; it was left out";
            report.add(Code::FieldInvalid, &pointer, message);
            continue;
        }
        let followed = followed_alone(document, operation, pointer, report);
        let Some((operation, pointer)) = followed else { continue };
        match operation.as_object() {
            None => {
                report.add(Code::DefinitionInvalid, &pointer, "an operation is an object; it was left out")
            }
            Some(_) if UNCALLED.contains(&method.to_ascii_lowercase().as_str()) => {
                let message = format!(
                    "{} asks about {path} rather than doing something; it is not a tool",
                    method.to_ascii_uppercase()
                );
                report.add(Code::OperationSkipped, &pointer, message);
            }
            Some(operation) => {
                let method = method.to_ascii_uppercase();
                let items = Rc::clone(items);
                found.push(Found { method, path, operation, pointer, items });
            }
        }
    }
}

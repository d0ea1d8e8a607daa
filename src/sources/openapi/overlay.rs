//! OpenAPI Overlay 1.0 and 1.1: actions that change an OpenAPI document before it is read
//! (<https://spec.openapis.org/overlay/v1.1.0.html>).
//!
//! An action is applied to all nodes that it selects, or to none of them. One that cannot be applied is reported, and the
//! others are.

use std::cmp::Ordering;

use serde_json::Value;
use serde_json_path::JsonPath;

use super::{TOTAL_BUDGET, weight};
use crate::finding::{Code, Finding, Limits, Place, pointer_join};
use crate::tool::clean_line;

/// Whether a value is an Overlay document.
pub(in crate::sources) fn is_overlay(value: &Value) -> bool {
    value.get("overlay").is_some_and(Value::is_string) && value.get("actions").is_some_and(Value::is_array)
}

/// Applies an overlay, which is in `file`, to a document.
pub(in crate::sources) fn apply(overlay: &Value, file: &str, document: &mut Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !is_overlay(overlay) {
        let message = "no Overlay document: it has `overlay`, a version, and `actions`, a list";
        findings.push(invalid(message.into(), file, String::new()));
    }
    let mut room = TOTAL_BUDGET.saturating_sub(weight(document));
    let actions = overlay.get("actions").and_then(Value::as_array);
    for (index, action) in actions.into_iter().flatten().enumerate() {
        let place = pointer_join("/actions", index);
        match act(action, document, &mut room) {
            Ok(0) => {
                let target = clean_line(action["target"].as_str().unwrap_or_default());
                let message = format!("`{target}` selects nothing in the document");
                let finding = Finding::new(Code::OpenapiOverlayUnused, message);
                findings.push(finding.at(Place::new(file, pointer_join(&place, "target"))));
            }
            Ok(_) => {}
            Err((field, message)) => findings.push(invalid(message, file, pointer_join(&place, field))),
        }
    }
    findings
}

fn invalid(message: String, file: &str, pointer: String) -> Finding {
    Finding::new(Code::OpenapiOverlayInvalid, message).at(Place::new(file, pointer))
}

/// The field that is wrong, and why.
type Mistake = (&'static str, String);

/// Applies an action; the number of nodes that it selects.
fn act(action: &Value, document: &mut Value, room: &mut usize) -> Result<usize, Mistake> {
    let target = path(action, "target")?.ok_or(("target", "an action needs a `target`".to_string()))?;
    let mut nodes = selected(&target, document);
    let is_removal = action.get("remove").and_then(Value::as_bool).unwrap_or(false);
    if is_removal {
        // Later items of a list first, so that the pointers of the others hold.
        nodes.reverse();
        nodes.iter().for_each(|node| remove(document, node));
        return Ok(nodes.len());
    }
    let copied = match path(action, "copy")? {
        Some(copy) => match selected(&copy, document).as_slice() {
            [node] => document.pointer(node).cloned(),
            found => return Err(("copy", format!("`copy` selects one node, and not {}", found.len()))),
        },
        None => None,
    };
    let field = if copied.is_some() { "copy" } else { "update" };
    let update = copied.as_ref().or_else(|| action.get("update"));
    let update = update.ok_or(("target", "an action has `update`, `remove: true` or `copy`".to_string()))?;
    let misfit = nodes.iter().find(|node| document.pointer(node).is_some_and(|node| !fits(node, update)));
    if let Some(node) = misfit {
        let node = if node.is_empty() { "/" } else { node };
        return Err((field, format!("the value is of another kind than {}", clean_line(node))));
    }
    let added = weight(update).saturating_mul(nodes.len());
    *room = room.checked_sub(added).ok_or((field, "the document would be too large".to_string()))?;
    let deepest = Limits::default().max_depth.saturating_sub(depth(update));
    if nodes.iter().any(|node| node.matches('/').count() >= deepest) {
        return Err((field, "the document would be nested too deeply".into()));
    }
    for node in &nodes {
        if let Some(node) = document.pointer_mut(node) {
            merge(node, update);
        }
    }
    Ok(nodes.len())
}

/// A field of an action that is a path.
fn path(action: &Value, field: &'static str) -> Result<Option<JsonPath>, Mistake> {
    match action.get(field) {
        None => Ok(None),
        Some(Value::String(path)) => JsonPath::parse(path)
            .map(Some)
            .map_err(|error| (field, format!("no JSONPath of RFC 9535: {}", clean_line(&error.to_string())))),
        Some(_) => Err((field, format!("`{field}` is a JSONPath, a string"))),
    }
}

/// The pointers of the nodes that a path selects, each once, in the order of the document.
fn selected(path: &JsonPath, document: &Value) -> Vec<String> {
    let nodes = path.query_located(document).dedup();
    let mut paths: Vec<_> = nodes.locations().collect();
    paths.sort_by(|one, other| one.partial_cmp(other).unwrap_or(Ordering::Equal));
    paths.iter().map(|path| path.to_json_pointer()).collect()
}

fn remove(document: &mut Value, node: &str) {
    let Some((above, last)) = node.rsplit_once('/') else { return };
    match document.pointer_mut(above) {
        Some(Value::Object(object)) => drop(object.shift_remove(&last.replace("~1", "/").replace("~0", "~"))),
        Some(Value::Array(items)) => {
            let index = last.parse().ok().filter(|index| *index < items.len());
            drop(index.map(|index: usize| items.remove(index)));
        }
        _ => {}
    }
}

fn is_primitive(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// Whether a value can be merged into a selected node. A list takes an item of any kind.
fn fits(node: &Value, update: &Value) -> bool {
    node.is_array() || fits_field(node, update)
}

/// Whether a field can be merged. A key without a value in YAML adds nothing, as in the examples of the specification.
fn fits_field(field: &Value, update: &Value) -> bool {
    match (field, update) {
        (Value::Object(field), Value::Object(update)) => {
            update.iter().all(|(key, update)| field.get(key).is_none_or(|field| fits_field(field, update)))
        }
        (Value::Array(_), Value::Array(_)) | (_, Value::Null) => true,
        (field, update) => is_primitive(field) && is_primitive(update),
    }
}

fn merge(node: &mut Value, update: &Value) {
    match (node, update) {
        (Value::Array(items), Value::Array(update)) => items.extend(update.iter().cloned()),
        (Value::Array(items), update) => items.push(update.clone()),
        (node, update) => merge_field(node, update),
    }
}

fn merge_field(field: &mut Value, update: &Value) {
    match (field, update) {
        (Value::Object(field), Value::Object(update)) => {
            for (key, update) in update {
                match field.get_mut(key) {
                    Some(field) => merge_field(field, update),
                    None => drop(field.insert(key.clone(), update.clone())),
                }
            }
        }
        (Value::Array(items), Value::Array(update)) => items.extend(update.iter().cloned()),
        (Value::Object(_) | Value::Array(_), _) => {}
        (field, update) => *field = update.clone(),
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Object(object) => 1 + object.values().map(depth).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        _ => 1,
    }
}

//! OpenAPI Overlay 1.0 and 1.1: actions that change an OpenAPI document before it is read
//! (<https://spec.openapis.org/overlay/v1.1.0.html>).
//!
//! An action is applied to all nodes that it selects, or to none of them. One that cannot be applied is reported, and the
//! others are.

mod steps;

use std::cmp::Ordering;

use serde_json::Value;
use serde_json_path::JsonPath;

use super::{TOTAL_BUDGET, weight};
use crate::finding::{Code, Finding, Limits, Place, pointer_join};
use crate::tool::{clean_line, quoted};
use steps::{MAX_STEPS, Steps};

/// The versions of the format; each has the same actions in all of its patches.
const VERSIONS: [&str; 2] = ["1.0", "1.1"];
/// Most values that an action may select: with their places they take some hundred bytes each.
const MAX_NODES: usize = 200_000;

/// Whether a value is an Overlay document.
pub(in crate::sources) fn is_overlay(value: &Value) -> bool {
    value.get("overlay").is_some_and(Value::is_string) && value.get("actions").is_some_and(Value::is_array)
}

/// The field of an overlay because of which no action of it can be understood, as a pointer, and the reason.
pub(in crate::sources) fn mistake(overlay: &Value) -> Option<(&'static str, String)> {
    if !is_overlay(overlay) {
        let message = "no OpenAPI Overlay: one has `overlay`, a version in quotes, and `actions`, a list";
        return Some(("", message.into()));
    }
    if overlay.get("extends").is_some_and(|extends| !extends.is_string()) {
        return Some((
            "/extends",
            "`extends` of an OpenAPI Overlay is the path of its document, a string".into(),
        ));
    }
    let version = overlay["overlay"].as_str().unwrap_or_default();
    let is_known = VERSIONS.iter().any(|known| {
        version.strip_prefix(known).is_some_and(|patch| patch.is_empty() || patch.starts_with('.'))
    });
    let message =
        || format!("no version of the OpenAPI Overlay format: `{}`; known are 1.0 and 1.1", quoted(version));
    (!is_known).then(|| ("/overlay", message()))
}

/// Rest of the work that overlays may do on one document: memory, in bytes, and steps.
pub(in crate::sources) struct Allowance {
    bytes: usize,
    steps: Steps,
}

impl Allowance {
    pub(in crate::sources) fn of(document: &Value) -> Self {
        Self { bytes: TOTAL_BUDGET.saturating_sub(weight(document)), steps: Steps::of(document) }
    }
}

/// Applies an overlay, which is in `file`, to a document.
pub(in crate::sources) fn apply(
    overlay: &Value,
    file: &str,
    document: &mut Value,
    left: &mut Allowance,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let actions = overlay.get("actions").and_then(Value::as_array);
    for (index, action) in actions.into_iter().flatten().enumerate() {
        let place = pointer_join("/actions", index);
        match act(action, document, left) {
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
fn act(action: &Value, document: &mut Value, left: &mut Allowance) -> Result<usize, Mistake> {
    let target = path(action, "target")?.ok_or(("target", "an action needs a `target`".to_string()))?;
    let mut nodes = selected("target", &target, action, document, left)?;
    let is_removal = action.get("remove").and_then(Value::as_bool).unwrap_or(false);
    if is_removal {
        // Later items of a list first, so that the pointers of the others hold.
        nodes.reverse();
        nodes.iter().for_each(|node| remove(document, node));
        return Ok(nodes.len());
    }
    let copied = match path(action, "copy")? {
        Some(copy) => match selected("copy", &copy, action, document, left)?.as_slice() {
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
    left.bytes =
        left.bytes.checked_sub(added).ok_or((field, "the document would be too large".to_string()))?;
    left.steps.grow(added / 64, depth(update));
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

/// The pointers of the nodes that the path of a field selects, each once, in the order of the document.
fn selected(
    field: &'static str,
    path: &JsonPath,
    action: &Value,
    document: &Value,
    left: &mut Allowance,
) -> Result<Vec<String>, Mistake> {
    if !left.steps.take(action[field].as_str().unwrap_or_default()) {
        let message = format!(
            "the actions visit too much of the document, more than {MAX_STEPS} values; name places in place of `..` and `*`"
        );
        return Err((field, message));
    }
    // Without their places, nodes take little.
    if path.query(document).len() > MAX_NODES {
        return Err((field, format!("`{field}` selects more than {MAX_NODES} values")));
    }
    let nodes = path.query_located(document).dedup();
    let mut paths: Vec<_> = nodes.locations().collect();
    paths.sort_by(|one, other| one.partial_cmp(other).unwrap_or(Ordering::Equal));
    Ok(paths.iter().map(|path| path.to_json_pointer()).collect())
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

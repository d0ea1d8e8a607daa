//! Categories and tools as lists show them: enough to decide, and no schema.

use serde_json::{Map, Value, json};

use super::nodes;
use crate::catalog::Node;
use crate::functions::Edition;
use crate::search::Hit;
use crate::tool::clean_line;

/// The path of a category.
pub(super) fn segments(node: &Node) -> Value {
    node.segments().into()
}

/// A category, with what of it fits where there was a query.
pub(super) fn node(node: &Node, hit: Option<&nodes::Hit>) -> Value {
    let mut fields =
        json!({ "name": node.name, "path": segments(node), "summary": node.summary, "tags": node.tags });
    if let Some(hit) = hit {
        fields["confidence"] = hundredths(hit.confidence).into();
        fields["reason"] = hit.reason.as_str().into();
    }
    fields
}

/// A tool as it hangs in the category at `place`, with how and why it fits where there was a query.
pub(super) fn tool(edition: &Edition, index: usize, place: usize, hit: Option<&Hit>) -> Value {
    let Some(tool) = edition.catalog().tools.get(index) else { return Value::Null };
    let mut fields = Map::with_capacity(7);
    fields.insert("tool_id".into(), tool.op.as_str().into());
    fields.insert("path".into(), segments(edition.tree().node(place)));
    fields.insert("summary".into(), tool.short.as_str().into());
    fields.insert("tags".into(), tool.tags().into());
    fields.insert("confidence".into(), hit.map(|hit| hundredths(hit.confidence)).into());
    if let Some(hit) = hit {
        fields.insert("reason".into(), hit.reason.as_str().into());
    }
    if edition.is_forbidden(index) {
        fields.insert("forbidden".into(), true.into());
    }
    Value::Object(fields)
}

/// The first category below `scope` in which a tool hangs.
pub(super) fn place(edition: &Edition, index: usize, scope: usize) -> usize {
    let tree = edition.tree();
    let places = tree.places(index);
    places.iter().copied().find(|&place| tree.holds(scope, place)).unwrap_or(scope)
}

/// Categories to look into instead.
pub(in crate::functions) fn category_hints(edition: &Edition, nodes: &[usize]) -> Vec<Value> {
    let node = |&node: &usize| edition.tree().node(node);
    nodes.iter().map(node).map(|node| json!({ "path": segments(node), "summary": node.summary })).collect()
}

/// As many digits as mean something.
pub(in crate::functions) fn hundredths(confidence: f32) -> f64 {
    (f64::from(confidence) * 100.0).round() / 100.0
}

/// What a caller wrote, as an answer shows it.
pub(in crate::functions) fn shown(text: &str) -> String {
    clean_line(&text.chars().take(80).collect::<String>())
}

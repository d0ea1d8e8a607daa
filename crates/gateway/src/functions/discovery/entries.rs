//! Categories and tools as lists and rankings show them: enough to choose, without schemas.

use serde_json::{Map, Value, json};

use crate::context::CatalogView;
use toolcrib_catalog::CategoryNode;
use toolcrib_search::Hit;

/// A category that may fit.
#[derive(Clone)]
pub(super) struct CategoryHit {
    pub(super) node: usize,
    pub(super) confidence: f32,
    /// Order among categories with the same best tool.
    pub(super) evidence: f32,
    /// Whether the query contains its name.
    pub(super) is_named: bool,
    /// Reason for the fit, in words.
    pub(super) reason: String,
}

/// The path of a category.
pub(super) fn segments(node: &CategoryNode) -> Value {
    node.segments().into()
}

/// A category, with the reason for its fit if there was a query.
pub(super) fn category_fields(node: &CategoryNode, hit: Option<&CategoryHit>) -> Value {
    let mut fields =
        json!({ "name": node.name, "path": segments(node), "summary": node.summary, "tags": node.tags });
    if let Some(hit) = hit {
        fields["confidence"] = hundredths(hit.confidence).into();
        fields["reason"] = hit.reason.as_str().into();
    }
    fields
}

/// A tool in the category at `place`, with confidence and reason if there was a query.
pub(super) fn tool_fields(view: &CatalogView, index: usize, place: usize, hit: Option<&Hit>) -> Value {
    let Some(tool) = view.catalog().tools.get(index) else { return Value::Null };
    let mut fields = Map::with_capacity(7);
    fields.insert("tool_id".into(), tool.op.as_str().into());
    fields.insert("path".into(), segments(view.tree().node(place)));
    fields.insert("summary".into(), tool.short.as_str().into());
    fields.insert("tags".into(), tool.tags().into());
    fields.insert("confidence".into(), hit.map(|hit| hundredths(hit.confidence)).into());
    if let Some(hit) = hit {
        fields.insert("reason".into(), hit.reason.as_str().into());
    }
    if view.is_forbidden(index) {
        fields.insert("forbidden".into(), true.into());
    }
    Value::Object(fields)
}

/// The first category below `scope` that holds a tool.
pub(super) fn place(view: &CatalogView, index: usize, scope: usize) -> usize {
    let tree = view.tree();
    let places = tree.places(index);
    places.iter().copied().find(|&place| tree.holds(scope, place)).unwrap_or(scope)
}

/// Categories to look into instead.
pub(crate) fn category_hints(view: &CatalogView, nodes: &[usize]) -> Vec<Value> {
    let node = |&node: &usize| view.tree().node(node);
    nodes.iter().map(node).map(|node| json!({ "path": segments(node), "summary": node.summary })).collect()
}

/// Rounds a confidence to two decimal places.
pub(crate) fn hundredths(confidence: f32) -> f64 {
    (f64::from(confidence) * 100.0).round() / 100.0
}

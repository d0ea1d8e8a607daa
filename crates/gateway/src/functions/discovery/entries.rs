//! Categories and tools as lists and rankings show them: enough to choose, without schemas.

use serde::Serialize;
use serde_with::skip_serializing_none;

use crate::context::CatalogView;
use toolcrib_catalog::CategoryNode;
use toolcrib_search::Hit;
use toolcrib_search::semantic::SemanticStatus;

/// What the discovery protocol lists.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    #[serde(flatten)]
    pub(super) listing: Listing,
    /// Whether a search used meaning.
    #[serde(skip)]
    pub(crate) semantic: Option<SemanticStatus>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Listing {
    /// The content of a category.
    Content {
        path: Vec<String>,
        nodes: Vec<CategoryEntry>,
        tools: Vec<ToolEntry>,
        next_cursor: Option<String>,
    },
    /// Categories that fit a query.
    Categories { results: Vec<CategoryEntry> },
    /// Tools of a category that fit a query.
    Tools { category_path: Vec<String>, results: Vec<ToolEntry>, next_cursor: Option<String> },
}

impl Listed {
    pub(crate) fn tools(&self) -> &[ToolEntry] {
        match &self.listing {
            Listing::Content { tools, .. } | Listing::Tools { results: tools, .. } => tools,
            Listing::Categories { .. } => &[],
        }
    }
}

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

/// A category as it is listed.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize)]
pub struct CategoryEntry {
    name: Option<String>,
    pub path: Vec<String>,
    pub summary: String,
    tags: Option<Vec<String>>,
    confidence: Option<f64>,
    /// The reason for its fit.
    reason: Option<String>,
}

impl CategoryEntry {
    /// Its path and its purpose.
    pub(super) fn hint(node: &CategoryNode) -> Self {
        Self { path: segments(node), summary: node.summary.clone(), ..Self::default() }
    }

    /// With its name and its tags.
    pub(super) fn of(node: &CategoryNode) -> Self {
        Self { name: Some(node.name.clone()), tags: Some(node.tags.clone()), ..Self::hint(node) }
    }

    /// With the reason for its fit, if there was a query.
    pub(super) fn ranked(self, hit: Option<&CategoryHit>) -> Self {
        let Some(hit) = hit else { return self };
        Self { confidence: Some(hundredths(hit.confidence)), reason: Some(hit.reason.clone()), ..self }
    }
}

/// A tool in a category.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize)]
pub struct ToolEntry {
    pub(crate) tool_id: String,
    path: Vec<String>,
    summary: String,
    tags: Vec<String>,
    #[serialize_always]
    confidence: Option<f64>,
    /// The reason for its fit, if there was a query.
    reason: Option<String>,
    forbidden: Option<bool>,
}

impl ToolEntry {
    /// The tool at `index` in the category at `place`, with its fit if there was a query.
    pub(super) fn of(view: &CatalogView, index: usize, place: usize, hit: Option<&Hit>) -> Self {
        let tool = &view.catalog().tools[index];
        Self {
            tool_id: tool.names.op.clone(),
            path: segments(view.tree().node(place)),
            summary: tool.texts.short.clone(),
            tags: tool.tags().iter().map(ToString::to_string).collect(),
            confidence: hit.map(|hit| hundredths(hit.confidence)),
            reason: hit.map(|hit| hit.reason.clone()),
            forbidden: view.is_forbidden(index).then_some(true),
        }
    }

    /// A tool that fits a query, in the first category below `scope` that holds it.
    pub(super) fn found(view: &CatalogView, hit: &Hit, scope: usize) -> Self {
        Self::of(view, hit.entry, place(view, hit.entry, scope), Some(hit))
    }
}

/// The path of a category.
pub(super) fn segments(node: &CategoryNode) -> Vec<String> {
    node.segments().into_iter().map(str::to_string).collect()
}

/// The first category below `scope` that holds a tool.
pub(super) fn place(view: &CatalogView, index: usize, scope: usize) -> usize {
    let tree = view.tree();
    let places = tree.places(index);
    places.iter().copied().find(|&place| tree.holds(scope, place)).unwrap_or(scope)
}

/// Categories to look into instead.
pub(crate) fn category_hints(view: &CatalogView, nodes: &[usize]) -> Vec<CategoryEntry> {
    nodes.iter().map(|&node| CategoryEntry::hint(view.tree().node(node))).collect()
}

/// Rounds a confidence to two decimal places.
pub(crate) fn hundredths(confidence: f32) -> f64 {
    (f64::from(confidence) * 100.0).round() / 100.0
}

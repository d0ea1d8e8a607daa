//! `search_nodes`: categories for who does not know where to start.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::pointer::{category_hints, hundredths, segments, shown};
use super::{query, ranked::read_part, read};
use crate::catalog::{Catalog, Tree};
use crate::functions::{Answer, Context, Edition, ErrorCode, Later, Refusal};
use crate::search::{Entry, Field, Request, Verdict};

/// How many tools of a category speak for it in the index.
const MAX_TOOLS: usize = 300;
/// How many tools that fit are looked at, for the categories that they are in.
const EVIDENCE: usize = 20;
/// What a tool says for a category counts this much for the one above: the nearer one is the better answer.
const UPWARDS: f32 = 0.8;
/// What is this much less likely than the best is no answer.
const LEAST: f32 = 0.3;

#[derive(Deserialize)]
struct Arguments {
    query: String,
    #[serde(default = "five")]
    limit: usize,
}

fn five() -> usize {
    5
}

/// Answers a call.
pub(in crate::functions) fn run(context: Context, arguments: Value) -> Later {
    Box::pin(async move {
        let arguments = read(arguments)?;
        context.edition.searchable().await;
        searched(&context.edition, arguments)
    })
}

fn searched(edition: &Edition, arguments: Arguments) -> Result<Answer, Refusal> {
    let Arguments { query: text, limit } = arguments;
    let found = match query(Some(&text)) {
        Some(query) => ranked(edition, query, limit),
        None => Ranked { fits: false, hits: Vec::new() },
    };
    if !found.fits {
        let near: Vec<usize> = found.hits.iter().map(|hit| hit.node).take(3).collect();
        let near = if near.is_empty() { edition.tree().node(0).children.clone() } else { near };
        let refusal = Refusal::new(
            ErrorCode::NoMatchInCategory,
            format!("no category is about `{}`", shown(&text)),
            "ask again in other words, or go down from the root with list; if `hints` are nothing like it, there is no such tool",
        );
        return Err(refusal.hint("categories", category_hints(edition, &near[..near.len().min(12)])));
    }
    let result = |hit: &Hit| {
        let node = edition.tree().node(hit.node);
        json!({ "path": segments(node), "summary": node.summary, "confidence": hundredths(hit.confidence) })
    };
    let results: Vec<Value> = found.hits.iter().map(result).collect();
    Ok(Answer::new(Map::from_iter([("results".to_string(), results.into())]), None))
}

/// Categories that fit a query.
pub(super) struct Ranked {
    /// Whether any does.
    pub(super) fits: bool,
    /// Best first.
    pub(super) hits: Vec<Hit>,
}

/// A category that may fit.
pub(super) struct Hit {
    pub(super) node: usize,
    confidence: f32,
}

/// The categories that fit a query: by their own words, and by the tools in them that fit it.
pub(super) fn ranked(edition: &Edition, query: &str, limit: usize) -> Ranked {
    let (tree, query) = (edition.tree(), read_part(query));
    let mut own = vec![0f32; tree.nodes().len()];
    let mut told = own.clone();
    let is_node = |entry: usize| entry != 0;
    let by_words = edition.categories().find(Request { query, within: Some(&is_node), limit: EVIDENCE });
    for hit in &by_words.hits {
        own[hit.entry] = hit.confidence;
    }
    let by_tools = edition.search().find(Request { query, within: None, limit: EVIDENCE });
    for hit in &by_tools.hits {
        for &place in tree.places(hit.entry) {
            let mut weight = hit.confidence;
            for node in std::iter::once(place).chain(tree.lineage(place)).filter(|&node| node != 0) {
                told[node] = told[node].max(weight);
                weight *= UPWARDS;
            }
        }
    }
    let both = |node: usize| {
        let (more, less) = (own[node].max(told[node]), own[node].min(told[node]));
        more + (1.0 - more) * less * 0.5
    };
    let mut hits: Vec<Hit> = (1..tree.nodes().len())
        .map(|node| Hit { node, confidence: both(node) })
        .filter(|hit| hit.confidence > 0.0)
        .collect();
    let depth = |hit: &Hit| tree.lineage(hit.node).count();
    hits.sort_by(|one, other| {
        let by_confidence = other.confidence.total_cmp(&one.confidence);
        let by_depth = || depth(other).cmp(&depth(one));
        by_confidence
            .then_with(by_depth)
            .then_with(|| tree.node(one.node).path.cmp(&tree.node(other.node).path))
    });
    let least = hits.first().map_or(0.0, |best| best.confidence * LEAST);
    hits.retain(|hit| hit.confidence >= least);
    hits.truncate(limit);
    let fits = by_words.verdict == Verdict::Match || by_tools.verdict == Verdict::Match;
    Ranked { fits: fits && !hits.is_empty(), hits }
}

/// The categories that come nearest to a query; the roots where none does.
pub(in crate::functions) fn near(edition: &Edition, query: &str, limit: usize) -> Vec<usize> {
    let hits = ranked(edition, query, limit).hits;
    let near: Vec<usize> = hits.iter().map(|hit| hit.node).collect();
    if near.is_empty() { edition.tree().node(0).children.iter().copied().take(limit).collect() } else { near }
}

/// What can be found of each category, in the order of the tree.
pub(in crate::functions) fn entries(catalog: &Catalog, tree: &Tree) -> Vec<Entry> {
    let entry = |node: &crate::catalog::Node| {
        let mut texts = vec![
            (Field::Name, node.name.clone()),
            (Field::Alias, node.path.clone()),
            (Field::Short, node.summary.clone()),
        ];
        texts.extend(node.tags.iter().map(|tag| (Field::Label, tag.clone())));
        for tool in node.tools.iter().take(MAX_TOOLS).map(|&tool| &catalog.tools[tool]) {
            texts.push((Field::Parameter, tool.name.clone()));
            texts.push((Field::Long, tool.short.clone()));
        }
        Entry { exact: vec![node.path.clone()], texts }
    };
    tree.nodes().iter().map(entry).collect()
}

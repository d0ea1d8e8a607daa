//! Searches of the discovery protocol: `search_nodes` ranks categories, for a caller who does not know where to start, and
//! `search_tool_by_category` the tools of a category. [`ranked`] ranks tools for every function.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::list::CursorScope;
use super::{
    CategoryHit, UNREAD, blank, category, category_hints, hundredths, place, query, segments, tool_fields,
};
use crate::functions::function::Arguments;
use crate::functions::{
    Answer, CatalogView, ErrorCode, Function, FunctionContext, SearchOutcome, SearchQuery, ToolError,
};
use toolcrib_definition::quoted;
use toolcrib_search::semantic::SemanticStatus;
use toolcrib_search::{Hit, SearchRequest, SearchResult, Verdict};

fn default_limit() -> usize {
    5
}

/// The part of the catalog that is searched.
#[derive(Clone, Copy, Default)]
pub(in crate::functions) struct Scope<'s> {
    /// The category; the root stands for everything.
    pub(in crate::functions) node: usize,
    /// Tags that a tool must have, all of them.
    pub(in crate::functions) tags: &'s [String],
}

impl Scope<'_> {
    fn is_everything(self) -> bool {
        self.node == 0 && self.tags.is_empty()
    }

    /// The tools in it, by position.
    pub(super) fn tools(self, view: &CatalogView) -> impl Iterator<Item = usize> {
        let below = &view.tree().node(self.node).descendant_tools;
        below.iter().copied().filter(move |&tool| self.has_tags(&view.catalog().tools[tool].definition.tags))
    }

    /// Whether these tags include all wanted ones.
    pub(super) fn has_tags(self, tags: &[String]) -> bool {
        let is_there = |wanted: &String| {
            tags.iter().any(|tag| tag.trim().to_lowercase() == wanted.trim().to_lowercase())
        };
        self.tags.iter().all(is_there)
    }
}

/// Most bytes of a query that are read.
const MAX_QUERY: usize = 2_000;

/// The part of a query that is read.
pub(in crate::functions) fn read_part(query: &str) -> &str {
    &query[..query.floor_char_boundary(MAX_QUERY)]
}

/// The tools in a scope that fit each of these queries, best first.
pub(in crate::functions) async fn ranked(
    context: &FunctionContext,
    queries: &[&str],
    scope: Scope<'_>,
    limit: usize,
) -> SearchOutcome {
    let view = &*context.view;
    let mut inside = Vec::new();
    if !scope.is_everything() {
        inside.resize(view.catalog().tools.len(), false);
        scope.tools(view).for_each(|tool| inside[tool] = true);
    }
    let within = |entry: usize| inside.get(entry).copied().unwrap_or(false);
    let within: Option<&(dyn Fn(usize) -> bool + Sync)> =
        if scope.is_everything() { None } else { Some(&within) };
    let queries = queries.iter().map(|query| read_part(query));
    let wanted: Vec<SearchQuery<'_>> = queries.map(|query| SearchQuery { query, within, limit }).collect();
    context.search(&wanted).await
}

/// Confidence below which the hits in a category are compared with tools elsewhere.
const WEAK: f32 = 0.3;
/// Factor by which the best tool elsewhere must be better for the verdict `no_match`.
const TIMES: f32 = 3.0;
/// Hits among which the most confident one usually is.
const FIRST: usize = 5;

/// Ranks for one query; the verdict is `no_match` where the tools of the category are much worse than tools
/// elsewhere.
pub(super) async fn search_in_scope(
    context: &FunctionContext,
    query: &str,
    scope: Scope<'_>,
    limit: usize,
) -> (SearchResult, SemanticStatus) {
    let (mut found, semantic) = search_anywhere_first(context, query, scope, limit.max(FIRST)).await;
    let likely = found.hits.iter().map(|hit| hit.confidence).fold(0.0, f32::max);
    if scope.node != 0 && found.verdict != Verdict::NoMatch && likely < WEAK {
        let (all, _) = search_anywhere_first(context, query, Scope::default(), FIRST).await;
        let inside: HashSet<usize> = scope.tools(&context.view).collect();
        let best = |is_inside: bool| {
            let hits = all.hits.iter().filter(|hit| inside.contains(&hit.entry) == is_inside);
            hits.map(|hit| hit.confidence).fold(0.0, f32::max)
        };
        if all.verdict != Verdict::NoMatch && likely.max(best(true)) * TIMES < best(false) {
            found.verdict = Verdict::NoMatch;
        }
    }
    found.hits.truncate(limit);
    (found, semantic)
}

/// Words of a query that the nearest tools in a scope do not have.
fn unmet(view: &CatalogView, query: &str, scope: Scope<'_>) -> Vec<Value> {
    let inside: HashSet<usize> = scope.tools(view).collect();
    let query = read_part(query);
    let within = |tool| inside.contains(&tool);
    let near = view.search().find(SearchRequest { query, within: Some(&within), limit: FIRST });
    view.search().unmet(query, &near.hits).into_iter().map(Value::from).collect()
}

/// Ranks for one query, without a look at tools elsewhere.
async fn search_anywhere_first(
    context: &FunctionContext,
    query: &str,
    scope: Scope<'_>,
    limit: usize,
) -> (SearchResult, SemanticStatus) {
    let SearchOutcome { mut found, semantic } = ranked(context, &[query], scope, limit).await;
    (found.pop().unwrap_or(SearchResult { verdict: Verdict::NoMatch, hits: Vec::new() }), semantic)
}

// `search_nodes`.

/// Most fitting tools whose categories are considered.
const EVIDENCE: usize = 20;
/// Most of these tools that an answer names.
const NAMED_TOOLS: usize = 3;
/// Factor by which a tool counts less for each category further up: the nearer category is the better answer.
const UPWARDS: f32 = 0.8;
/// Least confidence of a hit, as a share of the best one's.
const LEAST: f32 = 0.3;

/// Arguments of `search_nodes`.
#[derive(Deserialize)]
pub(in crate::functions) struct SearchNodes {
    query: String,
    #[serde(default = "default_limit")]
    limit: usize,
}

impl Arguments for SearchNodes {
    async fn answer(self, _: &Function, context: &FunctionContext) -> Result<Answer, ToolError> {
        let query = query(&self.query).ok_or_else(|| blank("query"))?;
        let view = &*context.view;
        let (found, semantic) = fitting_categories(context, query, self.limit).await;
        if !found.fits {
            let near: Vec<usize> = found.hits.iter().map(|hit| hit.node).take(3).collect();
            let near = if near.is_empty() { view.tree().node(0).children.clone() } else { near };
            let next = if context.lacks_sources() {
                UNREAD
            } else {
                "ask again in other words, or go down from the root with list; if `hints` are nothing like it, there is no such tool"
            };
            let message = format!("no category is about `{}`", quoted(query));
            return Err(ToolError::new(ErrorCode::NoMatchInCategory, message, next)
                .hint("unmet", unmet(view, query, Scope::default()))
                .hint("categories", category_hints(view, &near[..near.len().min(12)])));
        }
        let result = |hit: &CategoryHit| {
            let node = view.tree().node(hit.node);
            let confidence = hundredths(hit.confidence);
            let reason = &hit.reason;
            json!({ "path": segments(node), "summary": node.summary, "confidence": confidence, "reason": reason })
        };
        let results = found.hits.iter().map(result).collect();
        let fields = Map::from_iter([("results".to_string(), results)]);
        Ok(Answer::new(fields, None).with_semantic_status(&semantic))
    }
}

/// Categories that fit a query, or come near.
pub(super) struct Ranked {
    /// Whether they fit.
    pub(super) fits: bool,
    /// Best first.
    pub(super) hits: Vec<CategoryHit>,
}

/// The categories that fit a query: by fitting tools below them, or by their names.
pub(super) async fn fitting_categories(
    context: &FunctionContext,
    query: &str,
    limit: usize,
) -> (Ranked, SemanticStatus) {
    context.view.wait_for_indexes().await;
    let (tools, semantic) = search_anywhere_first(context, query, Scope::default(), EVIDENCE).await;
    (weighed(&context.view, read_part(query), limit, &tools), semantic)
}

/// The same by words alone.
pub(super) fn by_words(view: &CatalogView, query: &str, limit: usize) -> Ranked {
    let query = read_part(query);
    let tools = view.search().find(SearchRequest { query, within: None, limit: EVIDENCE });
    weighed(view, query, limit, &tools)
}

/// Scores of one category.
#[derive(Clone, Default)]
struct Evidence {
    /// By its own words.
    own: f32,
    /// Score of the tools below it, less for tools further down.
    of_tools: f32,
    /// The confidence of the best tool below it.
    best: f32,
    /// The fields that contain the words of the query, for people.
    words: String,
    /// The best tools below it.
    tools: Vec<usize>,
}

fn weighed(view: &CatalogView, query: &str, limit: usize, tools: &SearchResult) -> Ranked {
    let tree = view.tree();
    let mut known = vec![Evidence::default(); tree.nodes().len()];
    let is_node = |entry: usize| entry != 0;
    let by_words = view.categories().find(SearchRequest { query, within: Some(&is_node), limit: EVIDENCE });
    for hit in &by_words.hits {
        known[hit.entry].own = hit.confidence;
        known[hit.entry].words.clone_from(&hit.reason);
    }
    for hit in &tools.hits {
        for &place in tree.places(hit.entry) {
            let mut weight = hit.confidence;
            for node in std::iter::once(place).chain(tree.ancestors(place)).filter(|&node| node != 0) {
                let known = &mut known[node];
                known.of_tools = known.of_tools.max(weight);
                known.best = known.best.max(hit.confidence);
                if known.tools.len() < NAMED_TOOLS && !known.tools.contains(&hit.entry) {
                    known.tools.push(hit.entry);
                }
                weight *= UPWARDS;
            }
        }
    }
    let index = view.categories();
    let has_words = tools.verdict == Verdict::NoMatch && !index.unmet(query, &[]).is_empty();
    let complete = if has_words { index.complete(query, &by_words.hits) } else { Vec::new() };
    let hit = |(node, known): (usize, &Evidence)| {
        let name = &tree.node(node).name;
        let is_named = by_words.verdict != Verdict::NoMatch && known.own > 0.0 && says(query, name);
        let more = known.own.max(known.of_tools);
        let less = known.own.min(known.of_tools);
        let both = more + (1.0 - more) * less * 0.5;
        // Words in common are no tool: without a fitting tool a category is no better than its best tool, unless it has
        // all words of a query that no tool has.
        let is_described = complete.contains(&node);
        let confidence = if is_named || is_described { both } else { both.min(known.best) };
        CategoryHit {
            node,
            confidence,
            evidence: both,
            is_named: is_named || is_described,
            reason: reason(view, name, is_named, known),
        }
    };
    let mut hits: Vec<CategoryHit> = known.iter().enumerate().skip(1).map(hit).collect();
    let fits =
        |hit: &CategoryHit| hit.is_named || (tools.verdict != Verdict::NoMatch && hit.confidence > 0.0);
    let any_fits = hits.iter().any(fits);
    // A category that is near by its words alone is worth a look.
    if any_fits {
        hits.retain(fits)
    } else {
        hits.iter_mut().for_each(|hit| hit.confidence = hit.confidence.max(known[hit.node].own))
    }
    hits.retain(|hit| hit.confidence > 0.0);
    let depth = |hit: &CategoryHit| tree.ancestors(hit.node).count();
    hits.sort_by(|one, other| {
        // Confidences that are shown alike are alike.
        let by_confidence = hundredths(other.confidence).total_cmp(&hundredths(one.confidence));
        let by_evidence = || other.evidence.total_cmp(&one.evidence);
        let by_depth = || depth(other).cmp(&depth(one));
        by_confidence
            .then_with(by_evidence)
            .then_with(by_depth)
            .then_with(|| tree.node(one.node).path.cmp(&tree.node(other.node).path))
    });
    let least = hits.first().map_or(0.0, |best| best.confidence * LEAST);
    hits.retain(|hit| hit.confidence >= least);
    hits.truncate(limit);
    Ranked { fits: any_fits && !hits.is_empty(), hits }
}

/// The reason why a category fits: its name, the tools below it, or its other texts.
fn reason(view: &CatalogView, name: &str, is_named: bool, known: &Evidence) -> String {
    let tools = known.tools.iter().filter_map(|&tool| view.catalog().tools.get(tool));
    let tools: Vec<&str> = tools.map(|tool| tool.op.as_str()).collect();
    let named = is_named.then(|| format!("name: {name}"));
    let tools = (!tools.is_empty()).then(|| format!("tools: {}", tools.join(", ")));
    let parts: Vec<String> = named.into_iter().chain(tools).collect();
    if parts.is_empty() { known.words.clone() } else { parts.join("; ") }
}

/// Whether a query has all words of a name, in any inflection.
fn says(query: &str, name: &str) -> bool {
    let query = query.to_lowercase();
    let name = name.to_lowercase();
    let words = |text: &str| -> Vec<Vec<char>> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(|word| word.chars().collect()).collect()
    };
    let said = words(&query);
    let wanted = words(&name);
    let is_same = |one: &[char], other: &[char]| {
        let common = one.iter().zip(other).take_while(|(one, other)| one == other).count();
        let shorter = one.len().min(other.len());
        let longer = one.len().max(other.len());
        common == longer
            || (common == shorter && common > 2 && longer - common < 3)
            || (common > 4 && longer - common < 4)
    };
    // Some languages put no spaces between words.
    (!name.is_ascii() && query.contains(&name))
        || (!wanted.is_empty() && wanted.iter().all(|word| said.iter().any(|other| is_same(word, other))))
}

/// The categories that are nearest to a query; the roots where none is near.
pub(in crate::functions) fn near_categories(view: &CatalogView, query: &str, limit: usize) -> Vec<usize> {
    let hits = by_words(view, query, limit).hits;
    let near: Vec<usize> = hits.iter().map(|hit| hit.node).collect();
    if near.is_empty() { view.tree().node(0).children.iter().copied().take(limit).collect() } else { near }
}

// `search_tool_by_category`.

/// Most categories, and tools of other categories, that an error suggests.
const SUGGESTED: usize = 3;

/// Arguments of `search_tool_by_category`.
#[derive(Deserialize)]
pub(in crate::functions) struct SearchToolByCategory {
    query: String,
    #[serde(default)]
    category_path: Vec<String>,
    #[serde(default = "default_limit")]
    limit: usize,
    cursor: Option<String>,
}

impl Arguments for SearchToolByCategory {
    async fn answer(self, function: &Function, context: &FunctionContext) -> Result<Answer, ToolError> {
        let query = query(&self.query).ok_or_else(|| blank("query"))?;
        let view = &context.view;
        view.wait_for_indexes().await;
        let scope = Scope { node: category(view, &self.category_path)?, tags: &[] };
        let category = view.tree().node(scope.node);
        let version = &view.catalog().version;
        let origin = CursorScope::of(function.name(), &[&category.path, query]);
        let from = origin.offset(self.cursor.as_deref(), version)?;
        let to = from.saturating_add(self.limit);
        let (found, semantic) = search_in_scope(context, query, scope, to.saturating_add(1)).await;
        if found.verdict == Verdict::NoMatch || found.hits.is_empty() {
            return Err(nothing(context, scope, query).await);
        }
        let result = |hit: &Hit| tool_fields(view, hit.entry, place(view, hit.entry, scope.node), Some(hit));
        let results = found.hits.iter().skip(from).take(self.limit).map(result).collect();
        let next = (found.hits.len() > to).then(|| origin.at_offset(to, version));
        let fields = Map::from_iter([
            ("category_path".to_string(), segments(category)),
            ("results".to_string(), results),
            ("next_cursor".to_string(), next.into()),
        ]);
        Ok(Answer::new(fields, None).with_semantic_status(&semantic))
    }
}

/// The error where no tool of a scope fits a query, with near categories and tools.
pub(super) async fn nothing(context: &FunctionContext, scope: Scope<'_>, query: &str) -> ToolError {
    let view = &*context.view;
    let tree = view.tree();
    let elsewhere = match (scope.node, scope.tags.is_empty(), query.trim().is_empty()) {
        (0, true, _) | (.., true) => Vec::new(),
        _ => {
            let (found, _) = search_anywhere_first(context, query, Scope::default(), SUGGESTED).await;
            if found.verdict != Verdict::NoMatch { found.hits } else { Vec::new() }
        }
    };
    let mut categories: Vec<usize> =
        elsewhere.iter().filter_map(|hit| tree.places(hit.entry).first().copied()).collect();
    categories.extend(by_words(view, query, SUGGESTED).hits.iter().map(|hit| hit.node));
    if categories.is_empty() {
        categories.clone_from(&tree.node(0).children);
    }
    let mut seen = HashSet::new();
    categories.retain(|&node| node != 0 && node != scope.node && seen.insert(node));
    categories.truncate(SUGGESTED);
    let part = match tree.node(scope.node).path.as_str() {
        "" => "no tool here".to_string(),
        path => format!("no tool in {path}"),
    };
    let part = match scope.tags {
        [] => part,
        tags => format!("{part} with the tags {}", quoted(&tags.join(", "))),
    };
    let next = match elsewhere.is_empty() {
        false => "search again with the path of one of `hints.categories`, or expand one of `hints.tools`",
        true if context.lacks_sources() => UNREAD,
        true => {
            "ask again in other words, an action and an object; if `hints` are nothing like it, there is no such tool: say so"
        }
    };
    let tools =
        elsewhere.iter().map(|hit| tool_fields(view, hit.entry, place(view, hit.entry, 0), Some(hit)));
    let message = format!("{part} fits `{}`", quoted(query));
    ToolError::new(ErrorCode::NoMatchInCategory, message, next)
        .hint("unmet", unmet(view, query, scope))
        .hint("categories", category_hints(view, &categories))
        .hint("tools", tools.collect())
}

//! `search_nodes`: ranks categories, for a caller who does not know where to start.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::path::{CategoryHit, category_hints, hundredths, segments};
use super::tool_ranking::{self, Scope, read_part};
use super::{UNREAD, read, required_query};
use crate::functions::{Answer, AnswerFuture, CatalogView, ErrorCode, Function, FunctionContext, Refusal};
use crate::search::semantic::SemanticStatus;
use crate::search::{SearchRequest, SearchResult, Verdict};
use crate::tool::quoted;

/// Most fitting tools whose categories are considered.
const EVIDENCE: usize = 20;
/// Most of these tools that an answer names.
const NAMED_TOOLS: usize = 3;
/// Factor by which a tool counts less for each category further up: the nearer category is the better answer.
const UPWARDS: f32 = 0.8;
/// Least confidence of a hit, as a share of the best one's.
const LEAST: f32 = 0.3;

#[derive(Deserialize)]
struct Arguments {
    query: String,
    #[serde(default = "default_limit")]
    limit: usize,
}

fn default_limit() -> usize {
    5
}

/// Answers a call.
pub(in crate::functions) fn run(
    function: &'static Function,
    context: FunctionContext,
    arguments: Value,
) -> AnswerFuture {
    Box::pin(async move { searched(&context, read(function.name(), arguments)?).await })
}

async fn searched(context: &FunctionContext, arguments: Arguments) -> Result<Answer, Refusal> {
    let query = required_query(&arguments.query)?;
    let view = &*context.view;
    let (found, semantic) = fitting(context, query, arguments.limit).await;
    if !found.fits {
        let near: Vec<usize> = found.hits.iter().map(|hit| hit.node).take(3).collect();
        let near = if near.is_empty() { view.tree().node(0).children.clone() } else { near };
        let next = match context.lacks_sources() {
            false => {
                "ask again in other words, or go down from the root with list; if `hints` are nothing like it, there is no such tool"
            }
            true => UNREAD,
        };
        let message = format!("no category is about `{}`", quoted(query));
        let refusal = Refusal::new(ErrorCode::NoMatchInCategory, message, next);
        let refusal = refusal.hint("unmet", tool_ranking::unmet(view, query, Scope::default()));
        return Err(refusal.hint("categories", category_hints(view, &near[..near.len().min(12)])));
    }
    let result = |hit: &CategoryHit| {
        let node = view.tree().node(hit.node);
        let (confidence, reason) = (hundredths(hit.confidence), &hit.reason);
        json!({ "path": segments(node), "summary": node.summary, "confidence": confidence, "reason": reason })
    };
    let results: Vec<Value> = found.hits.iter().map(result).collect();
    let fields = Map::from_iter([("results".to_string(), results.into())]);
    Ok(Answer::new(fields, None).with_semantic_status(&semantic))
}

/// Categories that fit a query, or come near.
pub(super) struct Ranked {
    /// Whether they fit.
    pub(super) fits: bool,
    /// Best first.
    pub(super) hits: Vec<CategoryHit>,
}

/// The categories that fit a query: by fitting tools below them, or by their names.
pub(super) async fn fitting(
    context: &FunctionContext,
    query: &str,
    limit: usize,
) -> (Ranked, SemanticStatus) {
    context.view.wait_for_indexes().await;
    let (tools, semantic) =
        tool_ranking::search_anywhere_first(context, query, Scope::default(), EVIDENCE).await;
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
    let hit = |(node, known): (usize, &Evidence)| {
        let name = &tree.node(node).name;
        let is_named = by_words.verdict == Verdict::Match && known.own > 0.0 && says(query, name);
        let (more, less) = (known.own.max(known.of_tools), known.own.min(known.of_tools));
        let both = more + (1.0 - more) * less * 0.5;
        // Words in common are no tool: without a fitting tool a category is no better than its best tool.
        let confidence = if is_named { both } else { both.min(known.best) };
        CategoryHit {
            node,
            confidence,
            evidence: both,
            is_named,
            reason: reason(view, name, is_named, known),
        }
    };
    let mut hits: Vec<CategoryHit> = known.iter().enumerate().skip(1).map(hit).collect();
    let fits = |hit: &CategoryHit| hit.is_named || (tools.verdict == Verdict::Match && hit.confidence > 0.0);
    let any_fits = hits.iter().any(fits);
    // A category that is near by its words alone is worth a look.
    match any_fits {
        true => hits.retain(fits),
        false => hits.iter_mut().for_each(|hit| hit.confidence = hit.confidence.max(known[hit.node].own)),
    }
    hits.retain(|hit| hit.confidence > 0.0);
    let depth = |hit: &CategoryHit| tree.ancestors(hit.node).count();
    hits.sort_by(|one, other| {
        let by_confidence = other.confidence.total_cmp(&one.confidence);
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
    let (query, name) = (query.to_lowercase(), name.to_lowercase());
    let words = |text: &str| -> Vec<Vec<char>> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(|word| word.chars().collect()).collect()
    };
    let (said, wanted) = (words(&query), words(&name));
    let is_same = |one: &[char], other: &[char]| {
        let common = one.iter().zip(other).take_while(|(one, other)| one == other).count();
        let (shorter, longer) = (one.len().min(other.len()), one.len().max(other.len()));
        common == longer
            || (common == shorter && common > 2 && longer - common < 3)
            || (common > 4 && longer - common < 4)
    };
    // Some languages put no spaces between words.
    (!name.is_ascii() && query.contains(&name))
        || (!wanted.is_empty() && wanted.iter().all(|word| said.iter().any(|other| is_same(word, other))))
}

/// The categories that are nearest to a query; the roots where none is near.
pub(in crate::functions) fn nearest(view: &CatalogView, query: &str, limit: usize) -> Vec<usize> {
    let hits = by_words(view, query, limit).hits;
    let near: Vec<usize> = hits.iter().map(|hit| hit.node).collect();
    if near.is_empty() { view.tree().node(0).children.iter().copied().take(limit).collect() } else { near }
}

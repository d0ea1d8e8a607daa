//! Ranks categories for a query: by the fitting tools below them, or by their own names.

use super::entries::{CategoryHit, hundredths};
use super::scope::{Scope, read_part, search_anywhere_first};
use crate::context::{CatalogView, FunctionContext};
use toolcrib_search::semantic::SemanticStatus;
use toolcrib_search::{SearchRequest, SearchResult, Verdict};

/// Most fitting tools whose categories are considered.
const EVIDENCE: usize = 20;

/// Most of these tools that an answer names.
const NAMED_TOOLS: usize = 3;

/// Factor by which a tool counts less for each category further up: the nearer category is the better answer.
const UPWARDS: f32 = 0.8;

/// Least confidence of a hit, as a share of the best one's.
const LEAST: f32 = 0.3;

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
    let tools: Vec<&str> = tools.map(|tool| tool.names.op.as_str()).collect();
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
pub(crate) fn near_categories(view: &CatalogView, query: &str, limit: usize) -> Vec<usize> {
    let hits = by_words(view, query, limit).hits;
    let near: Vec<usize> = hits.iter().map(|hit| hit.node).collect();
    if near.is_empty() { view.tree().node(0).children.iter().copied().take(limit).collect() } else { near }
}

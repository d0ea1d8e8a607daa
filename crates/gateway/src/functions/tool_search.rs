//! `tool_search`: returns the tools that fit one or several queries, or the verdict that no tool fits. [`explain()`]
//! adds the usage of confident hits, so that an agent can call them at once.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::discovery::{
    CategoryEntry, Scope, UNREAD, blank, category, category_hints, hundredths, near_categories, ranked,
    read_part,
};
use crate::context::{CatalogView, FunctionContext};
use crate::fields::fields;
use crate::tool_error::{Result, ToolError};
use toolcrib_catalog::{Tool, functions};
use toolcrib_definition::tokens::token_count;
use toolcrib_definition::{clean_line, clipped, quoted};
use toolcrib_render::help::{self, argument_names};
use toolcrib_search::semantic::SemanticStatus;
use toolcrib_search::{Hit, SearchResult, Verdict};

/// Most tools in the answer if no tool fits.
const NEAREST: usize = 5;

/// Most categories in that answer.
const CATEGORIES: usize = 3;

/// Explains the lines of a `match` to the model.
const LINES: &str = "op(arguments) (effect, confidence): what it does [why]. `?` is optional, required without a \
                     type is a string. Call an op at once if its arguments are shown; else ask tool_help";

const UNSURE: &str = "these come near, and may be the wrong ones: check that the tool does just what is wanted; else ask again \
                      in other words, or say that there is no such tool";

const NEXT: &str = "ask again in other words, an action and an object; if `nearest` and `categories` are nothing like it, \
                    there is no such tool: say so";

const UNKNOWN_LANGUAGE: &str =
    "the language of this request is not known here: ask again in English, an action and an object";

const FUNCTION: &str = "is a function, no tool to be found: call it by this name, as your own list has it; tool_help explains it";

/// Arguments of `tool_search`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolSearch {
    query: Option<String>,
    queries: Vec<String>,
    category: Option<String>,
    limit: Option<usize>,
    format: Format,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Text,
    Json,
}

impl Arguments for ToolSearch {
    type Reply = Hits;

    async fn answer(self, context: &FunctionContext) -> Result<Hits> {
        let view = &context.view;
        let asked = self.query.iter().chain(&self.queries).map(|query| query.trim());
        let queries: Vec<&str> = asked.filter(|query| !query.is_empty()).collect();
        let is_alone = self.queries.is_empty();
        if queries.is_empty() {
            return Err(match &self.query {
                Some(_) => blank("query"),
                None if !is_alone => blank("queries"),
                None => nothing_asked(),
            });
        }
        view.wait_for_indexes().await;
        let path: Vec<&str> = self.category.as_deref().into_iter().collect();
        let scope = Scope { node: category(view, &path)?, tags: &[] };
        let searched = ranked(context, &queries, scope, self.limit.unwrap_or(5)).await;
        let found = queries.iter().zip(searched.found);
        let mut results: Vec<QueryHits> =
            found.map(|(query, found)| QueryHits::new(context, query, found)).collect();
        explain(view, &mut results);
        add_costs(context, &mut results).await;
        let is_text = self.format == Format::Text;
        Ok(Hits { results, is_alone, is_text, semantic: searched.semantic })
    }
}

/// The hits of one query, or of several.
#[derive(Clone, Debug)]
pub struct Hits {
    pub results: Vec<QueryHits>,
    is_alone: bool,
    /// Whether a model gets the hits as lines of text.
    is_text: bool,
    pub(super) semantic: SemanticStatus,
}

impl Hits {
    /// The hits as lines of text, where they are wanted. The first result with tools also explains how to read the lines.
    pub(super) fn text(&self) -> Option<String> {
        let first = self.results.iter().position(QueryHits::has_tools);
        let results = self.results.iter().enumerate();
        let texts = results.map(|(at, result)| result.text(self.is_alone, first == Some(at)));
        self.is_text.then(|| texts.collect::<Vec<_>>().join("\n\n"))
    }

    /// The ops of tools that may fit, best first.
    pub(super) fn found(&self) -> impl Iterator<Item = &str> {
        let hits = self.results.iter().filter(|result| result.has_tools()).flat_map(|result| &result.hits);
        hits.map(|hit| hit.tool.names.op.as_str())
    }

    /// The verdict on the only query.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        if self.is_alone { self.results.first().map(|result| result.verdict) } else { None }
    }
}

impl Serialize for Hits {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.results.as_slice() {
            [only] if self.is_alone => only.fields().serialize(to),
            several => {
                let named = several.iter().map(|result| {
                    let mut named = Map::from_iter([("query".to_string(), result.query.as_str().into())]);
                    named.extend(result.fields());
                    Value::Object(named)
                });
                Map::from_iter([("results".to_string(), named.collect())]).serialize(to)
            }
        }
    }
}

fn nothing_asked() -> ToolError {
    let mut error = ToolError::invalid(
        "expected `query` or `queries`, found neither",
        "describe in `query` what you want to do, in a few words, or several things in `queries`",
    );
    error.example = Some(json!({ "query": "move a document under a folder" }));
    error.field("/query", "this is missing, and so is `queries`")
}

/// Result of one query.
#[derive(Clone, Debug)]
pub struct QueryHits {
    pub query: String,
    pub verdict: Verdict,
    pub hits: Vec<ToolHit>,
    /// Unless a tool is sure to fit, the words of the query that no hit contains.
    pub unmet: Vec<String>,
    /// If nothing fits, the categories to look into.
    pub categories: Vec<CategoryEntry>,
    /// Whether some source could not be read. A fitting tool may be in it.
    pub lacks_sources: bool,
    /// The function of toolcrib that the query names. The client has it in its own list.
    function: Option<&'static str>,
}

impl QueryHits {
    fn new(context: &FunctionContext, query: &str, found: SearchResult) -> Self {
        let view = &context.view;
        let mut hits = found.hits;
        let function = own_function(query).filter(|_| view.search().named_in(query).is_empty());
        if function.is_some() {
            hits.clear();
        }
        let verdict = found.verdict.without_hits(hits.is_empty());
        let mut unmet = Vec::new();
        let mut categories = Vec::new();
        if verdict != Verdict::Match && function.is_none() {
            unmet = view.search().unmet(read_part(query), &hits);
        }
        if verdict == Verdict::NoMatch && function.is_none() {
            categories = category_hints(view, &near_categories(view, query, CATEGORIES));
            hits.truncate(NEAREST);
        }
        let hits = hits.into_iter().filter_map(|hit| ToolHit::bare(view, hit)).collect();
        let query = query.to_string();
        Self { query, verdict, hits, unmet, categories, lacks_sources: context.lacks_sources(), function }
    }

    fn fields(&self) -> Map<String, Value> {
        let tools: Vec<Value> = self.hits.iter().map(ToolHit::fields).collect();
        let is_sure = self.verdict == Verdict::Match;
        let is_none = self.verdict == Verdict::NoMatch;
        let next = match self.verdict {
            Verdict::NoMatch => self.next(),
            Verdict::UnknownLanguage => UNKNOWN_LANGUAGE.into(),
            Verdict::Match | Verdict::Unsure => UNSURE.into(),
        };
        fields([
            ("verdict", Some(self.verdict.as_str().into())),
            ("unmet", (!is_sure).then(|| json!(self.unmet))),
            (if is_none { "nearest" } else { "tools" }, Some(tools.into())),
            ("categories", is_none.then(|| json!(self.categories))),
            ("next_action", (!is_sure).then(|| next.into())),
            ("complete", (!is_sure && self.lacks_sources).then(|| false.into())),
        ])
    }

    /// Returns the next step if no tool fits.
    fn next(&self) -> Cow<'static, str> {
        match self.function {
            Some(name) => format!("`{name}` {FUNCTION}").into(),
            None if self.lacks_sources => UNREAD.into(),
            None => NEXT.into(),
        }
    }

    /// Returns the answer as lines of text. JSON would take two fifths more tokens, because it repeats the field
    /// names for each tool.
    fn text(&self, is_alone: bool, is_first: bool) -> String {
        let of = if is_alone { String::new() } else { format!(" for \"{}\"", quoted(&self.query)) };
        let verdict = self.verdict.as_str();
        let unmet = met_by_nothing(&self.unmet);
        let lines = if is_first { format!(" {LINES}") } else { String::new() };
        let mut text = match self.verdict {
            Verdict::Match => format!("{verdict}{of}:{lines}"),
            Verdict::Unsure if is_first => format!("{verdict}{of}{unmet}: {UNSURE}. {LINES}"),
            Verdict::Unsure => format!("{verdict}{of}{unmet}: {UNSURE}"),
            Verdict::UnknownLanguage => format!("{verdict}{of}{unmet}: {UNKNOWN_LANGUAGE}"),
            Verdict::NoMatch => format!("{verdict}{of}{unmet}: {}", self.next()),
        };
        if self.verdict == Verdict::NoMatch && !self.hits.is_empty() {
            text.push_str("\nnearest:");
        }
        for hit in &self.hits {
            let _ = write!(text, "\n- {}", hit.line());
            if let Some(help) = hit.help.as_ref().and_then(|help| serde_json::to_string(help).ok()) {
                let _ = write!(text, "\n  {help}");
            }
        }
        if !self.categories.is_empty() {
            text.push_str("\ncategories:");
        }
        for CategoryEntry { path, summary, .. } in &self.categories {
            let _ = write!(text, "\n- {}: {summary}", path.join("/"));
        }
        text
    }
}

/// The function that a query names, also after the prefix of a client: `mcp__toolcrib__tool_exec`.
fn own_function(query: &str) -> Option<&'static str> {
    let name = query.trim().trim_matches(|c: char| !c.is_alphanumeric()).rsplit([':', '.', '/']).next()?;
    let name = name.rsplit("__").next()?;
    functions().respelled(name).map(|function| function.names.canonical.as_str())
}

/// The words that no hit contains, in parentheses.
fn met_by_nothing(unmet: &[String]) -> String {
    if unmet.is_empty() { String::new() } else { format!(" (nothing has: {})", unmet.join(", ")) }
}

/// Least confidence of a hit in a `match` that is shown with its usage. A usage line stays in all later requests, so
/// the line pays only if about 2 % of such hits are right and save turns. Below this value, 2 % of the hits of labelled
/// queries are right.
const SURE: f32 = 0.05;

/// Least confidence of a first hit that is shown with its help, and the most confidence that any other hit may then
/// have. More than eight in ten of such first hits are right.
const AHEAD: f32 = 0.7;

const BEHIND: f32 = 0.35;

/// Most words, and most characters, taken from a description to tell a hit apart.
const WORDS: usize = 12;

const CHARACTERS: usize = 90;

/// Number of words of a description that are compared.
const COMPARED: usize = 400;

/// A hit with the text that explains it.
#[derive(Clone, Debug)]
pub struct ToolHit {
    pub tool: Arc<Tool>,
    pub hit: Hit,
    usage: Option<String>,
    detail: Option<String>,
    help: Option<Map<String, Value>>,
    /// Conditions for calling the tool that its usage does not show.
    conditions: Vec<&'static str>,
    /// Tokens of its results, where earlier calls of the caller showed that they are long.
    result_tokens: Option<u64>,
}

impl ToolHit {
    fn bare(view: &CatalogView, hit: Hit) -> Option<Self> {
        let tool = Arc::clone(view.catalog().tools.get(hit.entry)?);
        Some(Self {
            tool,
            hit,
            usage: None,
            detail: None,
            help: None,
            conditions: Vec::new(),
            result_tokens: None,
        })
    }

    /// The confidence as it is shown.
    pub fn confidence(&self) -> f64 {
        hundredths(self.hit.confidence)
    }

    fn conditions(&self, view: &CatalogView) -> Vec<&'static str> {
        let has_policy = self.tool.texts.policy.is_some();
        let conditions = [
            ("forbidden", view.is_forbidden(self.hit.entry)),
            ("doc first", view.catalog().config.exec.require_doc.covers(self.tool.rules.effect)),
            ("policy in help", has_policy && self.help.is_none() && self.usage.is_some()),
            ("deprecated", self.tool.labels.deprecated == Some(true)),
        ];
        conditions.into_iter().filter(|(_, holds)| *holds).map(|(condition, _)| condition).collect()
    }

    fn line(&self) -> String {
        let Self { tool, hit, .. } = self;
        let op = self.usage.as_ref().unwrap_or(&tool.names.op);
        let conditions: String = self.conditions.iter().map(|condition| format!(", {condition}")).collect();
        let cost = self.result_tokens.map_or_else(String::new, |tokens| format!(", about {tokens} tokens"));
        let detail = self.detail.as_ref().map_or_else(String::new, |detail| format!(" ({detail})"));
        let summary = &tool.texts.short;
        let Hit { confidence, reason, .. } = hit;
        let effect = tool.rules.effect.as_str();
        format!("{op} ({effect}, {confidence:.2}{conditions}{cost}): {summary}{detail} [{reason}]")
    }

    fn fields(&self) -> Value {
        let Self { tool, hit, .. } = self;
        let mut fields = fields([
            ("op", Some(tool.names.op.as_str().into())),
            ("name", Some(tool.names.canonical.as_str().into())),
            ("summary", Some(tool.texts.short.as_str().into())),
            ("detail", self.detail.as_deref().map(Value::from)),
            ("usage", self.usage.as_deref().map(Value::from)),
            ("effect", Some(tool.rules.effect.as_str().into())),
            ("confidence", Some(self.confidence().into())),
            ("reason", Some(hit.reason.as_str().into())),
            ("result_tokens", self.result_tokens.map(Value::from)),
            ("help", self.help.clone().map(Value::Object)),
        ]);
        let conditions = self.conditions.iter();
        fields.extend(conditions.map(|condition| (condition.replace(' ', "_"), true.into())));
        fields.into()
    }
}

/// Adds the text to the hits of all queries while there are tokens left: to the first hit of each query, then to the
/// second hits, and so on. The usage of a tool is shown only once.
fn explain(view: &CatalogView, outcomes: &mut [QueryHits]) {
    outcomes.iter_mut().for_each(|outcome| tell_apart(view, &mut outcome.hits));
    let mut left = view.catalog().config.search.usage_tokens;
    let mut take = |tokens: usize| {
        let fits = tokens <= left;
        left -= if fits { tokens } else { 0 };
        fits
    };
    let mut told = HashSet::new();
    let deepest = outcomes.iter().map(|outcome| outcome.hits.len()).max().unwrap_or_default();
    for rank in 0..deepest {
        let outcomes = outcomes.iter_mut().filter(|outcome| outcome.has_tools());
        let hits = outcomes.filter_map(|outcome| outcome.hits.get_mut(rank));
        for hit in hits.filter(|hit| hit.hit.confidence >= SURE && !view.is_forbidden(hit.hit.entry)) {
            if !told.contains(&hit.hit.entry)
                && let Some(usage) =
                    view.catalog().tools.get(hit.hit.entry).and_then(|tool| help::signature(tool))
                && take(token_count(&usage))
            {
                told.insert(hit.hit.entry);
                hit.usage = Some(usage);
            }
        }
    }
    for hit in outcomes.iter_mut().filter_map(QueryHits::clear_first) {
        let help = view.catalog().tools.get(hit.hit.entry).and_then(|tool| help::small(tool));
        hit.help = help.filter(|(_, tokens)| take(*tokens)).map(|(help, _)| help);
    }
    for hit in outcomes.iter_mut().flat_map(|outcome| &mut outcome.hits) {
        hit.conditions = hit.conditions(view);
    }
}

/// Fewest tokens of a result that are shown: shorter results are no reason to ask for less.
const LONG_RESULT: u64 = 500;

/// Adds to the hits what the results of earlier calls have cost their caller, rounded, so that the text stays the same. A search
/// does not wait for state that cannot be reached.
async fn add_costs(context: &FunctionContext, outcomes: &mut [QueryHits]) {
    if context.services.state.health().problem.is_some() {
        return;
    }
    let hits = outcomes.iter().flat_map(|outcome| &outcome.hits);
    let tools: HashSet<&str> = hits.map(|hit| hit.tool.names.canonical.as_str()).collect();
    let tools: Vec<&str> = tools.into_iter().collect();
    let known = context.services.state.mean_result_tokens(&context.caller.name, &tools).await;
    let Ok(known) = known else { return };
    for hit in outcomes.iter_mut().flat_map(|outcome| &mut outcome.hits) {
        let tokens = known.get(&hit.tool.names.canonical).map_or(0, |tokens| tokens.unsigned_abs());
        let step = 10_u64.pow(tokens.max(1).ilog10());
        hit.result_tokens = (tokens >= LONG_RESULT).then(|| (tokens + step / 2) / step * step);
    }
}

impl QueryHits {
    /// The hits by the confidence that is shown; those with the same one stay in the order of the search.
    pub fn by_confidence(&self) -> Vec<&ToolHit> {
        let mut hits: Vec<&ToolHit> = self.hits.iter().collect();
        hits.sort_by(|one, other| other.confidence().total_cmp(&one.confidence()));
        hits
    }

    /// Whether its hits are tools that may fit.
    fn has_tools(&self) -> bool {
        !self.hits.is_empty() && self.verdict != Verdict::NoMatch
    }

    /// The first hit, if it has its usage and is clearly ahead of the others.
    fn clear_first(&mut self) -> Option<&mut ToolHit> {
        let (first, others) = self.hits.split_first_mut()?;
        let is_ahead =
            first.hit.confidence >= AHEAD && others.iter().all(|other| other.hit.confidence <= BEHIND);
        (is_ahead && first.usage.is_some()).then_some(first)
    }
}

/// Tells hits with the same summary apart: adds to each the words that only this hit has.
fn tell_apart(view: &CatalogView, hits: &mut [ToolHit]) {
    let tools: Vec<Arc<Tool>> = hits.iter().map(|hit| Arc::clone(&hit.tool)).collect();
    let summaries: Vec<String> = tools.iter().map(|tool| plain(&tool.texts.short)).collect();
    for (at, hit) in hits.iter_mut().enumerate() {
        let same = (0..tools.len()).filter(|&other| other != at && summaries[other] == summaries[at]);
        let twins: Vec<&Tool> = same.map(|other| &*tools[other]).collect();
        if !twins.is_empty() {
            hit.detail = difference(&hit.tool, &twins, !view.is_forbidden(hit.hit.entry));
        }
    }
}

/// Letters and digits of a text, in lower case.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Text that only this tool has: words of its description, its category, or names of its arguments.
fn difference(tool: &Tool, others: &[&Tool], shows_arguments: bool) -> Option<String> {
    described(tool, others)
        .or_else(|| {
            let category = tool.category();
            let is_alone = others.iter().all(|other| other.category() != category);
            (is_alone && !category.is_empty()).then(|| format!("in {}", clean_line(category)))
        })
        .or_else(|| {
            if !shows_arguments {
                return None;
            }
            let known: HashSet<&str> = others.iter().flat_map(|other| argument_names(other)).collect();
            let mut own =
                argument_names(tool).into_iter().filter(|name| !known.contains(name)).map(clean_line);
            let first = own.next()?;
            Some(format!("takes {}", own.take(2).fold(first, |all, name| format!("{all}, {name}"))))
        })
        .map(|text| clipped(&text, CHARACTERS).into_owned())
}

/// The description from the first word in which it differs from all others.
fn described(tool: &Tool, others: &[&Tool]) -> Option<String> {
    let words = |tool: &'_ Tool| -> Vec<String> {
        tool.texts.long.split_whitespace().take(COMPARED).map(str::to_string).collect()
    };
    let own = words(tool);
    let differs_at = |other: &&Tool| {
        let other = words(other);
        let same = |at: &usize| other.get(*at).is_some_and(|word| plain(word) == plain(&own[*at]));
        (0..own.len()).find(|at| !same(at))
    };
    let starts: Option<Vec<usize>> = others.iter().map(differs_at).collect();
    let start = starts?.into_iter().max()?;
    let text = clean_line(&own[start..own.len().min(start + WORDS)].join(" "));
    (!plain(&text).is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_ordered_by_the_confidence_that_is_shown() {
        let tool = &functions().tools[0];
        let hit = |(reason, confidence): (&str, f32)| ToolHit {
            tool: Arc::clone(tool),
            hit: Hit { entry: 0, score: 0.0, confidence, reason: reason.into() },
            usage: None,
            detail: None,
            help: None,
            conditions: Vec::new(),
            result_tokens: None,
        };
        let found = [("a", 0.8), ("b", 0.101), ("c", 0.11), ("d", 0.099)];
        let hits = QueryHits {
            query: String::new(),
            verdict: Verdict::Match,
            hits: found.map(hit).into(),
            unmet: Vec::new(),
            categories: Vec::new(),
            lacks_sources: false,
            function: None,
        };
        let reasons: Vec<&str> = hits.by_confidence().iter().map(|hit| hit.hit.reason.as_str()).collect();
        assert_eq!(reasons, ["a", "c", "b", "d"]);
    }
}

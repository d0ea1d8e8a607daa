//! `tool_search`: returns the tools that fit one or several queries, or the verdict that no tool fits. [`explain()`]
//! adds the usage of confident hits, so that an agent can call them at once.

use std::collections::HashSet;
use std::fmt::Write;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::discovery::{
    Scope, UNREAD, blank, category, category_hints, hundredths, near_categories, ranked, read_part,
};
use super::function::{Answer, Arguments, CatalogView, Function, FunctionContext, ToolError};
use toolcrib_catalog::Tool;
use toolcrib_definition::tokens::estimate;
use toolcrib_definition::{clean_line, clipped, quoted};
use toolcrib_render::help::{self, argument_names};
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
    async fn answer(self, _: &Function, context: &FunctionContext) -> Result<Answer, ToolError> {
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
        let text = (self.format == Format::Text).then(|| text(view, &results, is_alone));
        let fields = match results.as_slice() {
            [only] if is_alone => only.fields(view),
            several => {
                let named = several.iter().map(|result| {
                    let mut named = Map::from_iter([("query".to_string(), result.query.into())]);
                    named.extend(result.fields(view));
                    Value::Object(named)
                });
                Map::from_iter([("results".to_string(), named.collect())])
            }
        };
        Ok(Answer::new(fields, text).with_semantic_status(&searched.semantic))
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
struct QueryHits<'q> {
    query: &'q str,
    verdict: Verdict,
    hits: Vec<Explained>,
    /// Unless a tool is sure to fit, the words of the query that no hit contains.
    unmet: Vec<String>,
    /// If nothing fits, the categories to look into.
    categories: Vec<usize>,
    /// Whether some source could not be read. A fitting tool may be in it.
    lacks_sources: bool,
}

impl<'q> QueryHits<'q> {
    fn new(context: &FunctionContext, query: &'q str, found: SearchResult) -> Self {
        let view = &context.view;
        let mut hits = found.hits;
        let verdict = if hits.is_empty() { Verdict::NoMatch } else { found.verdict };
        let mut unmet = Vec::new();
        let mut categories = Vec::new();
        if verdict != Verdict::Match {
            unmet = view.search().unmet(read_part(query), &hits);
        }
        if verdict == Verdict::NoMatch {
            categories = near_categories(view, query, CATEGORIES);
            hits.truncate(NEAREST);
        }
        let hits = hits.into_iter().map(Explained::bare).collect();
        Self { query, verdict, hits, unmet, categories, lacks_sources: context.lacks_sources() }
    }

    fn fields(&self, view: &CatalogView) -> Map<String, Value> {
        let tools: Vec<Value> = self.hits.iter().map(|hit| tool(view, hit)).collect();
        let verdict = self.verdict.as_str();
        let fields = match self.verdict {
            Verdict::Match => json!({ "verdict": verdict, "tools": tools }),
            Verdict::Unsure => {
                json!({ "verdict": verdict, "unmet": self.unmet, "tools": tools, "next_action": UNSURE })
            }
            Verdict::NoMatch => json!({
                "verdict": verdict,
                "unmet": self.unmet,
                "nearest": tools,
                "categories": category_hints(view, &self.categories),
                "next_action": self.next(),
            }),
        };
        let Value::Object(mut fields) = fields else { return Map::new() };
        if self.verdict != Verdict::Match && self.lacks_sources {
            fields.insert("complete".into(), false.into());
        }
        fields
    }

    /// Returns the next step if no tool fits.
    fn next(&self) -> &'static str {
        if self.lacks_sources { UNREAD } else { NEXT }
    }

    /// Returns the answer as lines of text. JSON would take two fifths more tokens, because it repeats the field
    /// names for each tool.
    fn text(&self, view: &CatalogView, is_alone: bool, is_first: bool) -> String {
        let of = if is_alone { String::new() } else { format!(" for \"{}\"", quoted(self.query)) };
        let verdict = self.verdict.as_str();
        let unmet = met_by_nothing(&self.unmet);
        let lines = if is_first { format!(" {LINES}") } else { String::new() };
        let mut text = match self.verdict {
            Verdict::Match => format!("{verdict}{of}:{lines}"),
            Verdict::Unsure if is_first => format!("{verdict}{of}{unmet}: {UNSURE}. {LINES}"),
            Verdict::Unsure => format!("{verdict}{of}{unmet}: {UNSURE}"),
            Verdict::NoMatch => format!("{verdict}{of}{unmet}: {}", self.next()),
        };
        if self.verdict == Verdict::NoMatch && !self.hits.is_empty() {
            text.push_str("\nnearest:");
        }
        for hit in &self.hits {
            let Some(tool) = view.catalog().tools.get(hit.hit.entry) else { continue };
            let (op, effect, summary) =
                (hit.usage.as_ref().unwrap_or(&tool.op), tool.effect.as_str(), &tool.short);
            let conditions: String =
                conditions(view, hit).iter().map(|condition| format!(", {condition}")).collect();
            let detail = hit.detail.as_ref().map_or_else(String::new, |detail| format!(" ({detail})"));
            let confidence = hit.hit.confidence;
            let reason = &hit.hit.reason;
            let _ = write!(
                text,
                "\n- {op} ({effect}, {confidence:.2}{conditions}): {summary}{detail} [{reason}]"
            );
            if let Some(help) = hit.help.as_ref().and_then(|help| serde_json::to_string(help).ok()) {
                let _ = write!(text, "\n  {help}");
            }
        }
        if !self.categories.is_empty() {
            text.push_str("\ncategories:");
        }
        for node in self.categories.iter().map(|&node| view.tree().node(node)) {
            let _ = write!(text, "\n- {}: {}", node.path, node.summary);
        }
        text
    }
}

/// The words that no hit contains, in parentheses.
fn met_by_nothing(unmet: &[String]) -> String {
    if unmet.is_empty() { String::new() } else { format!(" (nothing has: {})", unmet.join(", ")) }
}

/// The results as lines of text. The first result with tools also explains how to read the lines.
fn text(view: &CatalogView, results: &[QueryHits<'_>], is_alone: bool) -> String {
    let first = results.iter().position(QueryHits::has_tools);
    let texts = results.iter().enumerate().map(|(at, result)| result.text(view, is_alone, first == Some(at)));
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Conditions for calling this tool that its usage does not show.
fn conditions(view: &CatalogView, hit: &Explained) -> Vec<&'static str> {
    let Some(tool) = view.catalog().tools.get(hit.hit.entry) else { return Vec::new() };
    let definition = &tool.definition;
    let conditions = [
        ("forbidden", view.is_forbidden(hit.hit.entry)),
        ("doc first", view.catalog().config.exec.require_doc.covers(tool.effect)),
        ("policy in help", tool.policy.is_some() && hit.help.is_none() && hit.usage.is_some()),
        ("deprecated", definition.deprecated == Some(true)),
    ];
    conditions.into_iter().filter(|(_, holds)| *holds).map(|(condition, _)| condition).collect()
}

fn tool(view: &CatalogView, explained: &Explained) -> Value {
    let hit = &explained.hit;
    let Some(tool) = view.catalog().tools.get(hit.entry) else { return Value::Null };
    let mut fields = Map::with_capacity(9);
    fields.insert("op".into(), tool.op.as_str().into());
    fields.insert("name".into(), tool.name.as_str().into());
    fields.insert("summary".into(), tool.short.as_str().into());
    fields.extend(explained.detail.as_deref().map(|detail| ("detail".to_string(), detail.into())));
    fields.extend(explained.usage.as_deref().map(|usage| ("usage".to_string(), usage.into())));
    fields.insert("effect".into(), tool.effect.as_str().into());
    fields.insert("confidence".into(), hundredths(hit.confidence).into());
    fields.insert("reason".into(), hit.reason.as_str().into());
    fields.extend(explained.help.clone().map(|help| ("help".to_string(), help.into())));
    fields.extend(
        conditions(view, explained).into_iter().map(|condition| (condition.replace(' ', "_"), true.into())),
    );
    fields.into()
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
struct Explained {
    hit: Hit,
    usage: Option<String>,
    detail: Option<String>,
    help: Option<Map<String, Value>>,
}

impl Explained {
    fn bare(hit: Hit) -> Self {
        Self { hit, usage: None, detail: None, help: None }
    }
}

/// Adds the text to the hits of all queries while there are tokens left: to the first hit of each query, then to the
/// second hits, and so on. The usage of a tool is shown only once.
fn explain(view: &CatalogView, outcomes: &mut [QueryHits<'_>]) {
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
                && take(estimate(&usage))
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
}

impl QueryHits<'_> {
    /// Whether its hits are tools that may fit.
    fn has_tools(&self) -> bool {
        self.verdict != Verdict::NoMatch
    }

    /// The first hit, if it has its usage and is clearly ahead of the others.
    fn clear_first(&mut self) -> Option<&mut Explained> {
        let (first, others) = self.hits.split_first_mut()?;
        let is_ahead =
            first.hit.confidence >= AHEAD && others.iter().all(|other| other.hit.confidence <= BEHIND);
        (is_ahead && first.usage.is_some()).then_some(first)
    }
}

/// Tells hits with the same summary apart: adds to each the words that only this hit has.
fn tell_apart(view: &CatalogView, hits: &mut [Explained]) {
    let tools: Vec<Option<&Tool>> =
        hits.iter().map(|hit| view.catalog().tools.get(hit.hit.entry).map(|tool| &**tool)).collect();
    let summaries: Vec<String> =
        tools.iter().map(|tool| tool.map_or_else(String::new, |tool| plain(&tool.short))).collect();
    for at in 0..hits.len() {
        let Some(tool) = tools[at] else { continue };
        let same = (0..hits.len()).filter(|&other| other != at && summaries[other] == summaries[at]);
        let twins: Vec<&Tool> = same.filter_map(|other| tools[other]).collect();
        if !twins.is_empty() {
            let shows_arguments = !view.is_forbidden(hits[at].hit.entry);
            hits[at].detail = difference(tool, &twins, shows_arguments);
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
        tool.long.split_whitespace().take(COMPARED).map(str::to_string).collect()
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

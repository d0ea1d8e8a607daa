//! `tool_search`: the tools that fit one or several queries, or the verdict that none does.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::arguments::read;
use super::discovery::{Scope, category, category_hints, hundredths, near_categories, ranked};
use super::{Answer, AnswerFuture, CatalogView, ErrorCode, Function, FunctionContext, Refusal};
use crate::search::{Hit, SearchResult, Verdict};
use crate::tool::quoted;

/// Most tools in the answer when none fits.
const NEAREST: usize = 3;
/// Most categories in it.
const CATEGORIES: usize = 3;

const NEXT: &str = "ask again in other words, an action and an object; if `nearest` and `categories` are nothing like it, \
                    there is no such tool: say so";

#[derive(Deserialize)]
struct Arguments {
    query: Option<String>,
    #[serde(default)]
    queries: Vec<String>,
    category: Option<String>,
    #[serde(default = "default_limit")]
    limit: usize,
    #[serde(default)]
    format: Format,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Text,
    Json,
}

fn default_limit() -> usize {
    5
}

/// Answers a call.
pub(super) fn run(function: &'static Function, context: FunctionContext, arguments: Value) -> AnswerFuture {
    Box::pin(async move { searched(function, &context, arguments).await })
}

async fn searched(
    function: &Function,
    context: &FunctionContext,
    arguments: Value,
) -> Result<Answer, Refusal> {
    let arguments: Arguments = read(function.name(), arguments)?;
    let view = &context.view;
    let asked = arguments.query.iter().chain(&arguments.queries).map(|query| query.trim());
    let queries: Vec<&str> = asked.filter(|query| !query.is_empty()).collect();
    let is_alone = arguments.queries.is_empty();
    if queries.is_empty() {
        return Err(match &arguments.query {
            Some(_) => super::discovery::blank("query"),
            None if !is_alone => super::discovery::blank("queries"),
            None => nothing_asked(),
        });
    }
    view.wait_for_indexes().await;
    let path: Vec<&str> = arguments.category.as_deref().into_iter().collect();
    let scope = Scope { node: category(view, &path)?, tags: &[] };
    let searched = ranked(context, &queries, scope, arguments.limit).await;
    let found = queries.iter().zip(searched.found);
    let results: Vec<Outcome> = found.map(|(query, found)| Outcome::new(view, query, found)).collect();
    let text = (arguments.format == Format::Text)
        .then(|| results.iter().map(|result| result.text(view, is_alone)).collect::<Vec<_>>().join("\n\n"));
    let mut all_fields: Vec<Map<String, Value>> = results.iter().map(|result| result.fields(view)).collect();
    let fields = match all_fields.pop() {
        Some(only) if is_alone => only,
        last => {
            let named = |(query, fields): (&&str, Map<String, Value>)| {
                let mut named = Map::with_capacity(fields.len() + 1);
                named.insert("query".into(), (*query).into());
                named.extend(fields);
                Value::Object(named)
            };
            let results: Vec<Value> =
                queries.iter().zip(all_fields.into_iter().chain(last)).map(named).collect();
            Map::from_iter([("results".to_string(), results.into())])
        }
    };
    Ok(Answer::new(fields, text).with_semantic_status(&searched.semantic))
}

fn nothing_asked() -> Refusal {
    let mut refusal = Refusal::new(
        ErrorCode::ValidationError,
        "neither `query` nor `queries` says what to look for",
        "say in `query` what you want to do, in a few words; or several things in `queries`",
    );
    refusal.example = Some(json!({ "query": "move a document under a folder" }));
    refusal.field("/query", "this is missing, and so is `queries`")
}

/// Result of one query.
struct Outcome<'q> {
    query: &'q str,
    fits: bool,
    hits: Vec<Hit>,
    /// Categories to look into when nothing fits.
    categories: Vec<usize>,
}

impl<'q> Outcome<'q> {
    fn new(view: &CatalogView, query: &'q str, found: SearchResult) -> Self {
        let mut hits = found.hits;
        let fits = found.verdict == Verdict::Match && !hits.is_empty();
        let categories = if fits { Vec::new() } else { near_categories(view, query, CATEGORIES) };
        if !fits {
            hits.truncate(NEAREST);
        }
        Self { query, fits, hits, categories }
    }

    fn fields(&self, view: &CatalogView) -> Map<String, Value> {
        let tools: Vec<Value> = self.hits.iter().map(|hit| tool(view, hit)).collect();
        let fields = match self.fits {
            true => json!({ "verdict": "match", "tools": tools }),
            false => json!({
                "verdict": "no_match",
                "nearest": tools,
                "categories": category_hints(view, &self.categories),
                "next_action": NEXT,
            }),
        };
        if let Value::Object(fields) = fields { fields } else { Map::new() }
    }

    /// The answer in lines. As JSON it takes two fifths more tokens, since the names of fields are repeated for each
    /// tool.
    fn text(&self, view: &CatalogView, is_alone: bool) -> String {
        let of = if is_alone { String::new() } else { format!(" for \"{}\"", quoted(self.query)) };
        let mut text = match self.fits {
            true => format!("match{of}: op (effect, confidence): what it does [why]"),
            false => format!("no_match{of}: {NEXT}"),
        };
        if !self.fits && !self.hits.is_empty() {
            text.push_str("\nnearest:");
        }
        for hit in &self.hits {
            let Some(tool) = view.catalog().tools.get(hit.entry) else { continue };
            let (op, effect, summary) = (&tool.op, tool.effect.as_str(), &tool.short);
            let may_not = if view.is_forbidden(hit.entry) { ", forbidden" } else { "" };
            let (confidence, reason) = (hit.confidence, &hit.reason);
            let _ = write!(text, "\n- {op} ({effect}, {confidence:.2}{may_not}): {summary} [{reason}]");
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

fn tool(view: &CatalogView, hit: &Hit) -> Value {
    let Some(tool) = view.catalog().tools.get(hit.entry) else { return Value::Null };
    let mut fields = json!({
        "op": tool.op,
        "name": tool.name,
        "summary": tool.short,
        "effect": tool.effect,
        "confidence": hundredths(hit.confidence),
        "reason": hit.reason,
    });
    if view.is_forbidden(hit.entry) {
        fields["forbidden"] = true.into();
    }
    fields
}

//! `tool_search`: the tools that fit one or several queries, or the verdict that none does. [`mod@explain`] adds the usage of
//! sure hits, so that they can be called at once.

mod explain;

use std::fmt::Write;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::arguments::read;
use super::discovery::{
    Scope, UNREAD, category, category_hints, hundredths, near_categories, ranked, read_part,
};
use super::{Answer, AnswerFuture, CatalogView, ErrorCode, Function, FunctionContext, Refusal};
use crate::search::{SearchResult, Verdict};
use crate::tool::quoted;
use explain::{Explained, explain};

/// Most tools in the answer when none fits.
const NEAREST: usize = 3;
/// Most categories in it.
const CATEGORIES: usize = 3;

/// Form of the lines of a `match`.
const LINES: &str = "op(arguments) (effect, confidence): what it does [why]. `?` is optional, required without a \
                     type is a string. Call an op at once if its arguments are shown; else ask tool_help";

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
    let mut results: Vec<Outcome> = found.map(|(query, found)| Outcome::new(context, query, found)).collect();
    explain(view, &mut results);
    let text = (arguments.format == Format::Text).then(|| text(view, &results, is_alone));
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
    hits: Vec<Explained>,
    /// Words of the query that no hit has, when nothing fits.
    unmet: Vec<String>,
    /// Categories to look into when nothing fits.
    categories: Vec<usize>,
    /// Whether a source could not be read, in which a fitting tool may be.
    lacks_sources: bool,
}

impl<'q> Outcome<'q> {
    fn new(context: &FunctionContext, query: &'q str, found: SearchResult) -> Self {
        let view = &context.view;
        let mut hits = found.hits;
        let fits = found.verdict == Verdict::Match && !hits.is_empty();
        let (mut unmet, mut categories) = (Vec::new(), Vec::new());
        if !fits {
            unmet = view.search().unmet(read_part(query), &hits);
            categories = near_categories(view, query, CATEGORIES);
            hits.truncate(NEAREST);
        }
        let hits = hits.into_iter().map(Explained::bare).collect();
        Self { query, fits, hits, unmet, categories, lacks_sources: context.lacks_sources() }
    }

    fn fields(&self, view: &CatalogView) -> Map<String, Value> {
        let tools: Vec<Value> = self.hits.iter().map(|hit| tool(view, hit)).collect();
        let fields = match self.fits {
            true => json!({ "verdict": "match", "tools": tools }),
            false => json!({
                "verdict": "no_match",
                "unmet": self.unmet,
                "nearest": tools,
                "categories": category_hints(view, &self.categories),
                "next_action": self.next(),
            }),
        };
        let Value::Object(mut fields) = fields else { return Map::new() };
        if !self.fits && self.lacks_sources {
            fields.insert("complete".into(), false.into());
        }
        fields
    }

    /// The next step where no tool fits.
    fn next(&self) -> &'static str {
        if self.lacks_sources { UNREAD } else { NEXT }
    }

    /// The answer in lines. As JSON it takes two fifths more tokens, since the names of fields are repeated for each
    /// tool.
    fn text(&self, view: &CatalogView, is_alone: bool, is_first: bool) -> String {
        let of = if is_alone { String::new() } else { format!(" for \"{}\"", quoted(self.query)) };
        let mut text = match self.fits {
            true if is_first => format!("match{of}: {LINES}"),
            true => format!("match{of}:"),
            false => format!("no_match{of}{}: {}", met_by_nothing(&self.unmet), self.next()),
        };
        if !self.fits && !self.hits.is_empty() {
            text.push_str("\nnearest:");
        }
        for hit in &self.hits {
            let Some(tool) = view.catalog().tools.get(hit.hit.entry) else { continue };
            let (op, effect, summary) =
                (hit.usage.as_ref().unwrap_or(&tool.op), tool.effect.as_str(), &tool.short);
            let conditions: String =
                conditions(view, hit).iter().map(|condition| format!(", {condition}")).collect();
            let detail = hit.detail.as_ref().map_or_else(String::new, |detail| format!(" ({detail})"));
            let (confidence, reason) = (hit.hit.confidence, &hit.hit.reason);
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

/// The words that no hit has, in brackets.
fn met_by_nothing(unmet: &[String]) -> String {
    if unmet.is_empty() { String::new() } else { format!(" (nothing has: {})", unmet.join(", ")) }
}

/// The outcomes in lines; the first with tools says how these are read.
fn text(view: &CatalogView, results: &[Outcome<'_>], is_alone: bool) -> String {
    let first = results.iter().position(|result| result.fits);
    let texts = results.iter().enumerate().map(|(at, result)| result.text(view, is_alone, first == Some(at)));
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Conditions of a call of this tool that its usage does not show.
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

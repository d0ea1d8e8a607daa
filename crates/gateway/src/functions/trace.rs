//! The trace of a function call: the pages that its session has read, and counts. Calls of tools are recorded where they are run.

use std::borrow::Cow;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::function::{Answer, ErrorCode};
use crate::context::FunctionContext;
use crate::exec::BYTES_A_TOKEN;
use crate::state::{Event, EventKind};
use toolcrib_catalog::config::RequireDoc;

/// Most ops that one event names.
const FOUND: usize = 50;

/// A call of a function about tools, while it is answered.
pub(super) struct TracedCall {
    kind: EventKind,
    /// The tools that were requested by name.
    pub(super) names: Vec<String>,
    /// The arguments to record, where there is a session.
    input: Value,
    started: Instant,
}

impl TracedCall {
    /// Records the request.
    pub(super) fn of(kind: EventKind, context: &FunctionContext, arguments: &Value) -> Self {
        let names = if kind == EventKind::Search { Vec::new() } else { names(arguments) };
        let input = match context.caller.session {
            Some(_) => context.view.catalog().secrets().noted(&Value::Null, &said(arguments)),
            None => Value::Null,
        };
        Self { kind, names, input, started: Instant::now() }
    }

    /// Records the outcome.
    pub(super) async fn record(self, function: &str, context: &FunctionContext, answer: &Answer) {
        self.count(context, answer);
        let Some(session) = context.caller.session() else { return };
        let event = Event {
            trace_id: context.trace.id().into(),
            caller: session.caller.to_string(),
            session: Some(session.id.to_string()),
            kind: self.kind,
            function: function.into(),
            outcome: answer.error().map_or("ok", ErrorCode::as_str).into(),
            latency_us: i64::try_from(self.started.elapsed().as_micros()).unwrap_or(i64::MAX),
            tokens: (answer.bytes() as u64 / BYTES_A_TOKEN) as i64,
            ..Event::default()
        };
        let state = &context.services.state;
        let body = answer.body();
        if !answer.is_ok()
            && let Some(error) = body.get("error")
        {
            let error = error.get("message").and_then(Value::as_str);
            let error = error.map(|error| context.view.catalog().secrets().text(error).into_owned());
            return state.record(Event { input: self.input, error, ..event });
        }
        if self.kind == EventKind::Search {
            let mut found = Vec::new();
            ops(body, &mut found);
            let detail = match (body.get("verdict"), body.get("results").and_then(Value::as_array)) {
                (Some(verdict), _) => json!({ "verdict": verdict }),
                (None, Some(results)) => {
                    let verdicts = results.iter().filter_map(|result| result.get("verdict"));
                    json!({ "verdicts": verdicts.collect::<Vec<_>>() })
                }
                (None, None) => Value::Null,
            };
            return state.record(Event { input: self.input, found, detail, ..event });
        }
        let mut docs = Vec::new();
        docs_in(body, &mut docs);
        if docs.is_empty() {
            return state.record(Event { input: self.input, ..event });
        }
        let keeps = context.view.catalog().config.exec.require_doc != RequireDoc::Never;
        for (place, (op, version, proves)) in docs.into_iter().enumerate() {
            if keeps && (proves || self.kind == EventKind::Expand) {
                // A failure of state shows in its health, and prevents no reading.
                let _ = state.record_doc_read(&session, op, version).await;
            }
            let op = Some(op.to_string());
            let detail = json!({ "doc_version": version });
            // The answer counts once.
            let tokens = if place == 0 { event.tokens } else { 0 };
            state.record(Event { op, detail, tokens, input: self.input.clone(), ..event.clone() });
        }
    }

    fn count(&self, context: &FunctionContext, answer: &Answer) {
        let counts = &context.services.counts;
        let served = answer.bytes() as u64 / BYTES_A_TOKEN;
        counts.add("toolcrib_tokens_served_total", "", served);
        if self.kind == EventKind::Search {
            let is_none = answer.error() == Some(ErrorCode::NoMatchInCategory)
                || answer.verdict().is_some_and(|verdict| verdict == "no_match");
            counts.add("toolcrib_search_abstentions_total", "", is_none.into());
        }
    }
}

/// The tools that are requested by name.
fn names(arguments: &Value) -> Vec<String> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let list = |name: &str| arguments.get(name).and_then(Value::as_array);
    let alone = ["name", "path", "tool_id"].into_iter().filter_map(text);
    let several = ["names", "paths"].into_iter().filter_map(list).flatten().filter_map(Value::as_str);
    alone.chain(several).take(FOUND).map(ToString::to_string).collect()
}

/// The only argument, or all of them.
fn said(arguments: &Value) -> Cow<'_, Value> {
    let only = arguments.as_object().filter(|fields| fields.len() == 1);
    let only = only
        .and_then(|fields| ["query", "name", "path", "tool_id"].iter().find_map(|name| fields.get(*name)));
    only.map_or(Cow::Borrowed(arguments), Cow::Borrowed)
}

/// Fields of an answer that do not count as found.
const ASIDE: [&str; 8] =
    ["meta", "hints", "nearest", "categories", "help", "args_schema", "result_schema", "example"];

fn inside(fields: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    let inner = fields.iter().filter(|(name, _)| !ASIDE.contains(&name.as_str())).map(|(_, value)| value);
    inner.flat_map(|value| {
        let items = value.as_array().into_iter().flatten();
        items.chain(Some(value)).filter_map(Value::as_object)
    })
}

fn op(fields: &Map<String, Value>) -> Option<&str> {
    fields.get("op").or_else(|| fields.get("tool_id"))?.as_str()
}

/// The ops that a search has found, best first.
fn ops(fields: &Map<String, Value>, found: &mut Vec<String>) {
    if let Some(op) = op(fields).filter(|op| found.len() < FOUND && !found.iter().any(|known| known == op)) {
        found.push(op.to_string());
    }
    inside(fields).for_each(|inner| ops(inner, found));
}

/// The docs in an answer: op, version, and whether it carries the receipt.
fn docs_in<'b>(fields: &'b Map<String, Value>, docs: &mut Vec<(&'b str, &'b str, bool)>) {
    if let (Some(op), Some(version)) = (op(fields), fields.get("doc_version").and_then(Value::as_str)) {
        docs.push((op, version, fields.contains_key("receipt")));
        return;
    }
    inside(fields).for_each(|inner| docs_in(inner, docs));
}

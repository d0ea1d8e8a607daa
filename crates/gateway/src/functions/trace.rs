//! The trace of a function call: the pages that its session has read, and counts. Calls of tools are recorded where they are run.

use std::borrow::Cow;
use std::time::Instant;

use indexmap::IndexSet;
use serde_json::{Value, json};

use super::answer::{Answer, Reply};
use super::read_tool_doc::ReadPage;
use crate::context::FunctionContext;
use crate::exec::BYTES_A_TOKEN;
use crate::state::{Event, EventKind};
use crate::tool_error::ErrorCode;
use toolcrib_catalog::config::RequireDoc;
use toolcrib_catalog::results::length;
use toolcrib_search::Verdict;

/// Most ops that one event names.
const FOUND: usize = 50;

/// A call of a function about tools, while it is answered.
pub(super) struct TracedCall {
    kind: EventKind,
    /// The first tool that was requested by name.
    pub(super) named: Option<String>,
    /// The arguments to record, where there is a session.
    input: Value,
    started: Instant,
}

impl TracedCall {
    /// Records the request.
    pub(super) fn of(kind: EventKind, context: &FunctionContext, arguments: &Value) -> Self {
        let named = if kind == EventKind::Search { None } else { named(arguments).map(str::to_string) };
        let input = match context.caller.session {
            Some(_) => context.view.catalog().secrets().noted(&Value::Null, &said(arguments)),
            None => Value::Null,
        };
        Self { kind, named, input, started: Instant::now() }
    }

    /// Records the outcome.
    pub(super) async fn record(self, function: &str, context: &FunctionContext, answer: &Answer) {
        let served = answer.tokens();
        self.count(context, answer, served);
        let Some(session) = context.caller.session() else { return };
        let event = Event {
            trace_id: context.trace.id().into(),
            caller: session.caller.to_string(),
            session: Some(session.id.to_string()),
            kind: self.kind,
            function: function.into(),
            input: self.input,
            outcome: answer.error().map_or("ok", ErrorCode::outcome).into(),
            latency_us: i64::try_from(self.started.elapsed().as_micros()).unwrap_or(i64::MAX),
            tokens: served as i64,
            ..Event::default()
        };
        let state = &context.services.state;
        let reply = match &answer.reply {
            Ok(reply) => reply,
            Err(error) => {
                let error = context.view.catalog().secrets().text(&error.message).into_owned();
                return state.record(Event { error: Some(error), ..event });
            }
        };
        let pages = reply.pages();
        if pages.is_empty() {
            return state.record(Event { found: reply.found(), detail: reply.verdicts(), ..event });
        }
        let keeps = context.view.catalog().config.exec.require_doc != RequireDoc::Never;
        for (place, ReadPage { op, version, proves }) in pages.into_iter().enumerate() {
            if keeps && (proves || self.kind == EventKind::Expand) {
                // A failure of state shows in its health, and prevents no reading.
                let _ = state.record_doc_read(&session, op, version).await;
            }
            let detail = json!({ "doc_version": version });
            // The answer counts once.
            let tokens = if place == 0 { event.tokens } else { 0 };
            state.record(Event { op: Some(op.to_string()), detail, tokens, ..event.clone() });
        }
    }

    fn count(&self, context: &FunctionContext, answer: &Answer, served: u64) {
        let counts = &context.services.counts;
        counts.add("toolcrib_tokens_served_total", "", served);
        if self.kind == EventKind::Search {
            let is_none = match &answer.reply {
                Ok(reply) => reply.verdict() == Some(Verdict::NoMatch),
                Err(error) => error.code == ErrorCode::NoMatchInCategory,
            };
            counts.add("toolcrib_search_abstentions_total", "", is_none.into());
        }
    }
}

/// The first tool that is requested by name.
fn named(arguments: &Value) -> Option<&str> {
    let alone = ["name", "path", "tool_id"].into_iter().find_map(|name| arguments.get(name)?.as_str());
    alone.or_else(|| ["names", "paths"].into_iter().find_map(|name| arguments.get(name)?.get(0)?.as_str()))
}

/// The only argument, or all of them.
fn said(arguments: &Value) -> Cow<'_, Value> {
    let only = arguments.as_object().filter(|fields| fields.len() == 1);
    let only = only
        .and_then(|fields| ["query", "name", "path", "tool_id"].iter().find_map(|name| fields.get(*name)));
    only.map_or(Cow::Borrowed(arguments), Cow::Borrowed)
}

impl Answer {
    /// The estimated tokens of the text for a model.
    fn tokens(&self) -> u64 {
        let bytes = self.markdown().map_or_else(|| length(self), |text| text.len());
        bytes as u64 / BYTES_A_TOKEN
    }
}

impl Reply {
    /// The pages in it.
    fn pages(&self) -> Vec<ReadPage<'_>> {
        match self {
            Reply::Pages(pages) => pages.read(),
            Reply::Help(help) => help.pages(),
            Reply::Expanded(expanded) => vec![expanded.page()],
            _ => Vec::new(),
        }
    }

    /// The ops that a search has found, best first.
    fn found(&self) -> Vec<String> {
        let ops: Vec<&str> = match self {
            Reply::Hits(hits) => hits.found().collect(),
            Reply::Listed(listed) => listed.tools().iter().map(|tool| tool.tool_id.as_str()).collect(),
            Reply::Picked(picked) => picked.ops().collect(),
            _ => Vec::new(),
        };
        let ops: IndexSet<&str> = ops.into_iter().collect();
        ops.into_iter().take(FOUND).map(str::to_string).collect()
    }

    /// The verdict of a search for one thing.
    fn verdict(&self) -> Option<Verdict> {
        match self {
            Reply::Hits(hits) => hits.verdict(),
            Reply::Picked(picked) => Some(picked.outcome.verdict),
            _ => None,
        }
    }

    fn verdicts(&self) -> Value {
        match (self, self.verdict()) {
            (_, Some(verdict)) => json!({ "verdict": verdict.as_str() }),
            (Reply::Hits(hits), None) => {
                let verdicts = hits.results.iter().map(|result| result.verdict.as_str());
                json!({ "verdicts": verdicts.collect::<Vec<_>>() })
            }
            _ => Value::Null,
        }
    }
}

//! Sessions: the lists, the events of one session, and their export.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Path;
use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_DISPOSITION;
use http::{HeaderValue, StatusCode};
use serde_json::{Map, Value, json};

use super::super::request_context::{RequestContext, query_value};
use super::timeline;
use super::visit::{MAX_SKIPPED, ROWS, missing, query_of, session_href, unreadable};
use crate::response::{Problem, Response, no_store};
use crate::site::{Page, Site, cut, inline_html, json_text, short_line};
use toolcrib_definition::clean_text;
use toolcrib_gateway::state::{
    CallQuery, Event, EventKind, EventQuery, SessionSummary, StateError, WaitBudget, is_failure, utc,
};
use toolcrib_providers::report::grouped;
use toolcrib_render::TemplateError;

/// Most bytes of the input of an event.
const MAX_INPUT: usize = 4 << 10;

/// Most found tools that a search shows.
const MAX_FOUND: usize = 8;

/// Events of a session on one page, and in one part of an export.
const EVENTS: usize = 200;
const EXPORTED: usize = 1_000;

/// `GET /sessions.html`: the sessions, newest first; with a tool or an outcome, the calls.
pub(crate) async fn sessions(visit: RequestContext) -> Result<Response, Problem> {
    let callers = visit.chosen();
    let skip = visit.skip();
    let tool = visit.query("tool");
    let outcome = visit.query("outcome");
    let filter = Filter { caller: visit.query("caller"), tool: tool.clone(), outcome: outcome.clone(), skip };
    let state = visit.state();
    if tool.is_none() && outcome.is_none() {
        let sessions = state.sessions(&callers, skip, ROWS + 1).await.map_err(unreadable)?;
        return visit.page(move |site| sessions_page(site, &sessions, &filter)).await;
    }
    let wanted = CallQuery { callers, tool, outcome, skip, limit: ROWS + 1 };
    let (calls, is_cut) = state.calls(&wanted).await.map_err(unreadable)?;
    visit.page(move |site| calls_page(site, &calls, is_cut, &filter)).await
}

/// The session of an address, if the visitor may see it.
async fn visible_session(visit: &RequestContext, id: &str) -> Result<SessionSummary, Problem> {
    let caller = query_value(&visit.request, "caller");
    let caller = caller.unwrap_or_else(|| visit.catalog.caller.name.to_string());
    let session = if visit.callers().have(&caller) {
        visit.state().session(&caller, id).await.map_err(unreadable)?
    } else {
        None
    };
    session.ok_or_else(|| missing("session"))
}

/// `GET /sessions/ID`: the events of a session, in order.
pub(crate) async fn session(Path(id): Path<String>, visit: RequestContext) -> Result<Response, Problem> {
    let session = visible_session(&visit, &id).await?;
    let skip = visit.skip();
    let wanted = EventQuery { skip: skip as i64, limit: EVENTS + 1, ..events_of(&session) };
    let events = visit.state().events(&wanted).await.map_err(unreadable)?;
    visit.page(move |site| session_page(site, &session, &events, skip)).await
}

fn events_of(session: &SessionSummary) -> EventQuery {
    let caller = Some(session.caller.clone());
    let session = Some(session.session.clone());
    EventQuery { session, caller, ..EventQuery::default() }
}

/// `GET /sessions/ID/events.jsonl`: all events of a session, each as one line of JSON.
pub(crate) async fn export(Path(id): Path<String>, visit: RequestContext) -> Result<Response, Problem> {
    let session = visible_session(&visit, &id).await?;
    let begin =
        (Arc::clone(visit.state()), EventQuery { limit: EXPORTED, ..events_of(&session) }, 1_i64, true);
    let parts = stream::try_unfold(begin, async |(state, mut wanted, number, has_more)| {
        if !has_more {
            return Ok::<_, StateError>(None);
        }
        let events = WaitBudget::default().with(state.events(&wanted)).await?;
        let count = events.len();
        wanted.after = events.last().map_or(wanted.after, |event| event.id);
        let lines = (number..).zip(events).map(|(number, event)| format!("{}\n", event_entry(number, event)));
        let lines = Bytes::from(lines.collect::<String>());
        Ok(Some((lines, (state, wanted, number + count as i64, count == EXPORTED))))
    });
    let mut response = no_store(StatusCode::OK, "application/jsonl", Body::from_stream(parts));
    let name = HeaderValue::try_from(format!("attachment; filename=\"{}.jsonl\"", session.session));
    response.headers_mut().extend(name.map(|name| (CONTENT_DISPOSITION, name)));
    Ok(response)
}

/// An event without its empty fields. Its number is that within the session: the store also counts other callers' events.
fn event_entry(number: i64, event: Event) -> Value {
    let fields = json!(Event { id: number, ..event });
    let is_said = |value: &Value| !value.is_null() && *value != json!([]) && *value != json!("");
    let fields = fields.as_object().into_iter().flatten().filter(|(_, value)| is_said(value));
    Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>())
}

/// The filter of a list.
struct Filter {
    caller: Option<String>,
    tool: Option<String>,
    /// `failed`, or an outcome.
    outcome: Option<String>,
    /// The number of rows that are skipped.
    skip: usize,
}

impl Filter {
    /// The values of the form, and the links to the pages before and after, of `found` rows.
    fn values(&self, found: usize) -> Value {
        let text = |field: &Option<String>| field.as_deref().map(short_line).unwrap_or_default();
        let href = |skip: usize| {
            let skip = skip.to_string();
            let fields = [
                ("caller", self.caller.as_deref().unwrap_or_default()),
                ("tool", self.tool.as_deref().unwrap_or_default()),
                ("outcome", self.outcome.as_deref().unwrap_or_default()),
                ("skip", &skip),
            ];
            format!("sessions.html?{}", query_of(&fields))
        };
        json!({
            "caller": text(&self.caller),
            "tool": text(&self.tool),
            "outcome": text(&self.outcome),
            "before": (self.skip > 0).then(|| href(self.skip.saturating_sub(ROWS))),
            "after": (found > ROWS && self.skip + ROWS <= MAX_SKIPPED).then(|| href(self.skip + ROWS)),
        })
    }
}

/// The sessions of a filter.
fn sessions_page(
    site: &Site<'_>,
    sessions: &[SessionSummary],
    filter: &Filter,
) -> Result<Page, TemplateError> {
    let row = |session: &SessionSummary| {
        json!({
            "session": short_line(&session.session),
            "href": session_href(&session.session, &session.caller, ""),
            "caller": short_line(&session.caller),
            "since": utc(session.since),
            "until": utc(session.until),
            "events": session.events,
            "calls": session.calls,
            "failed": session.failed,
        })
    };
    let rows = sessions.iter().take(ROWS).map(row);
    let values = json!({ "sessions": rows.collect::<Vec<_>>(), "filter": filter.values(sessions.len()) });
    site.operate("sessions", ("sessions", "Sessions"), None, values)
}

/// The calls of a filter. `is_cut`: older calls were not read.
fn calls_page(
    site: &Site<'_>,
    calls: &[Event],
    is_cut: bool,
    filter: &Filter,
) -> Result<Page, TemplateError> {
    let row = |call: &Event| {
        let session = call.session.as_deref();
        let mut row = event_row(site, call, call.at, "");
        row["when"] = utc(call.at).into();
        row["caller"] = short_line(&call.caller).into();
        row["session"] = json!(session.map(short_line));
        row["href"] = json!(session.map(|session| session_href(session, &call.caller, "")));
        row
    };
    let rows = calls.iter().take(ROWS).map(row);
    let values = json!({
        "calls": rows.collect::<Vec<_>>(),
        "is_cut": is_cut,
        "filter": filter.values(calls.len()),
    });
    site.operate("sessions", ("sessions", "Calls"), None, values)
}

/// The events of a session after those that are skipped.
fn session_page(
    site: &Site<'_>,
    session: &SessionSummary,
    events: &[Event],
    skip: usize,
) -> Result<Page, TemplateError> {
    let rows = timeline::rows(&events[..events.len().min(EVENTS)], skip + 1);
    let shown = |(row, bar): (&timeline::Row<'_>, Value)| {
        let mut values = event_row(site, row.event(), session.since, "../");
        values["number"] = row.number.into();
        values["count"] = row.count().into();
        values["bar"] = bar;
        values
    };
    let shown: Vec<Value> = rows.iter().zip(timeline::bars(&rows)).map(shown).collect();
    let own = |more: &str| session_href(&session.session, &session.caller, more).replacen("sessions/", "", 1);
    let values = json!({
        "session": short_line(&session.session),
        "caller": short_line(&session.caller),
        "since": utc(session.since),
        "until": utc(session.until),
        "counts": [session.events, session.calls, session.failed],
        "events": shown,
        "permalink": own(""),
        "export": own("/events.jsonl"),
        "before": (skip > 0).then(|| format!("{}&skip={}", own(""), skip.saturating_sub(EVENTS))),
        "is_cut": events.len() > EVENTS && skip + EVENTS > MAX_SKIPPED,
        "after": (events.len() > EVENTS && skip + EVENTS <= MAX_SKIPPED).then(|| format!("{}&skip={}", own(""), skip + EVENTS)),
    });
    site.operate("session", ("sessions", &session.session), Some(("Sessions", "../sessions.html")), values)
}

/// One event, for a page from which the root of the site is `root`.
fn event_row(site: &Site<'_>, event: &Event, since: i64, root: &str) -> Value {
    let word = |name: &str| event.detail.get(name).and_then(Value::as_str).map(short_line);
    let input = match &event.input {
        Value::Null => None,
        Value::String(text) => Some(clean_text(text).into_owned()),
        other => Some(json_text(other)),
    };
    let name = event.tool.as_deref().or(event.op.as_deref());
    let is_empty = event.kind == EventKind::Search && event.found.is_empty() && event.outcome == "ok";
    let found = event.found.iter().take(MAX_FOUND).map(|op| short_line(op)).collect::<Vec<_>>();
    let told = match event.kind {
        EventKind::Search => Some(found.join(", ")).filter(|found| !found.is_empty()),
        EventKind::Approval => {
            let parts = [word("status"), word("by").map(|by| format!("by {by}")), word("reason")];
            Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
        }
        EventKind::ContextShift => {
            event.detail.get("context").map(|context| short_line(&context.to_string()))
        }
        _ => None,
    };
    json!({
        "kind": match event.kind {
            EventKind::Read | EventKind::Expand => "page",
            EventKind::ContextShift => "context",
            kind => kind.as_str(),
        },
        "offset": format!("{:+.3} s", (event.at - since) as f64 / 1000.0),
        "op": event.op.as_deref().map(short_line),
        "tool": name.and_then(|name| site.tool_link(name, root)),
        "input": input.map(|input| cut(input, MAX_INPUT)),
        "told": told,
        "approval": (event.kind == EventKind::Approval).then(|| word("approval")).flatten(),
        "outcome": if is_empty { "nothing found".into() } else { short_line(&event.outcome) },
        "is_bad": is_empty || is_failure(&event.outcome),
        "error": event.error.as_deref().map(|error| inline_html(&short_line(error))),
        "dry_run": event.dry_run,
        "ms": (event.latency_us > 0).then(|| format!("{:.1} ms", event.latency_us as f64 / 1000.0)),
        "tokens": (event.tokens > 0).then(|| grouped(event.tokens.unsigned_abs() as usize)),
    })
}

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
use super::visit::{ROWS, missing, unreadable};
use crate::response::{Problem, Response, no_store};
use crate::site::{Filter, MAX_SKIPPED};
use toolcrib_gateway::state::{CallQuery, Event, EventQuery, SessionSummary, StateError, WaitBudget};

/// Events of a session on one page, and in one part of an export.
const EVENTS: usize = 200;
const EXPORTED: usize = 1_000;

impl RequestContext {
    /// The number of rows to skip.
    fn skip(&self) -> usize {
        self.number("skip").unwrap_or(0).clamp(0, MAX_SKIPPED as i64) as usize
    }
}

/// `GET /sessions.html`: the sessions, newest first; with a tool or an outcome, the calls.
pub(crate) async fn sessions(visit: RequestContext) -> Result<Response, Problem> {
    let callers = visit.chosen();
    let skip = visit.skip();
    let tool = visit.query("tool");
    let outcome = visit.query("outcome");
    let filter = Filter {
        caller: visit.query("caller"),
        tool: tool.clone(),
        outcome: outcome.clone(),
        skip,
        rows: ROWS,
    };
    let state = visit.state();
    if tool.is_none() && outcome.is_none() {
        let sessions = state.sessions(&callers, skip, ROWS + 1).await.map_err(unreadable)?;
        return visit.page(move |site| site.sessions(&sessions, &filter)).await;
    }
    let wanted = CallQuery { callers, tool, outcome, skip, limit: ROWS + 1 };
    let (calls, is_cut) = state.calls(&wanted).await.map_err(unreadable)?;
    visit.page(move |site| site.calls(&calls, is_cut, &filter)).await
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
    visit.page(move |site| site.session(&session, &events, skip, EVENTS)).await
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

//! `GET /v1/sessions/ID`: the events of a session, and its current context. A session belongs to its caller.

use std::sync::Arc;

use axum::extract::Path;
use http::StatusCode;
use http::request::Parts;
use serde_json::{Map, Value, json};

use super::{RequestContext, Response, query_value};
use crate::exec::Caller;
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::serve::response::{Media, no_store};
use crate::state::{Event, EventQuery, Session, StateError, WaitBudget};

/// Most events in one answer by default.
const PAGE: usize = 200;

/// Most events in one answer, whatever `limit` asks for.
const MAX_EVENTS: usize = 1_000;

/// `GET /v1/sessions/ID`, with `?after=NUMBER` and `?limit=NUMBER`.
pub(super) async fn show(Path(id): Path<String>, context: RequestContext) -> Result<Response, Problem> {
    let RequestContext { catalog, caller, request, .. } = context;
    let session = named(&caller, &id)?;
    let state = &catalog.services().state;
    let limit = number(&request, "limit")?;
    let limit = limit.map_or(PAGE, |limit| usize::try_from(limit).unwrap_or(1).clamp(1, MAX_EVENTS));
    let after = number(&request, "after")?.unwrap_or(0).max(0);
    let read = async {
        let events = state.events(&EventQuery { limit, skip: after, ..EventQuery::of(&session) }).await?;
        Ok::<_, StateError>((events, state.session_context(&session).await?))
    };
    let read = WaitBudget::default().with(read).await;
    let (events, context) = read.map_err(|error| Problem::of_state(&error, "sessions cannot be read now"))?;
    if events.is_empty() && context.is_none() && after == 0 {
        let message = "nothing is known of this session; a session begins with the first call that names it";
        return Err(
            Problem::new(ProblemCode::NotFound, message).next("send `X-Session-Id` with calls of functions")
        );
    }
    let next = (events.len() == limit).then(|| after + events.len() as i64);
    let events: Vec<Value> =
        (after + 1..).zip(events).map(|(number, event)| written(number, event)).collect();
    let body = json!({ "session": id, "context": context, "events": events, "next_after": next });
    Ok(no_store(StatusCode::OK, Media::Json.content_type(), format!("{body}\n")))
}

/// An event without its empty fields. Its number is that within the session: the store also counts other callers' events.
fn written(number: i64, event: Event) -> Value {
    let fields = json!(Event { id: number, ..event });
    let is_said = |value: &Value| !value.is_null() && *value != json!([]) && *value != json!("");
    let fields = fields.as_object().into_iter().flatten().filter(|(_, value)| is_said(value));
    Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>())
}

fn named(caller: &Caller, id: &str) -> Result<Session, Problem> {
    let id = Session::named(id).map_err(|bad| Problem::new(ProblemCode::ValidationError, bad.to_string()))?;
    Ok(Session { caller: Arc::clone(&caller.name), id })
}

/// A number in the query of an address.
fn number(request: &Parts, name: &str) -> Result<Option<i64>, Problem> {
    let Some(number) = query_value(request, name) else { return Ok(None) };
    let refused = |_| Problem::new(ProblemCode::ValidationError, format!("`{name}` is a number"));
    number.parse().map(Some).map_err(refused)
}

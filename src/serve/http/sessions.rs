//! `GET /v1/sessions/ID`: the events of a session, and its current context; `.../events` streams them. A session
//! belongs to its caller.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Path;
use bytes::Bytes;
use futures_util::stream;
use http::request::Parts;
use http::{HeaderName, StatusCode};
use serde_json::{Map, Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep};

use super::{RequestContext, Response};
use crate::exec::Caller;
use crate::functions::Services;
use crate::serve::response::media::Media;
use crate::serve::response::no_store;
use crate::serve::response::problem::{Problem, ProblemCode};
use crate::state::{Event, EventQuery, Session, StateError, WaitBudget};

/// Most events in one answer by default.
const PAGE: usize = 200;

/// Most events in one answer, whatever `limit` asks for.
const MAX_EVENTS: usize = 1_000;

/// Most streams that are open at a time, and those of one caller who has a name.
const MAX_STREAMS: usize = 64;
const MAX_STREAMS_OF_ONE: usize = 16;

/// Interval at which events of other processes are read.
const POLL: Duration = Duration::from_millis(250);

/// Interval of the comment that keeps a quiet stream open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// A stream counts for its caller, and among all.
type StreamPlace = (Option<OwnedSemaphorePermit>, OwnedSemaphorePermit);

/// Places for streams, and the signal that ends them.
#[derive(Debug)]
pub(super) struct Streams {
    permits: Arc<Semaphore>,
    /// Held by the open streams of each caller.
    by_caller: Mutex<HashMap<Arc<str>, Weak<Semaphore>>>,
    closed: watch::Sender<bool>,
}

impl Default for Streams {
    fn default() -> Self {
        let permits = Arc::new(Semaphore::new(MAX_STREAMS));
        Self { permits, by_caller: Mutex::default(), closed: watch::channel(false).0 }
    }
}

impl Streams {
    /// A place for a stream of this caller, unless there is none.
    fn place(&self, caller: &Arc<str>) -> Option<StreamPlace> {
        let of_caller = match caller.is_empty() {
            true => None,
            false => Some(self.of(caller).try_acquire_owned().ok()?),
        };
        Some((of_caller, Arc::clone(&self.permits).try_acquire_owned().ok()?))
    }

    fn of(&self, caller: &Arc<str>) -> Arc<Semaphore> {
        let mut callers = self.by_caller.lock().unwrap_or_else(PoisonError::into_inner);
        callers.retain(|_, places| places.strong_count() > 0);
        let known = callers.get(caller).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let places = Arc::new(Semaphore::new(MAX_STREAMS_OF_ONE));
            callers.insert(Arc::clone(caller), Arc::downgrade(&places));
            places
        })
    }

    /// Ends all open streams.
    pub(super) fn close(&self) {
        self.closed.send_replace(true);
    }
}

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
        Ok((events, state.session_context(&session).await?))
    };
    let (events, context) = WaitBudget::default().with(read).await.map_err(unavailable)?;
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

/// `GET /v1/sessions/ID/events`: server-sent events, from the first or from after the client's last one.
pub(super) async fn stream_events(
    Path(id): Path<String>,
    context: RequestContext,
) -> Result<Response, Problem> {
    let RequestContext { shared, catalog, caller, request, .. } = context;
    let session = named(&caller, &id)?;
    let last = request.headers.get(LAST_EVENT).and_then(|id| id.to_str().ok()?.trim().parse().ok());
    let after = last.or(number(&request, "after")?).unwrap_or(0).max(0);
    let Some(place) = shared.streams.place(&caller.name) else {
        return Err(Problem::overloaded("too many streams of events are open"));
    };
    let services = Arc::clone(catalog.services());
    let following = Following {
        news: services.state.last_written(),
        closed: shared.streams.closed.subscribe(),
        services,
        session,
        number: after,
        last: None,
        waiting: VecDeque::new(),
        last_sent: Instant::now(),
        _place: place,
    };
    let first = stream::iter([Ok(Bytes::from_static(b"retry: 1000\n\n"))]);
    let rest = stream::unfold(following, |mut following| async move {
        let piece = following.next().await?;
        Some((io::Result::Ok(piece), following))
    });
    let body = Body::from_stream(futures_util::StreamExt::chain(first, rest));
    Ok(no_store(StatusCode::OK, "text/event-stream", body))
}

/// A stream, between two events.
struct Following {
    services: Arc<Services>,
    session: Session,
    /// The events of the session that the client has.
    number: i64,
    /// The last of them, as the store numbers it, once one was read.
    last: Option<i64>,
    waiting: VecDeque<Event>,
    news: watch::Receiver<i64>,
    closed: watch::Receiver<bool>,
    last_sent: Instant,
    _place: StreamPlace,
}

impl Following {
    /// The next piece; `None` when the server stops.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                self.last_sent = Instant::now();
                self.number += 1;
                return Some(line(self.number, event));
            }
            if *self.closed.borrow() {
                return None;
            }
            self.news.mark_unchanged();
            // A failed read may succeed at the next interval.
            let skip = if self.last.is_none() { self.number } else { 0 };
            let after = self.last.unwrap_or_default();
            let wanted = EventQuery { limit: PAGE, skip, after, ..EventQuery::of(&self.session) };
            let events = self.services.state.events(&wanted).await.unwrap_or_default();
            self.last = events.last().map(|event| event.id).or(self.last);
            self.waiting.extend(events);
            if !self.waiting.is_empty() {
                continue;
            }
            if self.last_sent.elapsed() >= KEEP_ALIVE {
                self.last_sent = Instant::now();
                return Some(Bytes::from_static(b": still here\n\n"));
            }
            self.wait().await;
        }
    }

    async fn wait(&mut self) {
        let is_volatile = self.services.state.health().is_volatile;
        // No other process writes into our memory.
        let pause = if is_volatile { KEEP_ALIVE.saturating_sub(self.last_sent.elapsed()) } else { POLL };
        let news = async {
            if self.news.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = news => {}
            _ = self.closed.wait_for(|closed| *closed) => {}
            () = sleep(pause) => {}
        }
    }
}

fn line(number: i64, event: Event) -> Bytes {
    let kind = event.kind.as_str();
    Bytes::from(format!("id: {number}\nevent: {kind}\ndata: {}\n\n", written(number, event)))
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
    let given = form_urlencoded::parse(request.uri.query().unwrap_or_default().as_bytes());
    let given = given.into_iter().find(|(key, _)| key == name);
    let Some((_, number)) = given else { return Ok(None) };
    let refused = || Problem::new(ProblemCode::ValidationError, format!("`{name}` is a number"));
    number.parse().map(Some).map_err(|_| refused())
}

fn unavailable(error: StateError) -> Problem {
    tracing::warn!(%error, "state cannot be read");
    Problem::new(ProblemCode::StateUnavailable, "sessions cannot be read now")
}

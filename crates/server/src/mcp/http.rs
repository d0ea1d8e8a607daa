//! The endpoint for a router: streamable HTTP without sessions, so that any replica can answer any request. In front of
//! live servers, clients of the older protocol get [sessions](HttpSessions).

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use indexmap::IndexSet;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;

use super::service::McpService;
use crate::{LiveCatalog, RequestCatalog};
use toolcrib_definition::guard::locked;
use toolcrib_front::mcp::{unread, written_out};
use toolcrib_gateway::state::random_id;

/// Most subscriptions that are open at a time.
const MAX_SUBSCRIPTIONS: usize = 1_024;

/// The service at `/mcp`. Cancel `config.cancellation_token` to end open streams.
#[derive(Clone)]
pub struct Service {
    /// The configuration of the endpoint.
    pub config: StreamableHttpServerConfig,
    handler: McpService,
    requests: StreamableHttpService<McpService, NeverSessionManager>,
    sessions: HttpSessions,
}

/// Makes the endpoint, for bodies of at most this many bytes. It reads the caller from the request's extensions, in a
/// [`RequestCatalog`], and the limiter of calls as a [`crate::call_limiter::CallLimiter`]. The router in front of it checks `Host`
/// and `Origin`.
pub fn service(live: Arc<LiveCatalog>, max_body: usize) -> Service {
    let mut config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_allowed_hosts(Vec::<String>::new());
    config.max_request_body_bytes = max_body;
    let handler = McpService::stateless(live, MAX_SUBSCRIPTIONS);
    let sessions = HttpSessions::new(handler.clone(), config.clone());
    let single = handler.clone();
    let never = Arc::new(NeverSessionManager::default());
    let requests = StreamableHttpService::new(move || Ok(single.clone()), never, config.clone());
    Service { config, handler, requests, sessions }
}

impl Service {
    /// Answers a request: within a session of its client, else by itself.
    async fn answer(self, request: Request<Body>) -> Result<Response<Body>, Infallible> {
        let answer = if self.handler.has_live_servers() {
            self.sessions.answer(request, self.config.max_request_body_bytes).await
        } else {
            Err(request)
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(request) => self.requests.handle(request).await.map(Body::new),
        };
        Ok(answer.map(|body| Body::new(body.map_frame(|frame| frame.map_data(written_frame)))))
    }
}

impl tower::Service<Request<Body>> for Service {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.clone().answer(request))
    }
}

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// Silence after which a session ends.
const LONGEST_SILENCE: Duration = Duration::from_secs(60 * 60);

/// Most sessions; further clients are answered without one.
const MAX_SESSIONS: usize = 1_024;

/// Most sessions of one caller, so that nobody takes all.
const MAX_SESSIONS_OF_CALLER: usize = MAX_SESSIONS / 4;

/// Most sessions that are known to be ended by their clients.
const MAX_ENDED: usize = 10_000;

/// The sessions of one endpoint.
#[derive(Clone)]
struct HttpSessions {
    service: StreamableHttpService<McpService, LocalSessionManager>,
    manager: Arc<LocalSessionManager>,
    seats: Seats,
    /// Sessions that their clients have ended.
    ended: Arc<Mutex<IndexSet<String>>>,
    /// A secret of this process, for the signs of sessions.
    key: Arc<[u8; 32]>,
}

impl HttpSessions {
    /// Sessions without any client, each with a handler made from this one.
    fn new(handler: McpService, config: StreamableHttpServerConfig) -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(LONGEST_SILENCE);
        let manager = Arc::new(manager);
        let config = config.with_legacy_session_mode(true).with_json_response(false);
        let service =
            StreamableHttpService::new(move || Ok(handler.in_session()), Arc::clone(&manager), config);
        let key = Arc::new(*blake3::hash(random_id("key").as_bytes()).as_bytes());
        Self { service, manager, seats: Seats::default(), ended: Arc::default(), key }
    }

    /// Answers a request that belongs to a session or begins one; gives back any other.
    async fn answer(
        &self,
        mut request: Request<Body>,
        max_body: usize,
    ) -> Result<Response<Body>, Request<Body>> {
        let sign = self.sign(&request);
        if let Some(id) = request.headers().get(SESSION) {
            let own = id.to_str().ok().and_then(|id| id.strip_suffix(&sign)?.strip_suffix('.'));
            let Some(own) = own.map(str::to_string) else { return Err(request) };
            if self.manager.has_session(&Arc::from(own.as_str())).await.unwrap_or(false) {
                set(request.headers_mut(), &own);
                let (head, body) = request.into_parts();
                let Ok(body) = to_bytes(body, max_body).await else {
                    return Ok(refused(StatusCode::PAYLOAD_TOO_LARGE, "the message is too long"));
                };
                let body = str::from_utf8(&body).ok().and_then(unread).map_or(body, Bytes::from);
                let request = Request::from_parts(head, Body::from(body));
                if request.method() == Method::DELETE {
                    self.end(&own);
                }
                return Ok(self.within(request, &sign).await);
            }
            return if locked(&self.ended).contains(&own) {
                Ok(refused(StatusCode::NOT_FOUND, "there is no such session"))
            } else {
                Err(request)
            };
        }
        if !may_begin(&request) {
            return Err(request);
        }
        let (head, body) = request.into_parts();
        let body = to_bytes(body, max_body).await.unwrap_or_default();
        let seat = if is_initialize(&body) { self.seat(head.extensions.get()).await } else { None };
        let request = Request::from_parts(head, Body::from(body));
        let Some(seat) = seat else { return Err(request) };
        let answer = self.within(request, &sign).await;
        let shown = answer.headers().get(SESSION).and_then(|id| id.to_str().ok());
        if let Some(id) = shown.and_then(|id| id.strip_suffix(&sign)?.strip_suffix('.')) {
            let _ = seat.set(id.into());
        }
        Ok(answer)
    }

    /// A seat for a new session of a caller; `None` if the caller, or all callers, have too many.
    async fn seat(&self, catalog: Option<&RequestCatalog>) -> Option<Arc<OnceLock<String>>> {
        let sessions = self.manager.sessions.read().await;
        self.seats.take(catalog.map_or("", |catalog| &catalog.caller.name), |id| sessions.contains_key(id))
    }

    /// The answer of a session, whose id is shown with its sign.
    async fn within(&self, request: Request<Body>, sign: &str) -> Response<Body> {
        let mut answer = self.service.handle(request).await.map(Body::new);
        let id = answer.headers().get(SESSION).and_then(|id| id.to_str().ok());
        if let Some(id) = id.map(|id| format!("{id}.{sign}")) {
            set(answer.headers_mut(), &id);
        }
        answer
    }

    fn end(&self, own: &str) {
        let mut ended = locked(&self.ended);
        if ended.len() >= MAX_ENDED {
            ended.shift_remove_index(0);
        }
        ended.insert(own.to_string());
    }

    /// The sign of the caller and the profile of a request.
    fn sign(&self, request: &Request<Body>) -> String {
        let catalog = request.extensions().get::<RequestCatalog>();
        let caller = catalog.map(|catalog| (&catalog.caller.name, &catalog.caller.roles));
        let owner = (caller, catalog.and_then(RequestCatalog::profile_name));
        blake3::keyed_hash(&self.key, format!("{owner:?}").as_bytes()).to_hex()[..16].to_string()
    }
}

/// The sessions of each caller. A seat has the id of its session once that has begun; it is free again when the session has ended,
/// or when the request that took it has ended without one.
#[derive(Clone, Default)]
struct Seats(Arc<Mutex<Vec<(String, Seat)>>>);

type Seat = Arc<OnceLock<String>>;

impl Seats {
    fn take(&self, caller: &str, is_live: impl Fn(&str) -> bool) -> Option<Seat> {
        let mut seats = locked(&self.0);
        seats.retain(|(_, seat)| match seat.get() {
            Some(id) => is_live(id),
            None => Arc::strong_count(seat) > 1,
        });
        let own = seats.iter().filter(|(owner, _)| owner == caller).count();
        let is_free = own < MAX_SESSIONS_OF_CALLER && seats.len() < MAX_SESSIONS;
        is_free.then(|| {
            let seat = Arc::default();
            seats.push((caller.to_string(), Arc::clone(&seat)));
            seat
        })
    }
}

/// Whether a request may be the first of a client of the older protocol.
fn may_begin(request: &Request<Body>) -> bool {
    let version = request.headers().get(VERSION).and_then(|version| version.to_str().ok());
    request.method() == Method::POST && version.is_none_or(|version| version < "2026")
}

fn is_initialize(body: &[u8]) -> bool {
    let message: Option<Value> = serde_json::from_slice(body).ok();
    message.is_some_and(|message| message.get("method").is_some_and(|method| method == "initialize"))
}

/// A piece of an answer as it is written: a message, or an event with one.
fn written_frame(frame: Bytes) -> Bytes {
    let Ok(text) = str::from_utf8(&frame) else { return frame };
    let line = |line: &str| {
        let (begin, message) =
            line.split_once('{').filter(|(begin, _)| matches!(*begin, "" | "data: " | "data:"))?;
        let message: Value = serde_json::from_str(&format!("{{{message}")).ok()?;
        Some(format!("{begin}{}", written_out(message)))
    };
    text.split('\n')
        .map(|text| line(text).unwrap_or_else(|| text.into()))
        .collect::<Vec<_>>()
        .join("\n")
        .into()
}

fn set(headers: &mut HeaderMap, id: &str) {
    if let Ok(id) = HeaderValue::try_from(id) {
        headers.insert(SESSION, id);
    }
}

fn refused(status: StatusCode, why: &'static str) -> Response<Body> {
    let mut answer = Response::new(Body::from(why));
    *answer.status_mut() = status;
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_written_in_a_body_and_in_an_event() {
        let carrying = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"_meta":{"toolcrib/as-written":{"own":null}}}}"#;
        let expect = r#"{"jsonrpc":"2.0","id":1,"result":{"own":null}}"#;
        for (frame, expect) in [
            (carrying.to_string(), expect.to_string()),
            (format!("id: 0/1\ndata: {carrying}\n\n"), format!("id: 0/1\ndata: {expect}\n\n")),
            (":\n\n".into(), ":\n\n".into()),
            ("data: \n\n".into(), "data: \n\n".into()),
            ("{cut".into(), "{cut".into()),
        ] {
            assert_eq!(written_frame(Bytes::from(frame)), expect);
        }
    }

    #[test]
    fn one_caller_cannot_take_all_sessions() {
        let seats = Seats::default();
        let begin = |caller: &str, id: usize| {
            let seat = seats.take(caller, |_| true);
            seat.map(|seat| seat.set(format!("{caller}{id}"))).is_some()
        };
        assert!((0..MAX_SESSIONS_OF_CALLER).all(|id| begin("amy", id)));
        assert!(!begin("amy", MAX_SESSIONS_OF_CALLER) && begin("bob", 0), "others have their share");
        let pending = seats.take("bob", |id| id != "amy7").unwrap();
        assert!(begin("amy", 7), "a session that has ended frees its seat");
        assert!(!begin("amy", 8));
        let of_bob = || locked(&seats.0).iter().filter(|(caller, _)| caller == "bob").count();
        assert_eq!(of_bob(), 2);
        drop(pending);
        begin("cid", 0);
        assert_eq!(of_bob(), 1, "a request that ended without a session frees its seat");
    }
}

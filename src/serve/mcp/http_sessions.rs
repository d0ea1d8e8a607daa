//! Sessions of clients of the older wire over HTTP: only within one can a live server ask its client, or log to it. A
//! session belongs to the caller and the profile that began it, and to this process. After a long silence it ends, and
//! its client is answered request by request.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use indexmap::IndexSet;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;

use super::McpService;
use crate::exec::Caller;
use crate::serve::RequestCatalog;
use crate::state::random_id;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// Silence after which a session ends.
const LONGEST_SILENCE: Duration = Duration::from_secs(60 * 60);

/// Most sessions; further clients are answered without one.
const MAX_SESSIONS: usize = 1_024;

/// Most sessions that are known to be ended by their clients.
const MAX_ENDED: usize = 10_000;

/// The sessions of one endpoint.
#[derive(Clone)]
pub(super) struct HttpSessions {
    service: StreamableHttpService<McpService, LocalSessionManager>,
    manager: Arc<LocalSessionManager>,
    /// Sessions that their clients have ended.
    ended: Arc<Mutex<IndexSet<String>>>,
    /// A secret of this process, for the signs of sessions.
    key: Arc<[u8; 32]>,
}

impl HttpSessions {
    /// Sessions without any client, whose handlers are made from `door`.
    pub(super) fn new(
        door: impl Fn() -> McpService + Send + Sync + 'static,
        config: StreamableHttpServerConfig,
    ) -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(LONGEST_SILENCE);
        let manager = Arc::new(manager);
        let config = config.with_legacy_session_mode(true).with_json_response(false);
        let service =
            StreamableHttpService::new(move || Ok(door().in_session()), Arc::clone(&manager), config);
        let key = Arc::new(*blake3::hash(random_id("key").as_bytes()).as_bytes());
        Self { service, manager, ended: Arc::default(), key }
    }

    /// Answers a request that belongs to a session or begins one; gives back any other.
    pub(super) async fn answer(
        &self,
        mut request: Request<Body>,
        max_body: usize,
    ) -> Result<Response<Body>, Request<Body>> {
        let sign = self.sign(&request);
        let id = request.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_string);
        let own = id.as_deref().and_then(|id| id.strip_suffix(&sign)?.strip_suffix('.')).map(str::to_string);
        match (id, own) {
            (Some(_), Some(own)) if self.is_known(&own).await => {
                set(request.headers_mut(), &own);
                if request.method() == Method::DELETE {
                    self.end(&own);
                }
                Ok(self.within(request, &sign).await)
            }
            (Some(_), Some(own)) if self.is_ended(&own) => Ok(not_found()),
            (Some(_), _) => Err(request),
            (None, _) if may_begin(&request) => {
                let (head, body) = request.into_parts();
                let body = to_bytes(body, max_body).await.unwrap_or_default();
                let request = Request::from_parts(head, Body::from(body.clone()));
                let has_room = self.manager.sessions.read().await.len() < MAX_SESSIONS;
                if has_room && is_initialize(&body) {
                    Ok(self.within(request, &sign).await)
                } else {
                    Err(request)
                }
            }
            (None, _) => Err(request),
        }
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

    async fn is_known(&self, own: &str) -> bool {
        self.manager.has_session(&Arc::from(own)).await.unwrap_or(false)
    }

    fn is_ended(&self, own: &str) -> bool {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).contains(own)
    }

    fn end(&self, own: &str) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.len() >= MAX_ENDED {
            ended.shift_remove_index(0);
        }
        ended.insert(own.to_string());
    }

    /// The sign of the caller and the profile of a request.
    fn sign(&self, request: &Request<Body>) -> String {
        let caller = request.extensions().get::<Caller>();
        let profile = request.extensions().get::<RequestCatalog>().and_then(RequestCatalog::profile_name);
        let owner = (caller.map(|caller| (&caller.name, &caller.roles)), profile);
        blake3::keyed_hash(&self.key, format!("{owner:?}").as_bytes()).to_hex()[..16].to_string()
    }
}

/// Whether a request may be the first of a client of the older wire.
fn may_begin(request: &Request<Body>) -> bool {
    let version = request.headers().get(VERSION).and_then(|version| version.to_str().ok());
    request.method() == Method::POST && version.is_none_or(|version| version < "2026")
}

fn is_initialize(body: &[u8]) -> bool {
    let message: Option<Value> = serde_json::from_slice(body).ok();
    message.is_some_and(|message| message.get("method").is_some_and(|method| method == "initialize"))
}

fn set(headers: &mut HeaderMap, id: &str) {
    if let Ok(id) = HeaderValue::try_from(id) {
        headers.insert(SESSION, id);
    }
}

/// The answer for a session that its client has ended.
fn not_found() -> Response<Body> {
    let mut answer = Response::new(Body::from("there is no such session"));
    *answer.status_mut() = StatusCode::NOT_FOUND;
    answer
}

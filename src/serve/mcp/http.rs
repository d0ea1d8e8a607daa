//! The endpoint for a router: streamable HTTP without sessions, so that any replica can answer any request. In front of
//! live servers, clients of the older wire get [sessions](super::http_sessions).

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use http::{Request, Response};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Semaphore;

use super::McpService;
use super::http_sessions::HttpSessions;
use super::notes_by_session::NotesBySession;
use super::upstreams::has_live_servers;
use crate::serve::LiveCatalog;

/// Most subscriptions that are open at a time.
const MAX_SUBSCRIPTIONS: usize = 1_024;

/// Options of the endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Host names of this server in `Host`, with or without a port. Empty when a proxy or router has checked `Host`
    /// and `Origin` already.
    pub hosts: Vec<String>,
    /// Origins of web pages that may call it: `https://app.example.com:443`, `http://localhost:*`.
    pub origins: Vec<String>,
    /// The longest body of a request, in bytes.
    pub max_body: usize,
}

impl Options {
    /// A server on the local machine: its own host names, and its own pages.
    pub fn local(port: u16) -> Self {
        let names = ["localhost", "127.0.0.1", "[::1]"];
        Self {
            hosts: names.map(String::from).to_vec(),
            origins: names.map(|name| format!("http://{name}:{port}")).to_vec(),
            max_body: 1 << 20,
        }
    }
}

/// The service at `/mcp`. Cancel `config.cancellation_token` to end open streams.
#[derive(Clone)]
pub struct Service {
    /// The configuration of the endpoint.
    pub config: StreamableHttpServerConfig,
    live: Arc<LiveCatalog>,
    requests: StreamableHttpService<McpService, NeverSessionManager>,
    sessions: HttpSessions,
}

/// Makes the endpoint. It reads the caller from the request's extensions, as a [`crate::exec::Caller`], and the
/// limiter of calls as a [`crate::serve::CallLimiter`].
pub fn service(live: Arc<LiveCatalog>, options: Options) -> Service {
    let mut config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_allowed_hosts(options.hosts)
        .with_allowed_origins(options.origins);
    if !config.allowed_hosts.is_empty() {
        config = config.enforce_origin_validation();
    }
    config.max_request_body_bytes = options.max_body;
    let permits = Arc::new(Semaphore::new(MAX_SUBSCRIPTIONS));
    let limiter = super::service::call_limiter(&live);
    let notes = Arc::new(NotesBySession::default());
    let door = {
        let live = Arc::clone(&live);
        move || {
            let (live, permits) = (Arc::clone(&live), Arc::clone(&permits));
            McpService::stateless(live, permits, Arc::clone(&limiter), Arc::clone(&notes))
        }
    };
    let sessions = HttpSessions::new(door.clone(), config.clone());
    let never = Arc::new(NeverSessionManager::default());
    let requests = StreamableHttpService::new(move || Ok(door()), never, config.clone());
    Service { config, live, requests, sessions }
}

impl Service {
    /// Answers a request: within a session of its client, else by itself.
    async fn answer(self, request: Request<Body>) -> Result<Response<Body>, Infallible> {
        let catalog = self.live.current();
        let has_servers = has_live_servers(&catalog.unrestricted_view().catalog().config);
        let request = match has_servers {
            true => match self.sessions.answer(request, self.config.max_request_body_bytes).await {
                Ok(answer) => return Ok(answer),
                Err(request) => request,
            },
            false => request,
        };
        Ok(self.requests.handle(request).await.map(Body::new))
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

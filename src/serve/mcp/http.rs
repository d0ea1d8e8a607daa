//! The endpoint for a router: streamable HTTP without sessions, so that any replica can answer any request.

use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use tokio::sync::Semaphore;

use super::McpService;
use super::notes_by_session::NotesBySession;
use crate::serve::LiveCatalog;

/// Most subscriptions that are open at a time.
const MAX_SUBSCRIPTIONS: usize = 1_024;

/// The service at `/mcp`. Cancel `config.cancellation_token` to end open streams.
pub type Service = StreamableHttpService<Handler, NeverSessionManager>;

#[cfg(not(feature = "conformance"))]
type Handler = McpService;
#[cfg(feature = "conformance")]
type Handler = super::Fixtures;

#[cfg(not(feature = "conformance"))]
fn handler(door: McpService) -> Handler {
    door
}

#[cfg(feature = "conformance")]
fn handler(door: McpService) -> Handler {
    super::Fixtures(door)
}

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
    let limiter = super::handler::call_limiter(&live);
    let notes = Arc::new(NotesBySession::default());
    let door = move || {
        let (live, permits) = (Arc::clone(&live), Arc::clone(&permits));
        Ok(handler(McpService::stateless(live, permits, Arc::clone(&limiter), Arc::clone(&notes))))
    };
    StreamableHttpService::new(door, Arc::new(NeverSessionManager::default()), config)
}

//! HTTP: pages, functions, files about the catalog, and the health of the server.
//!
//! 1. [`listen`] accepts connections up to a limit, and closes slow or silent ones.
//! 2. [`service`] finds the caller of each request (host and origin, the token), its profile ([`caller`]), and
//!    gives it to the router of [`routes`]. Slow work, such as [`docs`], runs on other threads.
//! 3. People [`sign_in`] to the pages; a browser without a token gets the form for that. It also checks forms.

mod caller;
mod docs;
mod functions;
mod health;
mod jobs;
mod listen;
mod operate;
mod routes;
mod service;
mod sign_in;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use http::request::Parts;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::response::{Problem, Response};
use super::{Authenticator, CallLimiter, RequestCatalog};
use toolcrib_catalog::config::ServeLimits;
use toolcrib_definition::guard::MISTAKE;
use toolcrib_gateway::exec::Caller;

pub use super::response::ProblemCode;
pub use listen::Listener;
pub use service::{Hosts, HttpService};

/// Most pieces of slow work at once.
const MAX_SLOW: usize = 4;

/// Longest wait of a request for its turn.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(2);

/// State shared by all requests.
#[derive(Debug)]
pub(super) struct Shared {
    hosts: Hosts,
    authenticator: Authenticator,
    sign_in: sign_in::SignIn,
    limits: ServeLimits,
    /// Shared with each open connection.
    connections: Arc<()>,
    slow_work: Arc<Semaphore>,
    call_limiter: Arc<CallLimiter>,
}

impl Shared {
    /// Runs slow work on another thread when its turn comes, unless the wait is too long. The turn lasts as long as the
    /// work, even when nobody waits for it any more.
    async fn slowly<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let Ok(Ok(turn)) = timeout(QUEUE_TIMEOUT, Arc::clone(&self.slow_work).acquire_owned()).await else {
            return Err(Problem::overloaded("too many pages are made at once"));
        };
        let working = spawn_blocking(move || {
            let _turn = turn;
            work()
        });
        working.await.map_err(|_| Problem::new(ProblemCode::Internal, MISTAKE))
    }
}

/// A request with the state that every handler needs.
pub(super) struct RequestContext {
    shared: Arc<Shared>,
    catalog: RequestCatalog,
    caller: Caller,
    request: Parts,
    body: Body,
}

impl FromRequest<Arc<Shared>> for RequestContext {
    type Rejection = Problem;

    async fn from_request(request: Request, shared: &Arc<Shared>) -> Result<Self, Problem> {
        let (mut request, body) = request.into_parts();
        match (request.extensions.remove(), request.extensions.remove()) {
            (Some(catalog), Some(caller)) => {
                Ok(Self { shared: Arc::clone(shared), catalog, caller, request, body })
            }
            _ => Err(Problem::new(ProblemCode::Internal, MISTAKE)),
        }
    }
}

/// The first value of this name in the query of a request.
fn query_value(request: &Parts, name: &str) -> Option<String> {
    let query = request.uri.query().unwrap_or_default();
    let mut values = form_urlencoded::parse(query.as_bytes());
    values.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

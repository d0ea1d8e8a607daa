//! What every handler gets: the request, with its catalog where it is a caller's, and the state that all requests share.
//! Slow work runs on other threads.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::extract::FromRequestParts;
use http::request::Parts;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::host_check::Hosts;
use crate::call_limiter::CallLimiter;
use crate::response::Problem;
use crate::{Authenticator, LiveCatalog, RequestCatalog};
use toolcrib_catalog::config::ServeLimits;
use toolcrib_definition::guard::MISTAKE;
use toolcrib_front::shares::Shares;

/// Most pieces of slow work at once. One caller gets half.
pub(super) const MAX_SLOW: usize = 4;

/// Most bytes of bodies on their way. One caller gets a quarter.
const MAX_BODIES: usize = 64 << 20;

/// Longest wait of a request for its turn.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(2);

/// State shared by all requests.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) live: Arc<LiveCatalog>,
    pub(super) hosts: Hosts,
    pub(super) authenticator: Authenticator,
    /// The key of cookies.
    pub(super) cookie_key: OnceCell<[u8; 32]>,
    pub(super) limits: ServeLimits,
    /// Whether the server is about to stop, and wants no new clients.
    pub(super) is_stopping: AtomicBool,
    /// Shared with each open connection.
    pub(super) connections: Arc<()>,
    pub(super) slow_work: Shares,
    /// The bytes of bodies on their way.
    pub(super) bodies: Shares,
    pub(super) call_limiter: Arc<CallLimiter>,
}

/// The bytes of bodies on their way: of one caller, at least a whole body.
pub(super) fn bodies(limits: &ServeLimits) -> Shares {
    let most = MAX_BODIES.max(limits.body_bytes.saturating_mul(4));
    Shares::new(most, most / 4)
}

impl Shared {
    /// Runs slow work on another thread when its turn comes, unless the wait is too long. The turn lasts as long as the
    /// work, even when nobody waits for it any more.
    pub(super) async fn slowly<T: Send + 'static>(
        &self,
        caller: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let Ok(turn) = timeout(QUEUE_TIMEOUT, self.slow_work.take(caller)).await else {
            return Err(Problem::overloaded("too many pages are made at once"));
        };
        let working = spawn_blocking(move || {
            let _turn = turn;
            work()
        });
        working.await.map_err(|_| Problem::internal(MISTAKE))
    }
}

/// A request of a caller, with the state that every handler needs.
pub(super) struct RequestContext {
    pub(super) shared: Arc<Shared>,
    pub(super) catalog: RequestCatalog,
    pub(super) request: Parts,
}

/// A request of anybody.
pub(super) struct OpenRequest {
    pub(super) shared: Arc<Shared>,
    pub(super) request: Parts,
}

impl FromRequestParts<Arc<Shared>> for RequestContext {
    type Rejection = Problem;

    /// Fails where no layer has asked who the caller is.
    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Problem> {
        let catalog = parts.extensions.remove().ok_or_else(|| Problem::internal(MISTAKE))?;
        Ok(Self { shared: Arc::clone(shared), catalog, request: taken(parts) })
    }
}

impl FromRequestParts<Arc<Shared>> for OpenRequest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Infallible> {
        Ok(Self { shared: Arc::clone(shared), request: taken(parts) })
    }
}

fn taken(parts: &mut Parts) -> Parts {
    std::mem::replace(parts, http::Request::new(()).into_parts().0)
}

/// The first value of this name in the query of a request.
pub(super) fn query_value(request: &Parts, name: &str) -> Option<String> {
    let query = request.uri.query().unwrap_or_default();
    let mut values = form_urlencoded::parse(query.as_bytes());
    values.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

//! Connections to MCP servers: opened when first needed, shared by all calls, and opened again after they have ended.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::config::{Config, Server};
use crate::sources::mcp::{Endpoint, Environment, Session};

/// Connections that are kept. A server that gets headers of its callers has one for each caller.
const MAX_KEPT: usize = 64;
/// Seconds that all servers together have to end.
const CLOSING: Duration = Duration::from_secs(6);

/// All connections; the one used last is at the end.
#[derive(Default)]
pub(in crate::exec::backend) struct Sessions(std::sync::Mutex<Vec<(Endpoint, Arc<Slot>)>>);

/// A connection, once it is open. Other calls wait while it is opened.
type Slot = Mutex<Option<Arc<Session>>>;

impl std::fmt::Debug for Sessions {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("Sessions")
    }
}

impl Sessions {
    /// A connection to a server that is not known to be closed.
    pub(super) async fn session(
        &self,
        endpoint: &Endpoint,
        environment: &Environment,
        config: &Config,
    ) -> Result<Arc<Session>, String> {
        let slot = self.slot(endpoint, config);
        let mut slot = slot.lock().await;
        if let Some(session) = slot.as_ref().filter(|session| !session.is_closed()) {
            return Ok(Arc::clone(session));
        }
        *slot = None;
        let session = Arc::new(Session::open(endpoint, environment).await?);
        *slot = Some(Arc::clone(&session));
        Ok(session)
    }

    /// Removes a connection that has ended.
    pub(super) async fn forget(&self, endpoint: &Endpoint, ended: &Arc<Session>) {
        let known =
            self.known().iter().find(|(known, _)| known == endpoint).map(|(_, slot)| Arc::clone(slot));
        let Some(slot) = known else { return };
        let mut slot = slot.lock().await;
        if slot.as_ref().is_some_and(|session| Arc::ptr_eq(session, ended)) {
            *slot = None;
        }
    }

    /// Closes all connections; servers get [`CLOSING`] to end.
    pub(in crate::exec::backend) async fn close(&self) {
        let slots = std::mem::take(&mut *self.known());
        let mut closing = tokio::task::JoinSet::new();
        for (_, slot) in slots {
            closing.spawn(async move {
                if let Some(session) = slot.lock().await.take().and_then(Arc::into_inner) {
                    session.close().await;
                }
            });
        }
        let _ = timeout(CLOSING, closing.join_all()).await;
    }

    fn slot(&self, endpoint: &Endpoint, config: &Config) -> Arc<Slot> {
        let mut known = self.known();
        if let Some(at) = known.iter().position(|(known, _)| known == endpoint) {
            if at + 1 < known.len() {
                let used = known.remove(at);
                known.push(used);
            }
        } else {
            // Connections of servers that are no longer configured, and of callers that have not called for long, are closed.
            known.retain(|(known, _)| is_configured(&known.server, config));
            let excess = (known.len() + 1).saturating_sub(MAX_KEPT);
            known.drain(..excess);
            known.push((endpoint.clone(), Arc::default()));
        }
        known.last().map(|(_, slot)| Arc::clone(slot)).unwrap_or_default()
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Vec<(Endpoint, Arc<Slot>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_configured(server: &Server, config: &Config) -> bool {
    let live = config.sources.iter().filter_map(|source| source.mcp.as_ref());
    config.servers.values().chain(live).any(|configured| configured == server)
}

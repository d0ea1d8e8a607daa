//! Connections to MCP servers: opened when first needed, kept, shared by all calls, and opened again after an end.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::config::{Config, Server};
use crate::sources::mcp::{Endpoint, Environment, Session};

/// The most that are kept. A server whose headers are the callers' own has one for each of them.
const MAX_KEPT: usize = 64;
/// How long they have to end, all together.
const CLOSING: Duration = Duration::from_secs(6);

/// All connections, those used last at the end.
#[derive(Default)]
pub(in crate::exec::backend) struct Sessions(std::sync::Mutex<Vec<(Endpoint, Arc<Slot>)>>);

/// A connection, once there is one. Whoever needs it while it is opened waits for it.
type Slot = Mutex<Option<Arc<Session>>>;

impl std::fmt::Debug for Sessions {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("Sessions")
    }
}

impl Sessions {
    /// A connection to a server, open as far as one can know.
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

    /// Lets a connection go that has come to its end.
    pub(super) async fn forget(&self, endpoint: &Endpoint, ended: &Arc<Session>) {
        let known =
            self.known().iter().find(|(known, _)| known == endpoint).map(|(_, slot)| Arc::clone(slot));
        let Some(slot) = known else { return };
        let mut slot = slot.lock().await;
        if slot.as_ref().is_some_and(|session| Arc::ptr_eq(session, ended)) {
            *slot = None;
        }
    }

    /// Ends all connections as politely as there is time for.
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
            // Those of servers that are configured no more, and of callers that have not called for long.
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

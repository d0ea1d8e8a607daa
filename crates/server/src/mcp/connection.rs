//! The state of one connection over stdio, or of one session over HTTP: its client, and what that follows.
#![expect(deprecated, reason = "the older protocol has levels of log messages")]

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, OnceLock};

use rmcp::model::{LoggingLevel, SubscribeRequestMethod, SubscriptionFilter};
use rmcp::{ErrorData, Peer, RoleServer};
use tokio::sync::{oneshot, watch};

use super::notifications::{Follower, Recipient, Subscriptions, end};
use super::requester::McpResult;
use crate::request_catalog::SessionCatalog;
use toolcrib_definition::guard::locked;
use toolcrib_front::mcp::{ClientSession, RequestOrigin};
use toolcrib_gateway::exec::Caller;

/// Most resources that one client may subscribe to.
pub(super) const MAX_WATCHED: usize = 1_000;

/// The state of a connection over stdio, or of a session over HTTP.
#[derive(Debug, Default)]
pub(super) struct ClientConnection {
    /// Turns true, or loses its sender, when the connection ends.
    pub(super) ended: Option<watch::Receiver<bool>>,
    /// The sender of `ended` for a session over HTTP, which ends with its handler.
    pub(super) end: Option<watch::Sender<bool>>,
    /// The session of calls without one.
    pub(super) session: Option<Arc<str>>,
    /// The client, where servers can ask it.
    pub(super) client: OnceLock<Arc<ClientSession>>,
    /// The catalog and the caller of the handshake.
    pub(super) owner: OnceLock<(SessionCatalog, Caller)>,
    /// The level of log messages that the client has set.
    pub(super) level: Mutex<Option<LoggingLevel>>,
    /// Docs that a client of the older protocol subscribed to, with the versions it knows.
    pub(super) watched: Arc<Mutex<Subscriptions>>,
    /// Resources of live servers that the client subscribed to; a subscription ends when its sender is dropped.
    pub(super) subscribed: Mutex<HashMap<String, oneshot::Sender<()>>>,
    /// Whether the client gets notifications of the catalog, and of the lists of live servers.
    pub(super) is_notified: AtomicBool,
    pub(super) follows_lists: AtomicBool,
}

impl ClientConnection {
    /// The client of the handshake, which follows changes.
    fn follower(&self, client: &Peer<RoleServer>) -> Option<Follower> {
        let (catalog, caller) = self.owner.get()?.clone();
        let origin = Arc::new(RequestOrigin::of_session(self.client.get().cloned()));
        let caller = Caller { origin: Some(origin), ..caller };
        Some(Follower { catalog, caller, recipient: Recipient::Connection(client.clone()) })
    }

    /// Announces each new catalog to a client of the older protocol.
    pub(super) fn notify(&self, client: &Peer<RoleServer>) {
        let Some(follower) = self.follower(client) else { return };
        let Some(first) = follower.now() else { return };
        if client.peer_info().is_some() && !self.is_notified.swap(true, Relaxed) {
            let watched = Arc::clone(&self.watched);
            let lists = SubscriptionFilter::builder().tools_list_changed().resources_list_changed().build();
            self.spawn(async move { follower.announce(first, &lists, &watched).await });
        }
    }

    /// Follows the lists of live servers, once the client of the older protocol has asked for one.
    pub(super) fn follow_lists(&self, client: &Peer<RoleServer>) {
        let Some(follower) = self.follower(client) else { return };
        if !self.follows_lists.swap(true, Relaxed) {
            let lists = SubscriptionFilter::builder().prompts_list_changed().resources_list_changed().build();
            self.spawn(follower.follow(lists));
        }
    }

    /// Runs a task until it ends, or the connection does.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let ended = self.ended.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = task => {}
                () = end(ended) => {}
            }
        });
    }

    /// Subscribes a client of the older protocol to a resource of a live server.
    pub(super) async fn follow_resource(&self, uri: String, client: &Peer<RoleServer>) -> McpResult<()> {
        let not_found = ErrorData::method_not_found::<SubscribeRequestMethod>;
        let follower = self.follower(client).ok_or_else(not_found)?;
        if locked(&self.subscribed).len() >= MAX_WATCHED {
            return Err(too_many_watched());
        }
        let (stop, stopped) = oneshot::channel();
        follower.subscribe(uri.clone(), stopped).await?;
        locked(&self.subscribed).insert(uri, stop);
        Ok(())
    }

    /// Ends the subscription to a resource.
    pub(super) fn forget_resource(&self, uri: &str) {
        locked(&self.watched).remove(uri);
        locked(&self.subscribed).remove(uri);
    }

    /// Sets the level of log messages for the client.
    pub(super) fn set_level(&self, level: LoggingLevel) {
        *locked(&self.level) = Some(level);
        if let Some(client) = self.client.get() {
            client.set_level(level);
        }
    }
}

/// The error for one subscription too many.
pub(super) fn too_many_watched() -> ErrorData {
    ErrorData::invalid_params("one client watches at most 1,000 resources", None)
}

//! Changes at live servers, for the clients that follow them: of lists, and of single resources.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ErrorData, ServerNotification, SubscriptionFilter};
use rmcp::service::SubscriptionSink;
use rmcp::{Peer, RoleServer};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::upstream_resources::{self, Located};
use super::upstreams;
use crate::exec::Caller;
use crate::serve::{RequestCatalog, SessionCatalog};
use crate::sources::mcp::Changes;

/// Wait before a server is followed again: at first, and at most.
const SOON: Duration = Duration::from_secs(1);
const AT_LAST: Duration = Duration::from_secs(60);

/// A client that follows changes.
#[derive(Clone)]
pub(super) enum Follower {
    /// A client of the older wire.
    Client(Peer<RoleServer>),
    /// A subscription of the newer wire.
    Subscription(SubscriptionSink),
}

impl Follower {
    /// Sends a change; `false` when the client is gone.
    async fn send(&self, change: ServerNotification) -> bool {
        match self {
            Follower::Client(client) => client.send_notification(change).await.is_ok(),
            Follower::Subscription(sink) => sink.send(change).await.is_ok(),
        }
    }
}

/// The servers and changes that a client wants to know of.
#[derive(Clone)]
pub(super) struct Followed {
    pub(super) catalog: SessionCatalog,
    pub(super) caller: Caller,
    pub(super) follower: Follower,
}

impl Followed {
    /// Follows the lists of all servers, and these resources, until this is dropped.
    pub(super) async fn follow(self, wanted: SubscriptionFilter) {
        let mut following = JoinSet::new();
        for uri in wanted.resource_subscriptions.iter().flatten() {
            following.spawn(self.clone().follow_resource(uri.clone()));
        }
        let mut lists = wanted;
        (lists.resource_subscriptions, lists.tools_list_changed) = (None, None);
        if lists != SubscriptionFilter::default() {
            let config = |now: RequestCatalog| Arc::clone(&now.view(&self.caller).catalog().config);
            let config = self.catalog.now().map(config).unwrap_or_default();
            for (called, _) in config.live_sources() {
                following.spawn(self.clone().follow_lists(called, lists.clone()));
            }
        }
        following.join_all().await;
    }

    /// Follows the lists of one server, also after it was away.
    async fn follow_lists(self, called: String, wanted: SubscriptionFilter) {
        let (mut pause, mut was_away) = (SOON, false);
        while let Some(catalog) = self.catalog.now() {
            let upstream = upstreams::named(&catalog, &self.caller, &called).await;
            drop(catalog);
            if let Some(upstream) = upstream {
                let Ok(Some(mut changes)) = Changes::of(&upstream.session, &wanted).await else { return };
                let missed = if was_away { changes.missed() } else { Vec::new() };
                for change in missed {
                    self.follower.send(change).await;
                }
                pause = SOON;
                while let Some(change) = changes.next().await {
                    if !self.follower.send(change).await {
                        return;
                    }
                }
            }
            was_away = true;
            sleep(pause).await;
            pause = (pause * 2).min(AT_LAST);
        }
    }

    /// Follows one resource, also after its server was away.
    async fn follow_resource(self, uri: String) {
        let mut pause = SOON;
        while self.catalog.now().is_some() {
            if let Ok((located, changes)) = self.subscribe(&uri).await {
                pause = SOON;
                if !self.pass_on(&located, changes).await {
                    return;
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(AT_LAST);
        }
    }

    /// Follows one resource until the sender of `stop` is dropped. The error is the one of the server.
    pub(super) async fn subscribed(self, uri: String, stop: oneshot::Receiver<()>) -> Result<(), ErrorData> {
        let (located, changes) = self.subscribe(&uri).await?;
        tokio::spawn(async move {
            let following = async {
                if self.pass_on(&located, changes).await {
                    self.follow_resource(uri).await;
                }
            };
            tokio::select! {
                () = following => {}
                _ = stop => {}
            }
        });
        Ok(())
    }

    async fn subscribe(&self, uri: &str) -> Result<(Located, Changes), ErrorData> {
        let mut refusal = None;
        let found = match self.catalog.now() {
            Some(catalog) => upstream_resources::locate(&catalog, &self.caller, uri).await,
            None => Vec::new(),
        };
        for located in found {
            let session = &located.upstream.session;
            let wanted = SubscriptionFilter::builder().resource_subscription(located.own.clone()).build();
            match Changes::of(session, &wanted).await {
                Ok(Some(changes)) => return Ok((located, changes)),
                Ok(None) => {}
                Err(error) => refusal = refusal.or(Some(session.request_error(error))),
            }
        }
        Err(refusal.unwrap_or_else(ErrorData::method_not_found::<rmcp::model::SubscribeRequestMethod>))
    }

    /// Passes on changes of a resource; `false` when the client is gone.
    async fn pass_on(&self, located: &Located, mut changes: Changes) -> bool {
        while let Some(mut change) = changes.next().await {
            if let ServerNotification::ResourceUpdatedNotification(updated) = &mut change {
                updated.params.uri = located.shown(&updated.params.uri);
            }
            if !self.follower.send(change).await {
                return false;
            }
        }
        true
    }
}

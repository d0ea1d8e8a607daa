//! Announces changes to a client: of the catalog, and of the live servers behind it. On the newer protocol they belong to
//! `subscriptions/listen`, on the older one they are plain notifications.
//!
//! The list of docs and docs change; the list of tools changes only where it holds the catalog's own tools. A client
//! for whom nothing changed gets no notification.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use rmcp::model::{
    ErrorData, ResourceUpdatedNotification, ResourceUpdatedNotificationParam, ServerNotification,
    SubscribeRequestMethod, SubscriptionFilter,
};
use rmcp::service::{SubscriptionContext, SubscriptionSink};
use rmcp::{Peer, RoleServer};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::requester::{McpResult, Requester};
use super::resources::{self, is_ours};
use super::upstream_resources::{self, Located};
use super::upstreams;
use crate::request_catalog::SessionCatalog;
use toolcrib_definition::guard::{guarded_now, locked};
use toolcrib_front::mcp::Changes;
use toolcrib_gateway::exec::Caller;
use toolcrib_gateway::functions::CatalogView;

/// The docs of a client's subscriptions, with the versions it knows; `None` for a missing doc.
pub(super) type Subscriptions = HashMap<String, Option<String>>;

/// Wait before a server is followed again: at first, and at most.
const SOON: Duration = Duration::from_secs(1);
const AT_LAST: Duration = Duration::from_secs(60);

/// Notifies one subscription of changes, until it is cancelled or the connection ends.
pub(super) async fn listen(
    context: &SubscriptionContext,
    requester: Requester,
    ended: Option<watch::Receiver<bool>>,
) {
    let lists = context.accepted();
    let uris = lists.resource_subscriptions.iter().flatten();
    let watched = uris.map(|uri| (uri.clone(), resources::version(requester.view(), uri)));
    let watched = Mutex::new(watched.collect::<Subscriptions>());
    let mut elsewhere = lists.clone();
    if let Some(uris) = &mut elsewhere.resource_subscriptions {
        uris.retain(|uri| !is_ours(uri));
    }
    let catalog = requester.for_session();
    let recipient = Recipient::Subscription(context.sink().clone());
    let follower = Follower { catalog, caller: requester.caller.clone(), recipient };
    let following = async {
        follower.clone().follow(elsewhere).await;
        std::future::pending().await
    };
    tokio::select! {
        () = follower.announce(requester, lists, &watched) => {}
        () = following => {}
        () = context.cancelled() => {}
        () = end(ended) => {}
    }
}

/// Waits for the end of the connection; forever without a receiver.
pub(super) async fn end(ended: Option<watch::Receiver<bool>>) {
    match ended {
        Some(mut ended) => {
            let _ = ended.wait_for(|ended| *ended).await;
        }
        None => std::future::pending().await,
    }
}

/// The way of notifications to a client.
#[derive(Clone)]
pub(super) enum Recipient {
    /// The connection of a client of the older protocol.
    Connection(Peer<RoleServer>),
    /// A subscription of the newer protocol.
    Subscription(SubscriptionSink),
}

/// A client that follows changes.
#[derive(Clone)]
pub(super) struct Follower {
    pub(super) catalog: SessionCatalog,
    pub(super) caller: Caller,
    pub(super) recipient: Recipient,
}

impl Follower {
    /// The catalog as it is now; `None` once its profile is gone.
    pub(super) fn now(&self) -> Option<Requester> {
        self.catalog.now(self.caller.clone())
    }

    /// Sends a change; `false` when the client is gone.
    async fn send(&self, change: ServerNotification) -> bool {
        match &self.recipient {
            Recipient::Connection(client) => client.send_notification(change).await.is_ok(),
            Recipient::Subscription(sink) => sink.send(change).await.is_ok(),
        }
    }

    /// Announces each catalog after the `first`, with its changed docs among the watched ones, until the client or the
    /// profile is gone.
    pub(super) async fn announce(
        &self,
        first: Requester,
        lists: &SubscriptionFilter,
        watched: &Mutex<Subscriptions>,
    ) {
        let mut news = self.catalog.subscribe();
        // The catalog may have changed while the client was answered.
        news.mark_changed();
        let lists_tools = first.served.lists_tools();
        let mut known = first.view().content();
        drop(first);
        while news.changed().await.is_ok() {
            let Some(now) = self.now() else { return };
            let content = now.view().content();
            if known == content {
                continue;
            }
            known = content;
            let mut changes = Vec::new();
            if lists.resources_list_changed == Some(true) {
                changes.push(ServerNotification::ResourceListChangedNotification(Default::default()));
            }
            if lists_tools && lists.tools_list_changed == Some(true) {
                changes.push(ServerNotification::ToolListChangedNotification(Default::default()));
            }
            let renewed = guarded_now(|| changed_resources(&mut locked(watched), now.view()));
            changes.extend(renewed.unwrap_or_default().into_iter().map(|uri| {
                let updated = ResourceUpdatedNotification::new(ResourceUpdatedNotificationParam::new(uri));
                ServerNotification::ResourceUpdatedNotification(updated)
            }));
            // No catalog view is held while a slow client takes its notifications.
            drop(now);
            for change in changes {
                if !self.send(change).await {
                    return;
                }
            }
        }
    }

    /// Follows the lists of all live servers, and these resources, until this is dropped.
    pub(super) async fn follow(self, mut wanted: SubscriptionFilter) {
        let mut following = JoinSet::new();
        for uri in wanted.resource_subscriptions.take().into_iter().flatten() {
            following.spawn(self.clone().follow_resource(uri));
        }
        wanted.tools_list_changed = None;
        if wanted != SubscriptionFilter::default()
            && let Some(now) = self.now()
        {
            for (called, _) in now.view().catalog().config.live_sources() {
                following.spawn(self.clone().follow_lists(called, wanted.clone()));
            }
        }
        following.join_all().await;
    }

    /// Follows the lists of one server, also after it was away.
    async fn follow_lists(self, called: String, wanted: SubscriptionFilter) {
        let mut pause = SOON;
        let mut was_away = false;
        while let Some(now) = self.now() {
            let upstream = upstreams::named(&now, &called).await;
            drop(now);
            if let Some(upstream) = upstream {
                let Ok(Some(changes)) = Changes::of(&upstream.session, &wanted).await else { return };
                let missed = if was_away { changes.missed() } else { Vec::new() };
                for change in missed {
                    self.send(change).await;
                }
                pause = SOON;
                if !self.pass_on(None, changes).await {
                    return;
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
        while self.now().is_some() {
            if let Ok((located, changes)) = self.changes_of(&uri).await {
                pause = SOON;
                if !self.pass_on(Some(&located), changes).await {
                    return;
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(AT_LAST);
        }
    }

    /// Follows one resource until the sender of `stop` is dropped. The error is the one of the server.
    pub(super) async fn subscribe(self, uri: String, stop: oneshot::Receiver<()>) -> McpResult<()> {
        let (located, changes) = self.changes_of(&uri).await?;
        tokio::spawn(async move {
            let following = async {
                if self.pass_on(Some(&located), changes).await {
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

    /// The changes of a resource, at the first server that tells them.
    async fn changes_of(&self, uri: &str) -> McpResult<(Located, Changes)> {
        let mut refusal = None;
        let found = match self.now() {
            Some(now) => upstream_resources::locate(&now, uri).await,
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
        Err(refusal.unwrap_or_else(ErrorData::method_not_found::<SubscribeRequestMethod>))
    }

    /// Passes on changes until their connection ends; `false` when the client is gone.
    async fn pass_on(&self, located: Option<&Located>, mut changes: Changes) -> bool {
        while let Some(mut change) = changes.next().await {
            if let (Some(located), ServerNotification::ResourceUpdatedNotification(updated)) =
                (located, &mut change)
            {
                updated.params.uri = located.shown(&updated.params.uri);
            }
            if !self.send(change).await {
                return false;
            }
        }
        true
    }
}

/// The subscribed docs that have changed, in order; stores their new versions.
fn changed_resources(watched: &mut Subscriptions, view: &CatalogView) -> Vec<String> {
    let mut renewed = Vec::new();
    for (uri, known) in watched {
        let version = resources::version(view, uri);
        if *known != version {
            *known = version;
            renewed.push(uri.clone());
        }
    }
    renewed.sort_unstable();
    renewed
}

//! Announces a new catalog: `subscriptions/listen` on the newer wire, plain notifications on the older one.
//!
//! The list of docs and docs change; the list of tools changes only where it holds the catalog's own tools. A client
//! for whom nothing changed gets no notification.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam, ServerNotification, SubscriptionFilter};
use rmcp::service::{SubscriptionContext, SubscriptionSink};
use rmcp::{Peer, RoleServer};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::upstream_resources::Located;
use super::{resources, upstream_resources, upstreams};
use crate::exec::Caller;
use crate::functions::CatalogView;
use crate::guard::guarded_now;
use crate::serve::{RequestCatalog, SessionCatalog};
use crate::sources::mcp::Changes;

/// The docs of a client's subscriptions, with the versions it knows; `None` for a missing doc.
type Subscriptions = HashMap<String, Option<String>>;

/// Notifies one subscription of each new catalog, until it is cancelled or the connection ends.
pub(super) async fn listen(
    catalog: SessionCatalog,
    ended: Option<watch::Receiver<bool>>,
    context: &SubscriptionContext,
    caller: &Caller,
) {
    let mut accepted = context.accepted().clone();
    if let Some(uris) = &mut accepted.resource_subscriptions {
        uris.retain(|uri| upstream_resources::is_upstream(uri));
    }
    let follower = Follower::Subscription(context.sink().clone());
    let upstream = Followed { catalog: catalog.clone(), caller: caller.clone(), follower };
    tokio::select! {
        () = listen_here(catalog, ended, context, caller) => {}
        () = async { upstream.follow(accepted).await; std::future::pending().await } => {}
    }
}

/// Notifies one subscription of each new catalog.
async fn listen_here(
    catalog: SessionCatalog,
    ended: Option<watch::Receiver<bool>>,
    context: &SubscriptionContext,
    caller: &Caller,
) {
    let mut news = catalog.subscribe();
    let view = || Some(Arc::clone(catalog.now()?.view(caller)));
    let Some(lists_tools) = lists_tools(&catalog, caller) else { return };
    let uris = context.accepted().resource_subscriptions.iter().flatten();
    let Some(now) = view() else { return };
    let mut watched: Subscriptions = uris.map(|uri| (uri.clone(), resources::version(&now, uri))).collect();
    let mut known = now.content();
    drop(now);
    loop {
        tokio::select! {
            changed = news.changed() => if changed.is_err() { return },
            () = context.cancelled() => return,
            () = end(ended.clone()) => return,
        }
        // A profile that is gone has no news.
        let Some(now) = view() else { return };
        if !is_news(&mut known, &now) {
            continue;
        }
        drop(now);
        let sink = context.sink();
        if context.accepted().resources_list_changed == Some(true)
            && sink.notify_resource_list_changed().await.is_err()
        {
            return;
        }
        if lists_tools
            && context.accepted().tools_list_changed == Some(true)
            && sink.notify_tool_list_changed().await.is_err()
        {
            return;
        }
        // No catalog view is held while a slow client takes its notification.
        let Some(now) = view() else { return };
        let renewed = changed_resources(&mut watched, &now);
        drop(now);
        for uri in renewed {
            if sink.notify_resource_updated(uri).await.is_err() {
                return;
            }
        }
    }
}

/// Notifies a client of the older wire of each new catalog, until the connection ends.
pub(super) async fn send_notifications(
    (catalog, caller): (SessionCatalog, Caller),
    ended: watch::Receiver<bool>,
    client: Peer<RoleServer>,
    watched: Arc<Mutex<Subscriptions>>,
) {
    let mut news = catalog.subscribe();
    let view = || Some(Arc::clone(catalog.now()?.view(&caller)));
    let Some(lists_tools) = lists_tools(&catalog, &caller) else { return };
    let Some(mut known) = view().map(|now| now.content()) else { return };
    loop {
        tokio::select! {
            changed = news.changed() => if changed.is_err() { return },
            () = end(Some(ended.clone())) => return,
        }
        // A profile that is gone has no news.
        let Some(now) = view() else { return };
        if !is_news(&mut known, &now) {
            continue;
        }
        if client.notify_resource_list_changed().await.is_err() {
            return;
        }
        if lists_tools && client.notify_tool_list_changed().await.is_err() {
            return;
        }
        let renewed = || changed_resources(&mut watched.lock().unwrap_or_else(PoisonError::into_inner), &now);
        for uri in guarded_now(renewed).unwrap_or_default() {
            if client.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_err() {
                return;
            }
        }
    }
}

/// Whether the list of this caller has tools of the catalog.
fn lists_tools(catalog: &SessionCatalog, caller: &Caller) -> Option<bool> {
    Some(catalog.now()?.cache(caller).lists_tools())
}

/// Whether the content has changed for this caller; stores the new content.
fn is_news(known: &mut String, view: &CatalogView) -> bool {
    let content = view.content();
    std::mem::replace(known, content.clone()) != content
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

/// The end of the connection; pending forever where there is none.
pub(super) async fn end(ended: Option<watch::Receiver<bool>>) {
    match ended {
        Some(mut ended) => {
            let _ = ended.wait_for(|ended| *ended).await;
        }
        None => std::future::pending().await,
    }
}

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

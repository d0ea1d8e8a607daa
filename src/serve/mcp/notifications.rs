//! Announces a new catalog: `subscriptions/listen` on the newer wire, plain notifications on the older one.
//!
//! The list of docs and docs change; the list of tools changes only where it holds the catalog's own tools. A client
//! for whom nothing changed gets no notification.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::SubscriptionContext;
use rmcp::{Peer, RoleServer};
use tokio::sync::watch;

use super::upstream_changes::{Followed, Follower};
use super::{resources, upstream_resources};
use crate::exec::Caller;
use crate::functions::CatalogView;
use crate::guard::guarded_now;
use crate::serve::SessionCatalog;

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

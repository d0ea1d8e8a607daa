//! News of a new catalog: `subscriptions/listen` on the newer wire, plain notifications on the older one.
//!
//! What changes is the list of docs, and docs; the list of tools only where it is that of the catalog's own. A client for
//! whom nothing changed is told nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::SubscriptionContext;
use rmcp::{Peer, RoleServer};
use tokio::sync::watch;

use super::resources;
use crate::exec::Caller;
use crate::functions::Edition;
use crate::guard::guarded_now;
use crate::serve::Live;

/// The docs that a client watches, with the version it knows; none of a doc that is not there.
type Watched = HashMap<String, Option<String>>;

/// Tells one subscription of each new catalog, until it is cancelled or the connection ends.
pub(super) async fn listen(
    live: &Live,
    ended: Option<watch::Receiver<bool>>,
    context: &SubscriptionContext,
    caller: &Caller,
) {
    let mut news = live.subscribe();
    let edition = || Arc::clone(live.now().edition(caller));
    let uris = context.accepted().resource_subscriptions.iter().flatten();
    let now = edition();
    let mut watched: Watched = uris.map(|uri| (uri.clone(), resources::version(&now, uri))).collect();
    let mut known = now.content();
    drop(now);
    loop {
        tokio::select! {
            changed = news.changed() => if changed.is_err() { return },
            () = context.cancelled() => return,
            () = end(ended.clone()) => return,
        }
        if !is_news(&mut known, &edition()) {
            continue;
        }
        let sink = context.sink();
        if context.accepted().resources_list_changed == Some(true)
            && sink.notify_resource_list_changed().await.is_err()
        {
            return;
        }
        if live.shown().lists_tools()
            && context.accepted().tools_list_changed == Some(true)
            && sink.notify_tool_list_changed().await.is_err()
        {
            return;
        }
        // An edition is not held while a client is slow to take its news.
        let renewed = renewed(&mut watched, &edition());
        for uri in renewed {
            if sink.notify_resource_updated(uri).await.is_err() {
                return;
            }
        }
    }
}

/// Tells a client of the older wire of each new catalog, until the connection ends.
pub(super) async fn tell(
    live: Arc<Live>,
    ended: watch::Receiver<bool>,
    client: Peer<RoleServer>,
    watched: Arc<Mutex<Watched>>,
) {
    let mut news = live.subscribe();
    let mut known = live.now().everything().content();
    loop {
        tokio::select! {
            changed = news.changed() => if changed.is_err() { return },
            () = end(Some(ended.clone())) => return,
        }
        if !is_news(&mut known, live.now().everything()) {
            continue;
        }
        if client.notify_resource_list_changed().await.is_err() {
            return;
        }
        if live.shown().lists_tools() && client.notify_tool_list_changed().await.is_err() {
            return;
        }
        let edition = Arc::clone(live.now().edition(&Caller::default()));
        let renewed = || renewed(&mut watched.lock().unwrap_or_else(PoisonError::into_inner), &edition);
        for uri in guarded_now(renewed).unwrap_or_default() {
            if client.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_err() {
                return;
            }
        }
    }
}

/// Whether this caller sees something else now; from now on that is known.
fn is_news(known: &mut String, edition: &Edition) -> bool {
    let content = edition.content();
    std::mem::replace(known, content.clone()) != content
}

/// The watched docs that say something else now, in order; from now on their new versions are known.
fn renewed(watched: &mut Watched, edition: &Edition) -> Vec<String> {
    let mut renewed = Vec::new();
    for (uri, known) in watched {
        let version = resources::version(edition, uri);
        if *known != version {
            *known = version;
            renewed.push(uri.clone());
        }
    }
    renewed.sort_unstable();
    renewed
}

/// The end of the connection; never, where there is none.
async fn end(ended: Option<watch::Receiver<bool>>) {
    match ended {
        Some(mut ended) => {
            let _ = ended.wait_for(|ended| *ended).await;
        }
        None => std::future::pending().await,
    }
}

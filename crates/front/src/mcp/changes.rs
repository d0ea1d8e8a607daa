//! Changes of lists and resources of a server, for those that want to know of them.

use std::sync::Arc;

use rmcp::model::{ServerNotification, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams};
use rmcp::service::{ServiceError, Subscription};
use tokio::runtime::Handle;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::session::Session;
use toolcrib_definition::guard::locked;

/// The changes of one server that somebody wants to know of.
pub struct Changes {
    session: Arc<Session>,
    wanted: SubscriptionFilter,
    /// The subscription of the newer protocol.
    subscription: Option<Subscription>,
    /// The notifications of the connection, among them those that others wait for.
    announcements: broadcast::Receiver<ServerNotification>,
}

impl Changes {
    /// Follows the wanted changes that the server supports. Returns `None` if it supports no wanted kind.
    pub async fn of(
        session: &Arc<Session>,
        wanted: &SubscriptionFilter,
    ) -> Result<Option<Self>, ServiceError> {
        let wanted = wanted.supported_by(&session.capabilities());
        if wanted == SubscriptionFilter::default() {
            return Ok(None);
        }
        let sender = session.announcements.upgrade().unwrap_or_else(|| broadcast::channel(1).0);
        let announcements = sender.subscribe();
        let mut subscription = None;
        if session.is_newer() {
            subscription = Some(session.peer.listen(wanted.clone()).await?);
        } else {
            for uri in wanted.resource_subscriptions.iter().flatten() {
                session.peer.subscribe(SubscribeRequestParams::new(uri)).await?;
                *locked(&session.subscribers).entry(uri.clone()).or_default() += 1;
            }
        }
        Ok(Some(Self { session: Arc::clone(session), wanted, subscription, announcements }))
    }

    /// The next change; `None` when the connection has ended.
    pub async fn next(&mut self) -> Option<ServerNotification> {
        if let Some(subscription) = &mut self.subscription {
            return subscription.next().await.ok().flatten();
        }
        loop {
            match self.announcements.recv().await {
                Ok(change) if self.is_wanted(&change) => return Some(change),
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }

    fn is_wanted(&self, change: &ServerNotification) -> bool {
        match change {
            ServerNotification::ResourceListChangedNotification(_) => {
                self.wanted.resources_list_changed == Some(true)
            }
            ServerNotification::PromptListChangedNotification(_) => {
                self.wanted.prompts_list_changed == Some(true)
            }
            ServerNotification::ResourceUpdatedNotification(updated) => {
                let uris = self.wanted.resource_subscriptions.as_ref();
                uris.is_some_and(|uris| uris.contains(&updated.params.uri))
            }
            _ => false,
        }
    }

    /// The changes that may have happened before these were followed.
    pub fn missed(&self) -> Vec<ServerNotification> {
        let all = [
            ServerNotification::ResourceListChangedNotification(Default::default()),
            ServerNotification::PromptListChangedNotification(Default::default()),
        ];
        all.into_iter().filter(|change| self.is_wanted(change)).collect()
    }
}

/// On the older protocol, the last follower of a resource ends the subscription.
impl Drop for Changes {
    fn drop(&mut self) {
        if self.subscription.is_some() {
            return;
        }
        for uri in self.wanted.resource_subscriptions.iter().flatten() {
            let mut subscribers = locked(&self.session.subscribers);
            let Some(count) = subscribers.get_mut(uri) else { continue };
            *count -= 1;
            if *count == 0 {
                subscribers.remove(uri);
                let Ok(runtime) = Handle::try_current() else { continue };
                let peer = self.session.peer.clone();
                let params = UnsubscribeRequestParams::new(uri);
                runtime.spawn(async move { peer.unsubscribe(params).await });
            }
        }
    }
}

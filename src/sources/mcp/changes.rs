//! Changes of a server's lists and resources, in either version of the protocol.
#![expect(deprecated, reason = "the older wire has roots, sampling, log levels and subscriptions")]

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rmcp::model::{ServerNotification, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams};
use rmcp::service::{ServiceError, Subscription};
use tokio::runtime::Handle;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::time::timeout;

use super::Session;

/// Longest wait for the end of a subscription.
const UNSUBSCRIBING: Duration = Duration::from_millis(250);

/// Ends a subscription, then the connection: a server answers its open requests before it ends.
pub(super) async fn end(session: &Session, subscription: &mut Option<Subscription>) {
    if let Some(mut subscription) = subscription.take() {
        let _ = timeout(UNSUBSCRIBING, subscription.cancel()).await;
    }
    session.close().await;
}

/// The changes of one server that somebody wants to know of.
pub(crate) struct Changes {
    session: Arc<Session>,
    wanted: SubscriptionFilter,
    source: Source,
}

enum Source {
    /// The notifications of a connection of the older wire, among them those that others wait for.
    Connection(Receiver<ServerNotification>),
    /// A subscription of the newer wire.
    Subscription(Box<Subscription>),
}

impl Changes {
    /// Follows the changes of these kinds, as far as the server has them; `None` where it has none of them.
    pub(crate) async fn of(
        session: &Arc<Session>,
        wanted: &SubscriptionFilter,
    ) -> Result<Option<Self>, ServiceError> {
        let wanted = wanted.supported_by(&session.capabilities());
        if wanted == SubscriptionFilter::default() {
            return Ok(None);
        }
        let source = match session.is_newer_wire() {
            true => Source::Subscription(Box::new(session.peer().listen(wanted.clone()).await?)),
            false => {
                let receiver = session.announcements.subscribe();
                for uri in wanted.resource_subscriptions.iter().flatten() {
                    session.peer().subscribe(SubscribeRequestParams::new(uri)).await?;
                    session.subscribers.lock().unwrap_or_else(PoisonError::into_inner).add(uri);
                }
                Source::Connection(receiver)
            }
        };
        Ok(Some(Self { session: Arc::clone(session), wanted, source }))
    }

    /// The next change; `None` when the connection has ended.
    pub(crate) async fn next(&mut self) -> Option<ServerNotification> {
        loop {
            let change = match &mut self.source {
                Source::Subscription(subscription) => return subscription.next().await.ok().flatten(),
                Source::Connection(receiver) => match receiver.recv().await {
                    Ok(change) => change,
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return None,
                },
            };
            if self.is_wanted(&change) {
                return Some(change);
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
    pub(crate) fn missed(&self) -> Vec<ServerNotification> {
        let resources = || ServerNotification::ResourceListChangedNotification(Default::default());
        let prompts = || ServerNotification::PromptListChangedNotification(Default::default());
        let mut missed = Vec::new();
        missed.extend((self.wanted.resources_list_changed == Some(true)).then(resources));
        missed.extend((self.wanted.prompts_list_changed == Some(true)).then(prompts));
        missed
    }
}

/// On the older wire, the last follower of a resource ends the subscription.
impl Drop for Changes {
    fn drop(&mut self) {
        let Source::Connection(_) = self.source else { return };
        for uri in self.wanted.resource_subscriptions.iter().flatten() {
            let is_last = self.session.subscribers.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
            let (Ok(runtime), true) = (Handle::try_current(), is_last) else { continue };
            let (peer, params) = (self.session.peer().clone(), UnsubscribeRequestParams::new(uri));
            runtime.spawn(async move { peer.unsubscribe(params).await });
        }
    }
}

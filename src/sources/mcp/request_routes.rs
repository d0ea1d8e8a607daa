//! A transport that routes the messages of a server to the client whose request is in progress, in their order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, GetExtensions, GetMeta, ProgressToken, RequestId, ServerJsonRpcMessage,
    ServerNotification,
};
use rmcp::transport::Transport;

use super::request_origin::{CurrentClient, ServerMessage, ToClient};

/// The requests in progress that were made for a client.
#[derive(Debug)]
pub(super) struct RequestRoutes {
    routes: Mutex<IndexMap<RequestId, Route>>,
    /// The client of the whole connection, where there is one.
    client: CurrentClient,
}

#[derive(Debug)]
struct Route {
    token: Option<ProgressToken>,
    to_client: ToClient,
}

impl RequestRoutes {
    pub(super) fn new(client: CurrentClient) -> Self {
        Self { routes: Mutex::default(), client }
    }

    fn lock(&self) -> MutexGuard<'_, IndexMap<RequestId, Route>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client of this request, else of the latest one.
    pub(super) fn to_client(&self, request: Option<&RequestId>) -> Option<ToClient> {
        let routes = self.lock();
        let named = request.and_then(|id| routes.get(id));
        named.or_else(|| Some(routes.last()?.1)).map(|route| route.to_client.clone())
    }

    fn sent(&self, message: &ClientJsonRpcMessage) {
        if let ClientJsonRpcMessage::Request(sent) = message
            && let Some(to_client) = sent.request.extensions().get::<ToClient>()
        {
            let token = sent.request.get_meta().get_progress_token();
            self.lock().insert(sent.id.clone(), Route { token, to_client: to_client.clone() });
        }
    }

    /// Routes progress, which names its request. A log message names none: it is for the client of the connection, or for
    /// the only request in progress.
    fn received(&self, message: &ServerJsonRpcMessage) {
        let ended = match message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let mut routes = self.lock();
        if let Some(id) = ended {
            routes.shift_remove(id);
        }
        let ServerJsonRpcMessage::Notification(message) = message else { return };
        let route = match &message.notification {
            ServerNotification::ProgressNotification(progress) => {
                let token = Some(&progress.params.progress_token);
                routes.values().find(|route| route.token.as_ref() == token)
            }
            ServerNotification::LoggingMessageNotification(_) => {
                let is_certain = routes.len() == 1 || self.client.borrow().is_some();
                routes.values().next_back().filter(|_| is_certain)
            }
            _ => return,
        };
        let is_log = matches!(message.notification, ServerNotification::LoggingMessageNotification(_));
        let of_client = || Some(self.client.borrow().as_ref().filter(|_| is_log)?.messages().clone());
        if let Some(to_client) = route.map(|route| route.to_client.clone()).or_else(of_client) {
            let _ = to_client.try_send(ServerMessage::Notification(Box::new(message.notification.clone())));
        }
    }

    /// Ends the route of a request that has no answer.
    pub(super) fn forget(&self, id: &RequestId) {
        self.lock().shift_remove(id);
    }
}

/// A transport with its routes.
pub(super) struct RoutedTransport<T> {
    pub(super) inner: T,
    pub(super) routes: Arc<RequestRoutes>,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for RoutedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.routes.sent(&message);
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let message = self.inner.receive().await?;
        self.routes.received(&message);
        Some(message)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

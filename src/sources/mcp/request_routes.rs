//! A transport that routes the messages of a server to the client whose request is in progress, in their order.
#![expect(deprecated, reason = "the older wire has roots, sampling, log levels and subscriptions")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use rmcp::model::{
    ClientConfig, ClientJsonRpcMessage, ClientRequest, ClientResult, ConstString, CreateMessageRequest,
    CreateMessageRequestMethod, CreateMessageRequestParams, CreateMessageResult, ElicitRequest,
    ElicitRequestParams, ElicitResult, ElicitationCreateRequestMethod, GetExtensions, GetMeta,
    Implementation, ListRootsRequest, ListRootsRequestMethod, ListRootsResult, ProgressToken, RequestId,
    ResourceUpdatedNotification, ResourceUpdatedNotificationParam, ServerJsonRpcMessage, ServerNotification,
    ServerRequest, SetLevelRequestParams,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, Peer, RequestContext};
use rmcp::transport::Transport;
use rmcp::{ClientHandler, ErrorData, RoleClient};
use tokio::sync::{Notify, broadcast, oneshot};

use super::request_origin::{CallerName, ClientSession, CurrentClient, ServerMessage, ToClient};

/// Most requests in progress that are known; a server may leave cancelled ones without an answer.
const MAX_ROUTES: usize = 4_096;

/// The requests in progress, with the clients that they were made for.
#[derive(Debug)]
pub(super) struct RequestRoutes {
    routes: Mutex<IndexMap<RequestId, Route>>,
    callers: Mutex<Callers>,
    /// The client of the whole connection, where there is one.
    client: CurrentClient,
}

/// The callers who have used a connection.
#[derive(Debug, Default)]
enum Callers {
    #[default]
    None,
    One(CallerName),
    Several,
}

#[derive(Debug)]
struct Route {
    token: Option<ProgressToken>,
    /// `None` where no client waits for messages.
    to_client: Option<ToClient>,
}

impl RequestRoutes {
    pub(super) fn new(client: CurrentClient) -> Self {
        Self { routes: Mutex::default(), callers: Mutex::default(), client }
    }

    /// Notes a caller of this connection.
    fn used_by(&self, caller: CallerName) {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        *callers = match std::mem::take(&mut *callers) {
            Callers::None => Callers::One(caller),
            Callers::One(known) if known == caller => Callers::One(known),
            Callers::One(_) | Callers::Several => Callers::Several,
        };
    }

    fn has_several_callers(&self) -> bool {
        matches!(*self.callers.lock().unwrap_or_else(PoisonError::into_inner), Callers::Several)
    }

    fn lock(&self) -> MutexGuard<'_, IndexMap<RequestId, Route>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client of this request, else of the latest one.
    pub(super) fn to_client(&self, request: Option<&RequestId>) -> Option<ToClient> {
        let routes = self.lock();
        let named = request.and_then(|id| routes.get(id)?.to_client.clone());
        named.or_else(|| routes.values().rev().find_map(|route| route.to_client.clone()))
    }

    fn sent(&self, message: &ClientJsonRpcMessage) {
        let ClientJsonRpcMessage::Request(sent) = message else { return };
        let to_client = sent.request.extensions().get::<ToClient>().cloned();
        // Other requests of our own, such as lists and subscriptions, cause no messages.
        if to_client.is_none() && !matches!(sent.request, ClientRequest::CallToolRequest(_)) {
            return;
        }
        self.used_by(sent.request.extensions().get().cloned().unwrap_or_default());
        let mut routes = self.lock();
        if routes.len() >= MAX_ROUTES {
            routes.shift_remove_index(0);
        }
        let token = to_client.as_ref().and_then(|_| sent.request.get_meta().get_progress_token());
        routes.insert(sent.id.clone(), Route { token, to_client });
    }

    /// Routes progress, which names its request. A log message names none: it is for the client of the connection, or for
    /// the only request in progress. It may be late, and so goes to nobody once several callers have used the connection.
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
                let is_only = routes.len() == 1 && !self.has_several_callers();
                let is_certain = is_only || self.client.borrow().is_some();
                routes.values().rfind(|route| route.to_client.is_some()).filter(|_| is_certain)
            }
            _ => return,
        };
        let is_log = matches!(message.notification, ServerNotification::LoggingMessageNotification(_));
        let of_client = || Some(self.client.borrow().as_ref().filter(|_| is_log)?.messages().clone());
        if let Some(to_client) = route.and_then(|route| route.to_client.clone()).or_else(of_client) {
            let _ = to_client.try_send(ServerMessage::Notification(Box::new(message.notification.clone())));
        }
    }

    /// Ends the route of a request that nobody waits for. The server may work on it still: it stays among the requests in
    /// progress, so that no log message of it goes to another client.
    pub(super) fn forget(&self, id: &RequestId) {
        if let Some(route) = self.lock().get_mut(id) {
            route.to_client = None;
        }
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

/// Most announcements that wait for a reader; a slower one gets the latest.
const MAX_ANNOUNCEMENTS: usize = 64;

/// Our handler of the connection.
pub(super) struct Client {
    /// Signals a changed list of tools.
    pub(super) changed: Arc<Notify>,
    pub(super) routes: Arc<RequestRoutes>,
    /// Changes of resources and prompts.
    pub(super) announcements: broadcast::Sender<ServerNotification>,
    /// The client that the server can ask, where the connection is for one.
    client: CurrentClient,
    /// The client whose capabilities are declared.
    declared: Option<Arc<ClientSession>>,
}

impl Client {
    pub(super) fn new(client: CurrentClient) -> Self {
        let announcements = broadcast::channel(MAX_ANNOUNCEMENTS).0;
        let routes = Arc::new(RequestRoutes::new(client.clone()));
        let declared = client.borrow().clone();
        Self { changed: Arc::default(), routes, announcements, client, declared }
    }

    fn announce(&self, notification: ServerNotification) {
        let _ = self.announcements.send(notification);
    }

    /// Asks the client of the request in progress, else the client of the connection.
    async fn ask<M: ConstString>(
        &self,
        request: ServerRequest,
        context: &RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        let client = self.client.borrow().clone().filter(|_| self.declared.is_some());
        let Some(client) = client else { return Err(ErrorData::method_not_found::<M>()) };
        let of = match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => Some(id),
            _ => None,
        };
        let to_client = self.routes.to_client(of).unwrap_or_else(|| client.messages().clone());
        let gone = |_| ErrorData::internal_error("the client is gone", None);
        let (answer, answered) = oneshot::channel();
        let asked = to_client.send(ServerMessage::Request(Box::new(request), answer)).await;
        asked.map_err(|_| gone(()))?;
        tokio::select! {
            answer = answered => answer.map_err(|_| gone(()))?,
            () = context.ct.cancelled() => Err(gone(())),
        }
    }
}

/// The error for an answer that does not fit its question.
fn unfit() -> ErrorData {
    ErrorData::internal_error("the answer of the client does not fit the question", None)
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("toolcrib", env!("CARGO_PKG_VERSION"));
        let capabilities = self.declared.as_ref().map(|client| client.capabilities().clone());
        ClientConfig::new(capabilities.unwrap_or_default(), name)
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let request = ServerRequest::CreateMessageRequest(CreateMessageRequest::new(params));
        match self.ask::<CreateMessageRequestMethod>(request, &context).await? {
            ClientResult::CreateMessageResult(result) => Ok(*result),
            _ => Err(unfit()),
        }
    }

    async fn list_roots(&self, context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        let request = ServerRequest::ListRootsRequest(ListRootsRequest::default());
        match self.ask::<ListRootsRequestMethod>(request, &context).await? {
            ClientResult::ListRootsResult(result) => Ok(result),
            _ => Err(unfit()),
        }
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
        match self.ask::<ElicitationCreateRequestMethod>(request, &context).await? {
            ClientResult::ElicitResult(result) => Ok(result),
            _ => Err(unfit()),
        }
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let updated = ResourceUpdatedNotification::new(params);
        self.announce(ServerNotification::ResourceUpdatedNotification(updated));
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.announce(ServerNotification::ResourceListChangedNotification(Default::default()));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.announce(ServerNotification::PromptListChangedNotification(Default::default()));
    }
}

/// Sets the level of log messages of a connection whenever its client does.
pub(super) async fn follow_level(peer: Peer<RoleClient>, mut client: CurrentClient) {
    let info = peer.peer_info();
    let has_levels = info
        .is_some_and(|info| info.capabilities.logging.is_some() && info.protocol_version.has_initialize());
    if !has_levels {
        return;
    }
    let Ok(Some(client)) = client.wait_for(Option::is_some).await.map(|client| client.clone()) else {
        return;
    };
    let mut levels = client.levels();
    while !peer.is_transport_closed() {
        let level = *levels.borrow_and_update();
        if let Some(level) = level {
            let _ = peer.set_level(SetLevelRequestParams::new(level)).await;
        }
        if levels.changed().await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{CallToolRequest, CallToolRequestParams, NumberOrString};
    use serde_json::json;
    use tokio::sync::watch;

    use super::super::request_origin::to_client;
    use super::*;

    /// A call of this caller, sent and answered.
    fn called(
        routes: &RequestRoutes,
        id: i64,
        caller: &CallerName,
    ) -> tokio::sync::mpsc::Receiver<ServerMessage> {
        let (messages, received) = to_client();
        let mut call = CallToolRequest::new(CallToolRequestParams::new("read"));
        call.extensions.insert::<ToClient>(messages);
        call.extensions.insert(caller.clone());
        let id = NumberOrString::Number(id);
        routes.sent(&ClientJsonRpcMessage::request(ClientRequest::CallToolRequest(call), id));
        received
    }

    fn log(routes: &RequestRoutes) {
        let message = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "late"}});
        routes.received(&serde_json::from_value(message).unwrap());
    }

    fn answered(routes: &RequestRoutes, id: i64) {
        let message = json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}});
        routes.received(&serde_json::from_value(message).unwrap());
    }

    #[test]
    fn a_late_log_message_reaches_no_other_caller() {
        let routes = RequestRoutes::new(watch::channel(None).1);
        let (amy, bob) = (CallerName::named("amy"), CallerName::named("bob"));
        let mut first = called(&routes, 1, &amy);
        log(&routes);
        assert!(first.try_recv().is_ok());
        answered(&routes, 1);
        let mut second = called(&routes, 2, &amy);
        log(&routes);
        assert!(second.try_recv().is_ok(), "all is for one caller");
        answered(&routes, 2);
        let mut other = called(&routes, 3, &bob);
        log(&routes);
        assert!(other.try_recv().is_err(), "it may be about a call of the first caller");
        answered(&routes, 3);
        let mut again = called(&routes, 4, &amy);
        log(&routes);
        assert!(again.try_recv().is_err());
    }
}

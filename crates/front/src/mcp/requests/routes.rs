//! A transport that routes the messages of a server to the client whose request is in progress, in their order.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use indexmap::IndexMap;
use rmcp::RoleClient;
use rmcp::model::{
    ClientConfig, ClientJsonRpcMessage, ClientNotification, ClientRequest, ClientResult, ConstString,
    CreateMessageRequestMethod, ElicitationCreateRequestMethod, ErrorCode, ErrorData, GetExtensions, GetMeta,
    Implementation, ListRootsRequestMethod, ProgressToken, RequestId, ServerJsonRpcMessage,
    ServerNotification, ServerRequest, SetLevelRequestParams,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, Peer, RequestContext, Service};
use rmcp::transport::Transport;
use tokio::sync::{Notify, broadcast};
use tokio::time::{Instant, sleep_until, timeout};

use super::{ClientSession, CurrentClient, RequestOrigin, ServerMessage, ToClient, ask_client};
use toolcrib_definition::guard::locked;

/// Most requests in progress that are known; a server may leave cancelled ones without an answer.
const MAX_ROUTES: usize = 4_096;

/// The requests in progress, with the clients that they were made for.
#[derive(Debug)]
pub(in crate::mcp) struct RequestRoutes {
    routes: Mutex<Routes>,
    /// The client of the whole connection, where there is one.
    client: CurrentClient,
    /// The server's requests whose answers it has not taken yet.
    pub(super) unanswered: Mutex<Vec<RequestId>>,
    /// The reason why the connection was ended here.
    end: OnceLock<String>,
}

#[derive(Debug, Default)]
struct Routes {
    in_progress: IndexMap<RequestId, Route>,
    /// All requests that wait for an answer, also our own.
    unanswered: Vec<RequestId>,
    /// The first two callers who have used the connection.
    callers: Vec<Arc<str>>,
}

#[derive(Debug)]
struct Route {
    token: Option<ProgressToken>,
    /// `None` where no client waits for messages.
    to_client: Option<ToClient>,
    heard: Option<Arc<Heard>>,
}

/// Notified whenever the server sends something about one request.
#[derive(Debug, Default)]
pub(super) struct Heard(pub(super) Notify);

impl RequestRoutes {
    pub(super) fn new(client: CurrentClient) -> Self {
        Self { routes: Mutex::default(), client, unanswered: Mutex::default(), end: OnceLock::new() }
    }

    /// The reason why the connection was ended here.
    pub(in crate::mcp) fn end(&self) -> Option<&str> {
        self.end.get().map(String::as_str)
    }

    /// Ends the connection for this reason: nothing more is read from it.
    pub(in crate::mcp) fn end_for(&self, reason: String) {
        let _ = self.end.set(reason);
    }

    /// Waits until the server says nothing about a request for this long, and no request of its own waits for an answer.
    pub(super) async fn silent(&self, heard: &Heard, time: Duration) {
        while timeout(time, heard.0.notified()).await.is_ok() || !locked(&self.unanswered).is_empty() {}
    }

    /// Notes a request of the server; false where too many have no answer yet.
    pub(super) fn takes_request(&self, message: &ServerJsonRpcMessage) -> bool {
        let mut unanswered = locked(&self.unanswered);
        match message {
            ServerJsonRpcMessage::Request(request) => unanswered.push(request.id.clone()),
            ServerJsonRpcMessage::Notification(message) => {
                if let ServerNotification::CancelledNotification(cancelled) = &message.notification {
                    forget_one(&mut unanswered, cancelled.params.request_id.as_ref());
                }
            }
            _ => {}
        }
        unanswered.len() <= MAX_UNANSWERED
    }

    /// The client of this request, else of the latest one.
    pub fn to_client(&self, request: Option<&RequestId>) -> Option<ToClient> {
        let routes = &locked(&self.routes).in_progress;
        let named = request.and_then(|id| routes.get(id)?.to_client.clone());
        named.or_else(|| routes.values().rev().find_map(|route| route.to_client.clone()))
    }

    /// The request that waits for an answer, if there is just one.
    pub(in crate::mcp) fn only_unanswered(&self) -> Option<RequestId> {
        match &locked(&self.routes).unanswered[..] {
            [only] => Some(only.clone()),
            _ => None,
        }
    }

    fn note_unanswered(&self, id: &RequestId) {
        let unanswered = &mut locked(&self.routes).unanswered;
        if unanswered.len() < MAX_ROUTES {
            unanswered.push(id.clone());
        }
    }

    pub(super) fn sent(&self, message: &ClientJsonRpcMessage) {
        let sent = match message {
            ClientJsonRpcMessage::Request(sent) => sent,
            ClientJsonRpcMessage::Notification(message) => {
                if let ClientNotification::CancelledNotification(cancelled) = &message.notification {
                    forget_one(&mut locked(&self.routes).unanswered, cancelled.params.request_id.as_ref());
                }
                return;
            }
            _ => return,
        };
        // A subscription is answered at its end.
        if !matches!(sent.request, ClientRequest::SubscriptionsListenRequest(_)) {
            self.note_unanswered(&sent.id);
        }
        let origin = sent.request.extensions().get::<Arc<RequestOrigin>>();
        // Other requests of our own, such as lists and subscriptions, cause no messages.
        if origin.is_none() && !matches!(sent.request, ClientRequest::CallToolRequest(_)) {
            return;
        }
        let Routes { in_progress, callers, .. } = &mut *locked(&self.routes);
        let caller = origin.map(|origin| Arc::clone(&origin.caller)).unwrap_or_default();
        if callers.len() < 2 && !callers.contains(&caller) {
            callers.push(caller);
        }
        if in_progress.len() >= MAX_ROUTES {
            in_progress.shift_remove_index(0);
        }
        let token = sent.request.get_meta().get_progress_token();
        let to_client = origin.map(|origin| origin.messages.clone());
        let heard = sent.request.extensions().get::<Arc<Heard>>().cloned();
        in_progress.insert(sent.id.clone(), Route { token, to_client, heard });
    }

    /// Routes progress, which names its request. A log message names none: it is for the client of the connection, or for
    /// the only request in progress. It may be late, and so goes to nobody once several callers have used the connection.
    pub(super) fn received(&self, message: &ServerJsonRpcMessage) {
        let ended = match message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let Routes { in_progress: routes, callers, unanswered } = &mut *locked(&self.routes);
        forget_one(unanswered, ended);
        if let Some(id) = ended {
            routes.shift_remove(id);
        }
        let ServerJsonRpcMessage::Notification(message) = message else { return };
        let client = self.client.borrow();
        let mut of_client = None;
        let route = match &message.notification {
            ServerNotification::ProgressNotification(progress) => {
                let token = Some(&progress.params.progress_token);
                routes.values().find(|route| route.token.as_ref() == token)
            }
            ServerNotification::LoggingMessageNotification(_) => {
                of_client = client.as_ref().map(|client| &client.messages);
                let is_certain = of_client.is_some() || (routes.len() == 1 && callers.len() < 2);
                routes.values().rfind(|route| route.to_client.is_some()).filter(|_| is_certain)
            }
            _ => return,
        };
        if let Some(heard) = route.and_then(|route| route.heard.as_ref()) {
            heard.0.notify_one();
        }
        if let Some(to_client) = route.and_then(|route| route.to_client.as_ref()).or(of_client) {
            let _ = to_client.try_send(ServerMessage::Notification(Box::new(message.notification.clone())));
        }
    }

    /// Ends the route of a request that nobody waits for. The server may work on it still: it stays among the requests in
    /// progress, so that no log message of it goes to another client.
    pub(super) fn forget(&self, id: &RequestId) {
        if let Some(route) = locked(&self.routes).in_progress.get_mut(id) {
            route.to_client = None;
        }
    }
}

pub(super) fn forget_one(unanswered: &mut Vec<RequestId>, id: Option<&RequestId>) {
    if let Some(at) = unanswered.iter().position(|known| Some(known) == id) {
        unanswered.swap_remove(at);
    }
}

/// Most requests of a server whose answers it has not taken.
pub(super) const MAX_UNANSWERED: usize = 256;
/// Most notifications that are read from a server in a second; others wait in its pipe.
pub(in crate::mcp) const MAX_NOTIFICATIONS: usize = 1_000;

/// The pace at which a server is read: a flood must not take the processor.
pub(in crate::mcp) struct Pace {
    /// The most of a second.
    most: usize,
    /// The end of the current second, and what was read in it.
    second: (Instant, usize),
}

impl Pace {
    pub(in crate::mcp) fn new(most: usize) -> Self {
        Self { most, second: (Instant::now(), 0) }
    }

    /// Waits for the next second, where this one is full.
    pub(in crate::mcp) async fn wait(&mut self) {
        let (end, count) = self.second;
        if count >= self.most {
            sleep_until(end).await;
        }
        if Instant::now() >= end {
            self.second = (Instant::now() + Duration::from_secs(1), 0);
        }
    }

    pub(in crate::mcp) fn count(&mut self, read: usize) {
        self.second.1 += read;
    }
}

/// A transport with its routes.
pub(in crate::mcp) struct RoutedTransport<T> {
    inner: T,
    routes: Arc<RequestRoutes>,
    notifications: Pace,
}

impl<T> RoutedTransport<T> {
    pub(in crate::mcp) fn new(inner: T, routes: &Arc<RequestRoutes>) -> Self {
        Self { inner, routes: Arc::clone(routes), notifications: Pace::new(MAX_NOTIFICATIONS) }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for RoutedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.routes.sent(&message);
        let answered = match &message {
            ClientJsonRpcMessage::Response(response) => Some(response.id.clone()),
            ClientJsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let sending = self.inner.send(message);
        let routes = Arc::clone(&self.routes);
        async move {
            let sent = sending.await;
            if answered.is_some() {
                forget_one(&mut locked(&routes.unanswered), answered.as_ref());
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.notifications.wait().await;
        let message = self.inner.receive().await?;
        self.notifications.count(usize::from(matches!(message, ServerJsonRpcMessage::Notification(_))));
        if !self.routes.takes_request(&message) {
            self.routes.end_for(format!("it sent over {MAX_UNANSWERED} requests and took no answer"));
            return None;
        }
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
pub(in crate::mcp) struct Client {
    /// Signals a changed list of tools.
    pub(in crate::mcp) changed: Arc<Notify>,
    pub(in crate::mcp) routes: Arc<RequestRoutes>,
    /// Changes of resources and prompts.
    pub(in crate::mcp) announcements: broadcast::Sender<ServerNotification>,
    /// The client that the server can ask, where the connection is for one.
    client: CurrentClient,
    /// The client whose capabilities are declared.
    pub(in crate::mcp) declared: Option<Arc<ClientSession>>,
}

impl Client {
    pub(in crate::mcp) fn new(client: CurrentClient) -> Self {
        let announcements = broadcast::channel(MAX_ANNOUNCEMENTS).0;
        let routes = Arc::new(RequestRoutes::new(client.clone()));
        let declared = client.borrow().clone();
        Self { changed: Arc::default(), routes, announcements, client, declared }
    }
}

impl Service<RoleClient> for Client {
    /// Asks the client of the request in progress, else the client of the connection.
    async fn handle_request(
        &self,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        let method = match &request {
            ServerRequest::PingRequest(_) => return Ok(ClientResult::empty(())),
            ServerRequest::CreateMessageRequest(_) => CreateMessageRequestMethod::VALUE,
            ServerRequest::ListRootsRequest(_) => ListRootsRequestMethod::VALUE,
            ServerRequest::ElicitRequest(_) => ElicitationCreateRequestMethod::VALUE,
            ServerRequest::CustomRequest(request) => &request.method,
            _ => "",
        };
        let is_known = !matches!(request, ServerRequest::CustomRequest(_)) && self.declared.is_some();
        let client = self.client.borrow().clone().filter(|_| is_known);
        let Some(client) = client else {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method.to_string(), None));
        };
        let of = match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => Some(id),
            _ => None,
        };
        let to_client = self.routes.to_client(of).unwrap_or_else(|| client.messages.clone());
        let gone = || Err(ErrorData::internal_error("the client is gone", None));
        tokio::select! {
            answer = ask_client(&to_client, request) => answer.unwrap_or_else(gone),
            () = context.ct.cancelled() => gone(),
        }
    }

    async fn handle_notification(
        &self,
        mut notification: ServerNotification,
        _: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        // Metadata of this connection is not for clients.
        notification.extensions_mut().clear();
        match notification {
            ServerNotification::ToolListChangedNotification(_) => self.changed.notify_one(),
            ServerNotification::ResourceUpdatedNotification(_)
            | ServerNotification::ResourceListChangedNotification(_)
            | ServerNotification::PromptListChangedNotification(_) => {
                let _ = self.announcements.send(notification);
            }
            _ => {}
        }
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("toolcrib", env!("CARGO_PKG_VERSION"));
        let capabilities = self.declared.as_ref().map(|client| client.capabilities.clone());
        ClientConfig::new(capabilities.unwrap_or_default(), name)
    }
}

/// Sets the level of log messages of a connection whenever its client does.
pub(in crate::mcp) async fn follow_level(peer: Peer<RoleClient>, mut client: CurrentClient) {
    let info = peer.peer_info();
    let has_levels = info
        .is_some_and(|info| info.capabilities.logging.is_some() && info.protocol_version.has_initialize());
    if !has_levels {
        return;
    }
    let Ok(Some(client)) = client.wait_for(Option::is_some).await.map(|client| client.clone()) else {
        return;
    };
    let mut levels = client.levels.subscribe();
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

//! Requests of clients, sent on: with their metadata, progress and cancellation, and rounds of questions.

#![expect(deprecated, reason = "the older wire has roots, sampling, log levels and subscriptions")]

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indexmap::IndexMap;
use rmcp::model::{
    CancelledNotificationParam, ClientConfig, ClientJsonRpcMessage, ClientRequest, ClientResult, ConstString,
    CreateMessageRequest, CreateMessageRequestMethod, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationCreateRequestMethod, ErrorData,
    GetExtensions, GetMeta, Implementation, InputRequest, InputRequiredResult, InputResponses,
    ListRootsRequest, ListRootsRequestMethod, ListRootsResult, ProgressToken, Prompt, RequestId, Resource,
    ResourceTemplate, ResourceUpdatedNotification, ResourceUpdatedNotificationParam, ServerCapabilities,
    ServerJsonRpcMessage, ServerNotification, ServerRequest, ServerResult, SetLevelRequestParams,
};
use rmcp::service::{
    InboundStreamOrigin, NotificationContext, Peer, PeerRequestOptions, RequestContext, ServiceError,
};
use rmcp::transport::Transport;
use rmcp::{ClientHandler, RoleClient};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::{Notify, broadcast, oneshot};

use super::endpoint::explain;
use super::request_origin::{
    CallerName, ClientSession, CurrentClient, RequestOrigin, ServerMessage, ToClient, bound,
};
use super::session::{InProgress, Session};

/// Most rounds of questions for one request.
const MAX_ROUNDS: usize = 10;

/// Longest wait for a list.
const LONGEST_LISTING: Duration = Duration::from_secs(10);

/// Most entries of one list.
const MAX_LISTED: usize = 10_000;

/// A list of a server, and the milliseconds for which it holds, where the server says so.
pub(crate) struct ServerList<T> {
    pub(crate) items: Vec<T>,
    pub(crate) ttl_ms: Option<u64>,
    pub(crate) is_private: bool,
}

/// Takes all pages of a list.
macro_rules! list_all {
    ($session:expr, $method:ident, $items:ident) => {{
        let mut list = ServerList { items: Vec::new(), ttl_ms: None, is_private: false };
        let listing = async {
            let mut cursor = None;
            loop {
                let params = rmcp::model::PaginatedRequestParams::default().with_cursor(cursor.take());
                let page = $session.peer().$method(Some(params)).await?;
                list.ttl_ms = list.ttl_ms.into_iter().chain(page.ttl_ms).min();
                list.is_private |= page.cache_scope == Some(rmcp::model::CacheScope::Private);
                let is_empty = page.$items.is_empty();
                list.items.extend(page.$items);
                match page.next_cursor.filter(|next| !next.is_empty()) {
                    Some(next) if !is_empty && list.items.len() < MAX_LISTED => cursor = Some(next),
                    _ => return Ok::<_, ServiceError>(()),
                }
            }
        };
        // A server that is silent must not hide the lists of others.
        let listed = tokio::time::timeout(LONGEST_LISTING, listing).await;
        listed.map_err(|_| ServiceError::Timeout { timeout: LONGEST_LISTING })??;
        list.items = $session.without_secrets_in(list.items);
        Ok(list)
    }};
}

impl Session {
    /// The capabilities of the server.
    pub(crate) fn capabilities(&self) -> ServerCapabilities {
        self.peer().peer_info().map(|info| info.capabilities.clone()).unwrap_or_default()
    }

    /// The name that the server gives itself.
    pub(crate) fn server_name(&self) -> Option<String> {
        let info = self.peer().peer_info()?;
        Some(info.server_info.as_ref()?.name.clone())
    }

    /// Whether the connection speaks the newer wire.
    pub(crate) fn is_newer_wire(&self) -> bool {
        self.peer().peer_info().is_some_and(|info| !info.protocol_version.has_initialize())
    }

    pub(crate) async fn resources(&self) -> Result<ServerList<Resource>, ServiceError> {
        list_all!(self, list_resources, resources)
    }

    pub(crate) async fn resource_templates(&self) -> Result<ServerList<ResourceTemplate>, ServiceError> {
        list_all!(self, list_resource_templates, resource_templates)
    }

    pub(crate) async fn prompts(&self) -> Result<ServerList<Prompt>, ServiceError> {
        list_all!(self, list_prompts, prompts)
    }

    /// Sends a request of a client on. A request that is dropped before it is answered is cancelled.
    pub(crate) async fn request(
        &self,
        mut request: ClientRequest,
        origin: Option<&Arc<RequestOrigin>>,
    ) -> Result<ServerResult, ServiceError> {
        let mut options = PeerRequestOptions::no_options();
        if let Some(origin) = origin {
            options.meta = Some(origin.meta_for(self.is_newer_wire()));
            request.extensions_mut().insert::<ToClient>(origin.messages().clone());
            request.extensions_mut().insert(origin.caller().clone());
        }
        let _call = InProgress::start(&self.calls);
        let handle = self.peer().send_request_with_option(request, options).await?;
        let mut waiting = Waiting { peer: self.peer(), routes: &self.routes, id: Some(handle.id.clone()) };
        let answer = tokio::select! {
            answer = handle.await_response() => answer,
            () = cancelled(origin) => return Err(ServiceError::Cancelled { reason: None }),
        };
        waiting.id = None;
        self.answers.fetch_add(1, Relaxed);
        answer
    }

    /// Sends a request on that a server may answer with questions. A client of the older wire is asked here; one of the
    /// newer wire gets the questions as the answer.
    pub(crate) async fn request_with_input(
        &self,
        request: ClientRequest,
        origin: Option<&Arc<RequestOrigin>>,
    ) -> Result<ServerResult, ServiceError> {
        let (mut responses, mut state) = origin.map(|origin| origin.input(&self.name)).unwrap_or_default();
        for _ in 0..MAX_ROUNDS {
            let request = with_input(request.clone(), responses.take(), state.take());
            let answer = self.request(request, origin).await?;
            let ServerResult::InputRequiredResult(mut question) = answer else { return Ok(answer) };
            let Some(origin) = origin.filter(|origin| origin.session().is_some()) else {
                question.request_state = Some(bound(&self.name, question.request_state));
                return Ok(ServerResult::InputRequiredResult(question));
            };
            (responses, state) = answered(origin, question).await?;
        }
        Err(ServiceError::McpError(ErrorData::internal_error("the server asks without an end", None)))
    }

    /// A value of the server without secrets.
    pub(crate) fn without_secrets_in<T: Serialize + DeserializeOwned>(&self, value: T) -> T {
        if !self.has_secrets() {
            return value;
        }
        let hidden = serde_json::to_value(&value).map(|value| self.hide_in(value));
        hidden.and_then(serde_json::from_value).unwrap_or(value)
    }

    /// The error of a request as the server gave it, without secrets; else the reason why there is no answer.
    pub(crate) fn request_error(&self, error: ServiceError) -> ErrorData {
        match error {
            ServiceError::McpError(mut error) => {
                error.message = self.hide(&error.message).into();
                error.data = error.data.map(|data| self.hide_in(data));
                error
            }
            other => {
                let name = self.server_name().unwrap_or_default();
                let message = format!("the MCP server `{name}` does not answer: {}", explain(&other));
                ErrorData::internal_error(self.hide(&message), None)
            }
        }
    }
}

/// The request with the client's answers.
fn with_input(
    mut request: ClientRequest,
    responses: Option<InputResponses>,
    state: Option<String>,
) -> ClientRequest {
    match &mut request {
        ClientRequest::CallToolRequest(request) => {
            (request.params.input_responses, request.params.request_state) = (responses, state);
        }
        ClientRequest::GetPromptRequest(request) => {
            (request.params.input_responses, request.params.request_state) = (responses, state);
        }
        ClientRequest::ReadResourceRequest(request) => {
            (request.params.input_responses, request.params.request_state) = (responses, state);
        }
        _ => {}
    }
    request
}

/// The answers of a client of the older wire to the questions of a server on the newer one.
async fn answered(
    origin: &RequestOrigin,
    question: InputRequiredResult,
) -> Result<(Option<InputResponses>, Option<String>), ServiceError> {
    let mut responses = InputResponses::new();
    for (name, request) in question.input_requests.into_iter().flatten() {
        let request = match request {
            InputRequest::CreateMessage(request) => ServerRequest::CreateMessageRequest(request),
            InputRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
            InputRequest::ListRoots(_) => ServerRequest::ListRootsRequest(ListRootsRequest::default()),
            _ => continue,
        };
        responses.insert(name, value(ask(origin, request).await?));
    }
    Ok((Some(responses), question.request_state))
}

fn value(result: ClientResult) -> Value {
    serde_json::to_value(result).unwrap_or_default()
}

/// Asks the client of a request, on the older wire.
pub(crate) async fn ask(
    origin: &RequestOrigin,
    request: ServerRequest,
) -> Result<ClientResult, ServiceError> {
    let (answer, answered) = oneshot::channel();
    let message = ServerMessage::Request(Box::new(request), answer);
    origin.messages().send(message).await.map_err(|_| ServiceError::TransportClosed)?;
    answered.await.map_err(|_| ServiceError::TransportClosed)?.map_err(ServiceError::McpError)
}

async fn cancelled(origin: Option<&Arc<RequestOrigin>>) {
    match origin {
        Some(origin) => origin.cancelled().await,
        None => std::future::pending().await,
    }
}

/// A request without an answer so far. The server is told when nobody waits any more.
struct Waiting<'s> {
    peer: &'s Peer<RoleClient>,
    routes: &'s RequestRoutes,
    id: Option<RequestId>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        self.routes.forget(&id);
        let (peer, cancelled) = (self.peer.clone(), CancelledNotificationParam::new(Some(id), None));
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { peer.notify_cancelled(cancelled).await });
        }
    }
}

// A transport that routes the messages of a server to the client whose request is in progress, in their order.

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

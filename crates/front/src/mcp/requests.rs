//! Requests of clients, sent on to servers, and what servers say to their clients meanwhile.
//!
//! 1. A [`RequestOrigin`] is the client's request behind one of ours: its metadata, its answers to earlier questions, and
//!    the way back to the client. A [`ClientSession`] is a client that servers can ask.
//! 2. A [`Session`] sends a request with it, in rounds where the server asks, and cancels it.
//! 3. [`RequestRoutes`] finds the client of each message of a server.
#![expect(deprecated, reason = "the older protocol has roots, sampling, log levels and subscriptions")]

mod routes;

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotificationParam, ClientCapabilities, ClientRequest, ClientResult, ElicitationCapability,
    ErrorData, GetExtensions, InputRequest, InputRequiredResult, InputResponses, ListRootsRequest,
    LoggingLevel, Prompt, RequestId, RequestMetaObject, Resource, ResourceTemplate, ServerCapabilities,
    ServerNotification, ServerRequest, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};

use super::http::explain;
use super::session::{InProgress, Session};
use crate::telemetry;
use toolcrib_definition::guard::locked;

pub(super) use routes::*;

/// Most messages that wait for a client; further ones are dropped.
const MAX_WAITING: usize = 1_024;

/// The beginning of the keys in `_meta` that only the newer protocol has.
const RESERVED: &str = "io.modelcontextprotocol/";

/// The beginning of our own keys in `_meta`.
const OURS: &str = "toolcrib/";

/// A message of a server for a client.
#[derive(Debug)]
pub enum ServerMessage {
    /// A notification.
    Notification(Box<ServerNotification>),
    /// A question, and the place for its answer.
    Request(Box<ServerRequest>, oneshot::Sender<Result<ClientResult, ErrorData>>),
}

/// The way of messages to a client.
pub(crate) type ToClient = mpsc::Sender<ServerMessage>;

/// A channel of messages to a client.
pub fn to_client() -> (ToClient, mpsc::Receiver<ServerMessage>) {
    mpsc::channel(MAX_WAITING)
}

/// A session of a client that servers can ask. Such a client has connections of its own, which declare what it can.
#[derive(Debug)]
pub struct ClientSession {
    capabilities: ClientCapabilities,
    messages: ToClient,
    /// Whether this is the only client of the process, so that all connections are for it.
    is_only: bool,
    levels: watch::Sender<Option<LoggingLevel>>,
    /// Whether its model was told that it asks no questions.
    is_told: AtomicBool,
}

impl ClientSession {
    /// A session with a client of the older protocol.
    pub fn new(capabilities: ClientCapabilities, messages: ToClient, is_only: bool) -> Self {
        Self {
            capabilities,
            messages,
            is_only,
            levels: watch::channel(None).0,
            is_told: AtomicBool::new(false),
        }
    }

    /// Whether servers may ask the client anything.
    pub fn can_answer(&self) -> bool {
        let ClientCapabilities { elicitation, sampling, roots, .. } = &self.capabilities;
        elicitation.is_some() || sampling.is_some() || roots.is_some()
    }

    /// Whether all connections are for this client.
    pub(super) fn is_only(&self) -> bool {
        self.is_only
    }

    /// Sets the level of log messages of its connections, also of those that open later.
    pub fn set_level(&self, level: LoggingLevel) {
        self.levels.send_replace(Some(level));
    }
}

impl PartialEq for ClientSession {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for ClientSession {}

/// The client of a connection, as soon as it is known.
pub(super) type CurrentClient = watch::Receiver<Option<Arc<ClientSession>>>;

/// Waits until there is a client like this.
pub(super) async fn until_client(client: &CurrentClient, is_like: impl Fn(&ClientSession) -> bool) {
    if client.clone().wait_for(|client| client.as_deref().is_some_and(&is_like)).await.is_err() {
        std::future::pending().await
    }
}

/// The request of a client, as far as a server is concerned.
#[derive(Debug)]
pub struct RequestOrigin {
    meta: RequestMetaObject,
    session: Option<Arc<ClientSession>>,
    messages: ToClient,
    /// The name of the caller; empty where callers have none.
    caller: Arc<str>,
    rounds: Mutex<Rounds>,
    cancelled: watch::Sender<bool>,
}

/// A client's answers to a question of a server, on the newer protocol.
#[derive(Debug, Default)]
pub struct ClientInput {
    responses: Option<InputResponses>,
    /// The server that asked, and the state that it gave.
    asking: Option<(String, Option<String>)>,
}

impl ClientInput {
    /// The input of a request, unless its client has changed the state that [`bound`] made.
    pub fn read(responses: Option<&InputResponses>, state: Option<&str>) -> Result<Self, ErrorData> {
        let asking = state.map(serde_json::from_str).transpose().map_err(|_| {
            let message =
                "VALIDATION_ERROR: `requestState` is not the one of the question; send it back unchanged";
            ErrorData::invalid_params(message, None)
        })?;
        Ok(Self { responses: responses.cloned(), asking })
    }
}

/// Questions of servers on the newer protocol, and the answers to earlier ones.
#[derive(Debug, Default)]
struct Rounds {
    given: ClientInput,
    /// The question of the server, for the client.
    required: Option<InputRequiredResult>,
    /// Number of calls of tools so far.
    calls: usize,
    /// Whether no server may ask for input: the request runs several tools.
    is_of_many: bool,
}

impl PartialEq for RequestOrigin {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for RequestOrigin {}

impl RequestOrigin {
    /// A request with this metadata. Messages of servers go to `messages`.
    pub fn new(meta: RequestMetaObject, session: Option<Arc<ClientSession>>, messages: ToClient) -> Self {
        Self {
            meta,
            session,
            messages,
            caller: Arc::default(),
            rounds: Mutex::default(),
            cancelled: watch::Sender::default(),
        }
    }

    /// The same request of this caller.
    pub fn of_caller(self, name: &Arc<str>) -> Self {
        Self { caller: Arc::clone(name), ..self }
    }

    /// The same request with the client's answers to an earlier question of the server.
    pub fn with_input(self, given: ClientInput) -> Self {
        locked(&self.rounds).given = given;
        self
    }

    /// Lets no server ask for input: the request would be run again from its beginning, with tools that ran already.
    pub fn refuse_input(&self) {
        locked(&self.rounds).is_of_many = true;
    }

    /// Counts a call of a tool.
    pub fn begin_call(&self) {
        locked(&self.rounds).calls += 1;
    }

    /// Whether the server of the latest call may ask for input: no other call ran for this request.
    pub fn may_require_input(&self) -> bool {
        let rounds = locked(&self.rounds);
        !rounds.is_of_many && rounds.calls == 1
    }

    /// No request at all, within a session.
    pub fn of_session(session: Option<Arc<ClientSession>>) -> Self {
        Self::new(RequestMetaObject::new(), session, to_client().0)
    }

    /// The session of the client, where servers can ask it.
    pub fn session(&self) -> Option<&Arc<ClientSession>> {
        self.session.as_ref()
    }

    /// Sends the client of a session something that belongs to no request.
    pub async fn tell(&self, said: ServerNotification) {
        if let Some(session) = &self.session {
            let _ = session.messages.send(ServerMessage::Notification(Box::new(said))).await;
        }
    }

    /// Tells the server that the client has cancelled its request.
    pub fn cancel(&self) {
        self.cancelled.send_replace(true);
    }

    async fn cancelled(&self) {
        let _ = self.cancelled.subscribe().wait_for(|cancelled| *cancelled).await;
    }

    /// The client's answers to questions of this server, and the state that the server gave with them.
    fn input(&self, server: &str) -> (Option<InputResponses>, Option<String>) {
        let Rounds { given: ClientInput { responses, asking }, is_of_many, .. } = &*locked(&self.rounds);
        match asking {
            Some((asking, state)) if asking == server && !is_of_many => (responses.clone(), state.clone()),
            _ => (None, None),
        }
    }

    /// Takes the client's answers to a question of our own about a server, which has this state.
    pub fn take_own_input(&self, server: &str, state: &str) -> Option<InputResponses> {
        let given = &mut locked(&self.rounds).given;
        let asking = given.asking.as_ref().map(|(asking, state)| (asking.as_str(), state.as_deref()));
        let is_ours = asking == Some((server, Some(state)));
        is_ours.then(|| std::mem::take(given).responses.unwrap_or_default())
    }

    /// Whether the client has said that it opens addresses for its person.
    pub fn takes_addresses(&self) -> bool {
        self.elicitation().is_some_and(|elicitation| elicitation.url.is_some())
    }

    /// Whether the client has said that it asks its person questions.
    pub fn takes_questions(&self) -> bool {
        let is_form = |asks: ElicitationCapability| asks.form.is_some() || asks.url.is_none();
        self.elicitation().is_some_and(is_form)
    }

    fn elicitation(&self) -> Option<ElicitationCapability> {
        match &self.session {
            Some(session) => session.capabilities.elicitation.clone(),
            None => self.meta.client_capabilities()?.elicitation,
        }
    }

    /// Whether this is the first time that somebody wants to ask a client that asks no questions.
    pub fn is_first_without_questions(&self) -> bool {
        let is_first = |session: &Arc<ClientSession>| !session.is_told.swap(true, Relaxed);
        !self.takes_questions() && self.session.as_ref().is_none_or(is_first)
    }

    /// Whether a question may be asked before the call of a tool: no other call ran for this request.
    pub fn may_ask_first(&self) -> bool {
        let rounds = locked(&self.rounds);
        !rounds.is_of_many && rounds.calls == 0
    }

    /// Keeps the question of a server, as the answer to the client's request.
    pub fn require_input(&self, required: InputRequiredResult) {
        locked(&self.rounds).required = Some(required);
    }

    /// The question of a server, if it has one.
    pub fn take_required_input(&self) -> Option<InputRequiredResult> {
        locked(&self.rounds).required.take()
    }

    /// The client's metadata for a server of either protocol, without fields of the connection to the client.
    fn meta_for(&self, is_newer: bool) -> RequestMetaObject {
        let mut meta = RequestMetaObject::new();
        let kept = |key: &str| match key.strip_prefix(RESERVED) {
            Some(reserved) => is_newer && matches!(reserved, "clientCapabilities" | "logLevel"),
            None => key != "progressToken" && !key.starts_with(OURS),
        };
        let entries = self.meta.0.0.iter().filter(|(key, _)| kept(key));
        meta.0.0.extend(entries.map(|(key, value)| (key.clone(), value.clone())));
        meta
    }
}

/// The state of a server's question, as its client gets it: with the name of the server, which alone gets the answers.
pub fn bound(server: &str, state: Option<String>) -> String {
    serde_json::json!([server, state]).to_string()
}

/// Most rounds of questions for one request.
const MAX_ROUNDS: usize = 10;

/// Longest wait for a list.
const LONGEST_LISTING: Duration = Duration::from_secs(10);

/// Most entries of one list.
const MAX_LISTED: usize = 10_000;

/// A list of a server, and the milliseconds for which it holds, where the server says so.
pub struct ServerList<T> {
    /// The items of all pages.
    pub items: Vec<T>,
    /// The shortest time for which a client may keep a page, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// Whether a page is for one caller alone.
    pub is_private: bool,
}

impl<T> Default for ServerList<T> {
    fn default() -> Self {
        Self { items: Vec::new(), ttl_ms: None, is_private: false }
    }
}

impl<T> ServerList<T> {
    /// Holds the list no longer than one of its parts.
    pub fn limit_caching(&mut self, ttl_ms: Option<u64>, is_private: bool) {
        self.ttl_ms = self.ttl_ms.into_iter().chain(ttl_ms).min();
        self.is_private |= is_private;
    }

    /// The same list with other items in place of its own.
    pub fn map<U>(self, item: impl FnMut(T) -> Option<U>) -> ServerList<U> {
        let Self { items, ttl_ms, is_private } = self;
        ServerList { items: items.into_iter().filter_map(item).collect(), ttl_ms, is_private }
    }
}

/// Takes all pages of a list.
macro_rules! list_all {
    ($session:expr, $method:ident, $items:ident) => {{
        let mut list = ServerList::default();
        let listing = async {
            let mut cursor = None;
            loop {
                let params = rmcp::model::PaginatedRequestParams::default().with_cursor(cursor.take());
                let page = $session.peer.$method(Some(params)).await?;
                let is_private = page.cache_scope == Some(rmcp::model::CacheScope::Private);
                list.limit_caching(page.ttl_ms, is_private);
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
    pub fn capabilities(&self) -> ServerCapabilities {
        self.peer.peer_info().map(|info| info.capabilities.clone()).unwrap_or_default()
    }

    /// The name that the server gives itself.
    pub fn server_name(&self) -> Option<String> {
        let info = self.peer.peer_info()?;
        Some(info.server_info.as_ref()?.name.clone())
    }

    /// Whether the connection speaks the newer protocol.
    pub(crate) fn is_newer(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| !info.protocol_version.has_initialize())
    }

    /// Lists resources.
    pub async fn resources(&self) -> Result<ServerList<Resource>, ServiceError> {
        list_all!(self, list_resources, resources)
    }

    /// Lists templates of resources.
    pub async fn resource_templates(&self) -> Result<ServerList<ResourceTemplate>, ServiceError> {
        list_all!(self, list_resource_templates, resource_templates)
    }

    /// Lists prompts.
    pub async fn prompts(&self) -> Result<ServerList<Prompt>, ServiceError> {
        list_all!(self, list_prompts, prompts)
    }

    /// Sends a request of a client on. A request that is dropped before it is answered is cancelled, and one about which the
    /// server is silent for so long.
    async fn request(
        &self,
        mut request: ClientRequest,
        origin: Option<&Arc<RequestOrigin>>,
        longest_silence: Duration,
    ) -> Result<ServerResult, ServiceError> {
        let mut options = PeerRequestOptions::no_options();
        if let Some(origin) = origin {
            options.meta = Some(origin.meta_for(self.is_newer()));
            request.extensions_mut().insert(Arc::clone(origin));
        }
        if let Some((name, span)) = telemetry::current() {
            let meta = options.meta.get_or_insert_with(RequestMetaObject::new);
            meta.0.0.insert(name.into(), span.into());
        }
        let heard = Arc::<Heard>::default();
        request.extensions_mut().insert(Arc::clone(&heard));
        let _call = InProgress::start(&self.calls);
        let handle = self.peer.send_request_with_option(request, options).await?;
        let mut waiting = Waiting { peer: &self.peer, routes: &self.routes, id: Some(handle.id.clone()) };
        let answer = tokio::select! {
            answer = handle.await_response() => answer,
            () = cancelled(origin) => return Err(ServiceError::Cancelled { reason: None }),
            () = self.routes.silent(&heard, longest_silence) => {
                return Err(ServiceError::Timeout { timeout: longest_silence });
            }
        };
        waiting.id = None;
        self.answers.fetch_add(1, Relaxed);
        answer
    }

    /// Sends a request on that a server may answer with questions. A client of the older protocol is asked here; one of the
    /// newer protocol gets the questions as the answer.
    pub async fn request_with_input(
        &self,
        request: ClientRequest,
        origin: Option<&Arc<RequestOrigin>>,
        longest_silence: Duration,
    ) -> Result<ServerResult, ServiceError> {
        let (mut responses, mut state) = origin.map(|origin| origin.input(&self.name)).unwrap_or_default();
        for _ in 0..MAX_ROUNDS {
            let request = with_input(request.clone(), responses.take(), state.take());
            let answer = self.request(request, origin, longest_silence).await?;
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
    pub fn without_secrets_in<T: Serialize + DeserializeOwned>(&self, value: T) -> T {
        if self.secrets.is_empty() {
            return value;
        }
        let hidden = serde_json::to_value(&value).map(|value| self.secrets.hide_in(value));
        hidden.and_then(serde_json::from_value).unwrap_or(value)
    }

    /// The error of a request as the server gave it, without secrets; else the reason why there is no answer.
    pub fn request_error(&self, error: ServiceError) -> ErrorData {
        match error {
            ServiceError::McpError(mut error) => {
                error.message = self.secrets.line(&error.message).into();
                error.data = error.data.map(|data| self.secrets.hide_in(data));
                error
            }
            other => {
                let name = self.server_name().unwrap_or_default();
                let message = format!("the MCP server `{name}` does not answer: {}", explain(&other));
                ErrorData::internal_error(self.secrets.line(&message), None)
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
    let (given, given_state) = match &mut request {
        ClientRequest::CallToolRequest(request) => {
            (&mut request.params.input_responses, &mut request.params.request_state)
        }
        ClientRequest::GetPromptRequest(request) => {
            (&mut request.params.input_responses, &mut request.params.request_state)
        }
        ClientRequest::ReadResourceRequest(request) => {
            (&mut request.params.input_responses, &mut request.params.request_state)
        }
        _ => return request,
    };
    (*given, *given_state) = (responses, state);
    request
}

/// The answers of a client of the older protocol to the questions of a server on the newer one.
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
        responses.insert(name, serde_json::to_value(ask(origin, request).await?).unwrap_or_default());
    }
    Ok((Some(responses), question.request_state))
}

/// Asks the client of a request, on the older protocol.
pub async fn ask(origin: &RequestOrigin, request: ServerRequest) -> Result<ClientResult, ServiceError> {
    let answer = ask_client(&origin.messages, request).await.ok_or(ServiceError::TransportClosed)?;
    answer.map_err(ServiceError::McpError)
}

/// The answer of a client; `None` when the client is gone.
async fn ask_client(to_client: &ToClient, request: ServerRequest) -> Option<Result<ClientResult, ErrorData>> {
    let (answer, answered) = oneshot::channel();
    to_client.send(ServerMessage::Request(Box::new(request), answer)).await.ok()?;
    answered.await.ok()
}

async fn cancelled(origin: Option<&Arc<RequestOrigin>>) {
    match origin {
        Some(origin) => origin.cancelled().await,
        None => std::future::pending().await,
    }
}

/// A request without an answer so far. The server gets a cancellation when nobody waits any more.
struct Waiting<'s> {
    peer: &'s Peer<RoleClient>,
    routes: &'s RequestRoutes,
    id: Option<RequestId>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        self.routes.forget(&id);
        let peer = self.peer.clone();
        let cancelled = CancelledNotificationParam::new(Some(id), None);
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { peer.notify_cancelled(cancelled).await });
        }
    }
}

#[cfg(test)]
#[path = "tests/requests.rs"]
mod tests;

//! The request of a client that a request to a server is for: its metadata, the client's answers to earlier questions,
//! and the way back to the client.
#![expect(deprecated, reason = "the older wire has roots, sampling, log levels and subscriptions")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientResult, ErrorData, InputRequiredResult, InputResponses, LoggingLevel,
    RequestMetaObject, ServerNotification, ServerRequest,
};
use tokio::sync::{mpsc, oneshot, watch};

/// Most messages that wait for a client; further ones are dropped.
const MAX_WAITING: usize = 1_024;

/// The beginning of the keys in `_meta` that only the newer wire has.
const RESERVED: &str = "io.modelcontextprotocol/";

/// The beginning of our own keys in `_meta`.
const OURS: &str = "toolcrib/";

/// A message of a server for a client.
#[derive(Debug)]
pub(crate) enum ServerMessage {
    /// A notification.
    Notification(Box<ServerNotification>),
    /// A question, and the place for its answer.
    Request(Box<ServerRequest>, oneshot::Sender<Result<ClientResult, ErrorData>>),
}

/// The way of messages to a client.
pub(crate) type ToClient = mpsc::Sender<ServerMessage>;

/// The name of the caller of a request; empty where callers have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallerName(Arc<str>);

impl CallerName {
    /// The name of a caller.
    pub(crate) fn named(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }
}

/// A channel of messages to a client.
pub(crate) fn to_client() -> (ToClient, mpsc::Receiver<ServerMessage>) {
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
}

impl ClientSession {
    /// A session with a client of the older wire.
    pub(crate) fn new(capabilities: ClientCapabilities, messages: ToClient, is_only: bool) -> Self {
        Self { capabilities, messages, is_only, levels: watch::channel(None).0 }
    }

    /// Whether servers may ask the client anything.
    pub(crate) fn can_answer(&self) -> bool {
        let ClientCapabilities { elicitation, sampling, roots, .. } = &self.capabilities;
        elicitation.is_some() || sampling.is_some() || roots.is_some()
    }

    /// Whether all connections are for this client.
    pub(super) fn is_only(&self) -> bool {
        self.is_only
    }

    pub(super) fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    /// The way of messages that belong to no request.
    pub(super) fn messages(&self) -> &ToClient {
        &self.messages
    }

    /// Sets the level of log messages of its connections, also of those that open later.
    pub(crate) fn set_level(&self, level: LoggingLevel) {
        self.levels.send_replace(Some(level));
    }

    pub(super) fn levels(&self) -> watch::Receiver<Option<LoggingLevel>> {
        self.levels.subscribe()
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
    input: Mutex<Input>,
    session: Option<Arc<ClientSession>>,
    messages: ToClient,
    caller: CallerName,
    cancelled: watch::Sender<bool>,
    /// Number of calls of tools so far.
    calls: AtomicUsize,
    /// Whether no server may ask for input: the request runs several tools.
    is_of_many: AtomicBool,
}

/// A client's answers to a question of a server, on the newer wire.
#[derive(Debug, Default)]
pub struct ClientInput {
    responses: Option<InputResponses>,
    /// The server that asked, and the state that it gave.
    asking: Option<(String, Option<String>)>,
}

impl ClientInput {
    /// The input of a request; `None` if its state is not one that [`bound`] made.
    pub(crate) fn read(responses: Option<InputResponses>, state: Option<&str>) -> Option<Self> {
        let asking = state.map(serde_json::from_str).transpose().ok()?;
        Some(Self { responses, asking })
    }
}

/// Input that a server has asked for on the newer wire.
#[derive(Debug, Default)]
struct Input {
    given: ClientInput,
    /// The question of the server, for the client.
    required: Option<InputRequiredResult>,
}

impl PartialEq for RequestOrigin {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for RequestOrigin {}

impl RequestOrigin {
    /// A request with this metadata. Messages of servers go to `messages`.
    pub(crate) fn new(
        meta: RequestMetaObject,
        session: Option<Arc<ClientSession>>,
        messages: ToClient,
    ) -> Self {
        Self {
            meta,
            input: Mutex::default(),
            session,
            messages,
            caller: CallerName::default(),
            cancelled: watch::channel(false).0,
            calls: AtomicUsize::default(),
            is_of_many: AtomicBool::default(),
        }
    }

    /// The same request of this caller.
    pub(crate) fn of_caller(self, name: &Arc<str>) -> Self {
        Self { caller: CallerName::named(Arc::clone(name)), ..self }
    }

    pub(super) fn caller(&self) -> &CallerName {
        &self.caller
    }

    /// Lets no server ask for input: the request would be run again from its beginning, with tools that ran already.
    pub(crate) fn refuse_input(&self) {
        self.is_of_many.store(true, Relaxed);
    }

    /// Counts a call of a tool.
    pub(crate) fn begin_call(&self) {
        self.calls.fetch_add(1, Relaxed);
    }

    /// Whether the server of the latest call may ask for input: no other call ran for this request.
    pub(crate) fn may_require_input(&self) -> bool {
        !self.is_of_many.load(Relaxed) && self.calls.load(Relaxed) == 1
    }

    /// The same request with the client's answers to an earlier question of the server.
    pub(crate) fn with_input(self, given: ClientInput) -> Self {
        Self { input: Mutex::new(Input { given, required: None }), ..self }
    }

    /// No request at all, within a session.
    pub(crate) fn of_session(session: Option<Arc<ClientSession>>) -> Self {
        Self::new(RequestMetaObject::new(), session, to_client().0)
    }

    /// The session of the client, where servers can ask it.
    pub(crate) fn session(&self) -> Option<&Arc<ClientSession>> {
        self.session.as_ref()
    }

    /// Tells the client of a session something that belongs to no request.
    pub(crate) async fn tell(&self, said: ServerNotification) {
        if let Some(session) = &self.session {
            let _ = session.messages.send(ServerMessage::Notification(Box::new(said))).await;
        }
    }

    /// Tells the server that the client has cancelled its request.
    pub(crate) fn cancel(&self) {
        self.cancelled.send_replace(true);
    }

    pub(super) async fn cancelled(&self) {
        let _ = self.cancelled.subscribe().wait_for(|cancelled| *cancelled).await;
    }

    pub(super) fn messages(&self) -> &ToClient {
        &self.messages
    }

    /// The client's answers to questions of this server, and the state that the server gave with them.
    pub(super) fn input(&self, server: &str) -> (Option<InputResponses>, Option<String>) {
        let ClientInput { responses, asking } = &self.lock().given;
        match asking {
            Some((asking, state)) if asking == server && !self.is_of_many.load(Relaxed) => {
                (responses.clone(), state.clone())
            }
            _ => (None, None),
        }
    }

    /// Takes the client's answers to a question of our own about a server, which has this state.
    pub(crate) fn take_own_input(&self, server: &str, state: &str) -> Option<InputResponses> {
        let given = &mut self.lock().given;
        let asking = given.asking.as_ref().map(|(asking, state)| (asking.as_str(), state.as_deref()));
        let is_ours = asking == Some((server, Some(state)));
        is_ours.then(|| std::mem::take(given).responses.unwrap_or_default())
    }

    /// Whether the client has said that it opens addresses for its person.
    pub(crate) fn takes_addresses(&self) -> bool {
        let declared = match &self.session {
            Some(session) => Some(session.capabilities.clone()),
            None => self.meta.client_capabilities(),
        };
        declared.and_then(|client| client.elicitation).is_some_and(|elicitation| elicitation.url.is_some())
    }

    /// Keeps the question of a server, as the answer to the client's request.
    pub(crate) fn require_input(&self, required: InputRequiredResult) {
        self.lock().required = Some(required);
    }

    /// The question of a server, if it has one.
    pub(crate) fn take_required_input(&self) -> Option<InputRequiredResult> {
        self.lock().required.take()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Input> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client's metadata for a server of either wire, without fields of the connection to the client.
    pub(super) fn meta_for(&self, is_newer_wire: bool) -> RequestMetaObject {
        let mut meta = RequestMetaObject::new();
        let kept = |key: &str| match key.strip_prefix(RESERVED) {
            Some(reserved) => is_newer_wire && matches!(reserved, "clientCapabilities" | "logLevel"),
            None => key != "progressToken" && !key.starts_with(OURS),
        };
        let entries = self.meta.0.0.iter().filter(|(key, _)| kept(key));
        meta.0.0.extend(entries.map(|(key, value)| (key.clone(), value.clone())));
        meta
    }
}

/// The state of a server's question, as its client gets it: with the name of the server, which alone gets the answers.
pub(crate) fn bound(server: &str, state: Option<String>) -> String {
    serde_json::json!([server, state]).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered() -> RequestOrigin {
        let state = bound("sky", Some("state".into()));
        let input = ClientInput::read(Some(InputResponses::new()), Some(&state)).unwrap();
        RequestOrigin::new(RequestMetaObject::new(), None, to_client().0).with_input(input)
    }

    #[test]
    fn answers_of_a_client_go_to_the_server_that_asked_alone() {
        let origin = answered();
        assert_eq!(origin.input("sea"), (None, None));
        assert_eq!(origin.input("sky"), (Some(InputResponses::new()), Some("state".into())));
        for changed in ["", "state", "[]", "[\"sky\"]", "{}"] {
            assert!(ClientInput::read(None, Some(changed)).is_none(), "{changed}");
        }
    }

    #[test]
    fn a_call_after_another_does_not_ask() {
        let origin = answered();
        origin.begin_call();
        assert!(origin.may_require_input());
        // Asking would run the first call twice.
        origin.begin_call();
        assert!(!origin.may_require_input());
    }

    #[test]
    fn no_call_of_a_batch_asks_or_gets_answers() {
        let origin = answered();
        origin.refuse_input();
        origin.begin_call();
        assert_eq!(origin.input("sky"), (None, None));
        assert!(!origin.may_require_input());
    }
}

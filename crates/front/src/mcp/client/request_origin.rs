//! The request of a client behind one of ours: its metadata, its answers to earlier questions, and the way back to it.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use rmcp::model::{ElicitationCapability, ErrorData, InputResponses, RequestMetaObject, ServerNotification};
use rmcp::service::ServiceError;
use serde_json::Value;
use tokio::sync::watch;

use super::client_session::{ClientSession, ServerMessage, ToClient, ask_client, to_client};
use super::question::Question;
use toolcrib_definition::guard::locked;

/// The beginning of the keys in `_meta` that only the newer protocol has.
const RESERVED: &str = "io.modelcontextprotocol/";

/// The beginning of our own keys in `_meta`.
const OURS: &str = "toolcrib/";

/// The request of a client, as far as a server is concerned.
#[derive(Debug)]
pub struct RequestOrigin {
    meta: RequestMetaObject,
    session: Option<Arc<ClientSession>>,
    pub(super) messages: ToClient,
    /// The name of the caller; empty where callers have none.
    pub(super) caller: Arc<str>,
    rounds: Mutex<Rounds>,
    cancelled: watch::Sender<bool>,
}

/// The answers to questions of a server, and the state that it gave with them.
pub(in crate::mcp) type Answers = (Option<InputResponses>, Option<String>);

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
    /// The answer with the questions of the server, for the client.
    required: Option<Value>,
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
        let (caller, rounds, cancelled) = Default::default();
        Self { meta, session, messages, caller, rounds, cancelled }
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

    pub(in crate::mcp) async fn cancelled(&self) {
        let _ = self.cancelled.subscribe().wait_for(|cancelled| *cancelled).await;
    }

    /// The client's answers to questions of this server, and the state that the server gave with them.
    pub(in crate::mcp) fn input(&self, server: &str) -> Answers {
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
    pub fn require_input(&self, required: Value) {
        locked(&self.rounds).required = Some(required);
    }

    /// The question of a server, if it has one.
    pub fn take_required_input(&self) -> Option<Value> {
        locked(&self.rounds).required.take()
    }

    /// The client's metadata for a server of either protocol, without fields of the connection to the client.
    pub(in crate::mcp) fn meta_for(&self, is_newer: bool) -> RequestMetaObject {
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

/// Asks the client of a request, on the older protocol.
pub async fn ask(origin: &RequestOrigin, question: Question) -> Result<Value, ServiceError> {
    let answer = ask_client(&origin.messages, question).await.ok_or(ServiceError::TransportClosed)?;
    answer.map_err(ServiceError::McpError)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_answers() -> RequestOrigin {
        let state = bound("sky", Some("state".into()));
        let input = ClientInput::read(Some(&InputResponses::new()), Some(&state)).unwrap();
        RequestOrigin::new(RequestMetaObject::new(), None, to_client().0).with_input(input)
    }

    #[test]
    fn answers_of_a_client_go_to_the_server_that_asked_alone() {
        let origin = with_answers();
        assert_eq!(origin.input("sea"), (None, None));
        assert_eq!(origin.input("sky"), (Some(InputResponses::new()), Some("state".into())));
        for changed in ["", "state", "[]", "[\"sky\"]", "{}"] {
            assert!(ClientInput::read(None, Some(changed)).is_err(), "{changed}");
        }
    }

    #[test]
    fn a_call_after_another_does_not_ask() {
        let origin = with_answers();
        origin.begin_call();
        assert!(origin.may_require_input());
        // Asking would run the first call twice.
        origin.begin_call();
        assert!(!origin.may_require_input());
    }

    #[test]
    fn no_call_of_a_batch_asks_or_gets_answers() {
        let origin = with_answers();
        origin.refuse_input();
        origin.begin_call();
        assert_eq!(origin.input("sky"), (None, None));
        assert!(!origin.may_require_input());
    }
}

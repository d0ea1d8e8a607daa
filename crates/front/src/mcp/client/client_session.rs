//! A client that servers can ask, and the way of messages to it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rmcp::model::{ClientCapabilities, ErrorData, LoggingLevel, ServerNotification};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};

use super::question::Question;

/// Most messages that wait for a client; further ones are dropped.
const MAX_WAITING: usize = 1_024;

/// A message of a server for a client.
pub enum ServerMessage {
    Notification(Box<ServerNotification>),
    /// A question, and the place for its answer.
    Question(Question, oneshot::Sender<ClientAnswer>),
}

/// The answer of a client to a question.
type ClientAnswer = Result<Value, ErrorData>;

/// The way of messages to a client.
pub(crate) type ToClient = mpsc::Sender<ServerMessage>;

/// A channel of messages to a client.
pub fn to_client() -> (ToClient, mpsc::Receiver<ServerMessage>) {
    mpsc::channel(MAX_WAITING)
}

/// A session of a client that servers can ask. Such a client has connections of its own, which declare what it can.
#[derive(Debug)]
pub struct ClientSession {
    pub(super) capabilities: ClientCapabilities,
    pub(super) messages: ToClient,
    /// Whether this is the only client of the process, so that all connections are for it.
    pub(in crate::mcp) is_only: bool,
    pub(super) levels: watch::Sender<Option<LoggingLevel>>,
    /// Changed when its roots are.
    pub(super) roots: watch::Sender<()>,
    /// Whether its model was told that it asks no questions.
    pub(super) is_told: AtomicBool,
}

impl ClientSession {
    /// A session with a client of the older protocol.
    pub fn new(capabilities: ClientCapabilities, messages: ToClient, is_only: bool) -> Self {
        let (levels, roots, is_told) = Default::default();
        Self { capabilities, messages, is_only, levels, roots, is_told }
    }

    /// Whether servers may ask the client anything.
    pub fn can_answer(&self) -> bool {
        let ClientCapabilities { elicitation, sampling, roots, .. } = &self.capabilities;
        elicitation.is_some() || sampling.is_some() || roots.is_some()
    }

    /// Tells the servers of its connections that its roots have changed.
    pub fn roots_changed(&self) {
        self.roots.send_replace(());
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

/// The client of a connection, as soon as it is known.
pub(in crate::mcp) type CurrentClient = watch::Receiver<Option<Arc<ClientSession>>>;

/// Waits until there is a client like this.
pub(in crate::mcp) async fn until_client(client: &CurrentClient, is_like: impl Fn(&ClientSession) -> bool) {
    if client.clone().wait_for(|client| client.as_deref().is_some_and(&is_like)).await.is_err() {
        std::future::pending().await
    }
}

/// The answer of a client; `None` when the client is gone.
pub(super) async fn ask_client(to_client: &ToClient, question: Question) -> Option<ClientAnswer> {
    let (answer, answered) = oneshot::channel();
    to_client.send(ServerMessage::Question(question, answer)).await.ok()?;
    answered.await.ok()
}

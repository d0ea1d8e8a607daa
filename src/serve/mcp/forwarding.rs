//! Requests of a client that a live server answers: messages of the server reach the client while it waits.
#![expect(deprecated, reason = "the older wire has levels of log messages")]

use std::sync::Arc;

use rmcp::model::{
    ClientResult, InputResponses, LoggingLevel, ProgressToken, ServerNotification, ServerRequest,
};
use rmcp::service::{RequestContext, ServiceError};
use rmcp::{ErrorData, Peer, RoleServer};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::sources::mcp::{ClientInput, ClientSession, RequestOrigin, ServerMessage, to_client};

/// The input of a request, unless its client has changed the state.
pub(super) fn input(
    responses: Option<&InputResponses>,
    state: Option<&str>,
) -> Result<ClientInput, ErrorData> {
    ClientInput::read(responses.cloned(), state).ok_or_else(|| {
        let message =
            "VALIDATION_ERROR: `requestState` is not the one of the question; send it back unchanged";
        ErrorData::invalid_params(message, None)
    })
}

/// Does the work for a request, and passes on what servers say to its client.
pub(super) async fn forwarded<T>(
    context: &RequestContext<RoleServer>,
    (caller, session, level): (&Arc<str>, Option<&Arc<ClientSession>>, Option<LoggingLevel>),
    input: ClientInput,
    work: impl AsyncFnOnce(&Arc<RequestOrigin>) -> T,
) -> T {
    let (messages, mut received) = to_client();
    let mut meta = context.meta.clone();
    if let Some(level) = level {
        // A client of the older wire sets its level once.
        meta.set_log_level(level);
    }
    let origin = RequestOrigin::new(meta, session.cloned(), messages).of_caller(caller);
    let origin = Arc::new(origin.with_input(input));
    let (client, token) = (&context.peer, context.meta.get_progress_token());
    let mut work = std::pin::pin!(work(&origin));
    let mut questions = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            // Comes first: messages without end must not keep the work from its timeout.
            done = &mut work => {
                while let Ok(ServerMessage::Notification(notification)) = received.try_recv() {
                    notify(client, *notification, token.as_ref()).await;
                }
                return done;
            }
            Some(message) = received.recv() => match message {
                ServerMessage::Notification(notification) => notify(client, *notification, token.as_ref()).await,
                ServerMessage::Request(question, answer) => {
                    questions.spawn(ask(client.clone(), *question, answer));
                }
            },
        }
    }
}

/// Passes on messages that belong to no request, as long as there is somebody to send any.
pub(super) async fn forward_all(client: Peer<RoleServer>, mut received: mpsc::Receiver<ServerMessage>) {
    while let Some(message) = received.recv().await {
        match message {
            ServerMessage::Notification(notification) => notify(&client, *notification, None).await,
            ServerMessage::Request(question, answer) => {
                tokio::spawn(ask(client.clone(), *question, answer));
            }
        }
    }
}

/// Sends a notification to the client. Progress is for the token of the client's own request.
async fn notify(
    client: &Peer<RoleServer>,
    mut notification: ServerNotification,
    token: Option<&ProgressToken>,
) {
    if let ServerNotification::ProgressNotification(progress) = &mut notification {
        let Some(token) = token else { return };
        progress.params.progress_token = token.clone();
    }
    let _ = client.send_notification(notification).await;
}

/// Asks the client a question of a server.
async fn ask(
    client: Peer<RoleServer>,
    question: ServerRequest,
    answer: oneshot::Sender<Result<ClientResult, ErrorData>>,
) {
    let given = client.send_request(question).await.map_err(|error| match error {
        ServiceError::McpError(error) => error,
        other => ErrorData::internal_error(format!("the client does not answer: {other}"), None),
    });
    let _ = answer.send(given);
}

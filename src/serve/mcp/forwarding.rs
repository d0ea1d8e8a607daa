//! Requests of a client that a live server answers: messages of the server reach the client while it waits.
#![expect(deprecated, reason = "the older wire has levels of log messages")]

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use rmcp::model::{
    ClientResult, InputResponses, LoggingLevel, ProgressToken, ServerNotification, ServerRequest,
};
use rmcp::service::{RequestContext, ServiceError};
use rmcp::{ErrorData, Peer, RoleServer};
use tokio::sync::{mpsc, oneshot};

use crate::sources::mcp::{ClientSession, RequestOrigin, ServerMessage, to_client};

/// The client's answers to questions of a server, and the state that the server wants back.
pub(super) type GivenInput = (Option<InputResponses>, Option<String>);

/// Does the work for a request, and passes on what servers say to its client.
pub(super) async fn forwarded<T>(
    context: &RequestContext<RoleServer>,
    (session, level): (Option<&Arc<ClientSession>>, Option<LoggingLevel>),
    (responses, state): GivenInput,
    work: impl AsyncFnOnce(&Arc<RequestOrigin>) -> T,
) -> T {
    let (messages, mut received) = to_client();
    let mut meta = context.meta.clone();
    if let Some(level) = level {
        // A client of the older wire sets its level once.
        meta.set_log_level(level);
    }
    let origin = RequestOrigin::new(meta, session.cloned(), messages);
    let origin = Arc::new(origin.with_input(responses, state));
    let (client, token) = (&context.peer, context.meta.get_progress_token());
    let mut work = std::pin::pin!(work(&origin));
    let mut questions = Vec::new();
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
                ServerMessage::Request(question, answer) => questions.push(asking(client, *question, answer)),
            },
            () = answered(&mut questions) => {}
        }
    }
}

/// Passes on messages that belong to no request, as long as there is somebody to send any.
pub(super) async fn forward_all(client: Peer<RoleServer>, mut received: mpsc::Receiver<ServerMessage>) {
    while let Some(message) = received.recv().await {
        match message {
            ServerMessage::Notification(notification) => notify(&client, *notification, None).await,
            ServerMessage::Request(question, answer) => {
                let client = client.clone();
                tokio::spawn(async move { asking(&client, *question, answer).await });
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

type Question<'c> = Pin<Box<dyn Future<Output = ()> + Send + 'c>>;

/// Asks the client a question of a server.
fn asking(
    client: &Peer<RoleServer>,
    question: ServerRequest,
    answer: oneshot::Sender<Result<ClientResult, ErrorData>>,
) -> Question<'_> {
    Box::pin(async move {
        let given = client.send_request(question).await.map_err(|error| match error {
            ServiceError::McpError(error) => error,
            other => ErrorData::internal_error(format!("the client does not answer: {other}"), None),
        });
        let _ = answer.send(given);
    })
}

/// Waits for the answers to all questions; forever where there are none.
async fn answered(questions: &mut Vec<Question<'_>>) {
    std::future::poll_fn(|context| {
        questions.retain_mut(|question| question.as_mut().poll(context).is_pending());
        Poll::<()>::Pending
    })
    .await;
}

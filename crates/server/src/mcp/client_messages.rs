//! Messages of live servers, passed on to a client.

use rmcp::model::{
    CustomRequest, GetExtensions, ProgressToken, RequestId, ServerNotification, ServerRequest,
};
use rmcp::service::{OriginatingRequestId, RequestContext, ServiceError};
use rmcp::{ErrorData, Peer, RoleServer};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::requester::McpResult;
use toolcrib_front::mcp::{Question, ServerMessage, written};

/// Does the work for a request, and passes on the messages that it causes.
pub(super) async fn with_messages<T>(
    context: &RequestContext<RoleServer>,
    mut received: mpsc::Receiver<ServerMessage>,
    work: impl Future<Output = T>,
) -> T {
    let client = &context.peer;
    let token = context.meta.get_progress_token();
    let mut work = std::pin::pin!(work);
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
                ServerMessage::Question(question, answer) => {
                    questions.spawn(ask(client.clone(), Some(context.id.clone()), question, answer));
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
            ServerMessage::Question(question, answer) => {
                tokio::spawn(ask(client.clone(), None, question, answer));
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

/// Asks the client a question, on the stream of its own request where there is one.
async fn ask(
    client: Peer<RoleServer>,
    request: Option<RequestId>,
    Question { method, params }: Question,
    answer: oneshot::Sender<McpResult<Value>>,
) {
    let mut question = ServerRequest::CustomRequest(CustomRequest::new(method, Some(params)));
    if let Some(id) = request {
        question.extensions_mut().insert(OriginatingRequestId(id));
    }
    let given = client.send_request(question).await.map_err(|error| match error {
        ServiceError::McpError(error) => error,
        other => ErrorData::internal_error(format!("the client does not answer: {other}"), None),
    });
    let _ = answer.send(given.map(|given| written(serde_json::to_value(given).unwrap_or_default())));
}

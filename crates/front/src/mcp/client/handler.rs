//! Our end of a connection: what a server asks and announces.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    ClientConfig, ClientResult, ConstString, CustomResult, ErrorCode, ErrorData, GetExtensions,
    Implementation, ListRootsRequestMethod, ServerNotification, ServerRequest, SetLevelRequestParams,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, Peer, RequestContext, Service};
use serde_json::json;
use tokio::sync::{Semaphore, broadcast};

use super::super::as_written::method_of_question;
use super::client_session::{CurrentClient, ask_client};
use super::question::{Asker, MAX_QUESTIONS, Question};
use super::routes::RequestRoutes;

/// Most announcements that wait for a reader; a slower one gets the latest.
const MAX_ANNOUNCEMENTS: usize = 64;

/// Our handler of the connection.
pub(in crate::mcp) struct Handler {
    pub(in crate::mcp) routes: Arc<RequestRoutes>,
    /// Changes of resources and prompts.
    pub(in crate::mcp) announcements: broadcast::Sender<ServerNotification>,
    /// The server, for its questions.
    pub(in crate::mcp) asker: Asker,
    /// Places for its open questions.
    questions: Semaphore,
}

impl Handler {
    pub(in crate::mcp) fn new(client: CurrentClient) -> Self {
        let announcements = broadcast::channel(MAX_ANNOUNCEMENTS).0;
        let questions = Semaphore::new(MAX_QUESTIONS);
        let routes = Arc::new(RequestRoutes::new(client));
        Self { routes, announcements, asker: Asker::default(), questions }
    }
}

impl Service<RoleClient> for Handler {
    /// Asks the client of the request in progress. The client of the connection is asked for its roots at any time, and nothing
    /// else while it waits for no answer of the server.
    async fn handle_request(
        &self,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        let request = match request {
            ServerRequest::PingRequest(_) => return Ok(ClientResult::empty(())),
            ServerRequest::CustomRequest(request) => request,
            _ => return Err(unknown("")),
        };
        let may_ask = self.routes.declared.as_ref().is_some_and(|client| client.can_answer());
        let method = if may_ask { method_of_question(&request.method) } else { None };
        let client = self.routes.client.borrow().clone();
        let (Some(method), Some(client)) = (method, client) else { return Err(unknown(&request.method)) };
        let mut params = request.params.unwrap_or_else(|| json!({}));
        if !context.meta.0.0.is_empty() && params.is_object() {
            params["_meta"] = json!(context.meta);
        }
        let of = match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => Some(id),
            _ => None,
        };
        let to_client = match self.routes.to_client(of) {
            Some(to_client) => to_client,
            None if method == ListRootsRequestMethod::VALUE => client.messages.clone(),
            None => return Err(ErrorData::invalid_request("no call of this server is in progress", None)),
        };
        let Ok(_place) = self.questions.try_acquire() else {
            return Err(ErrorData::internal_error("too many questions of this server are open", None));
        };
        let question = self.asker.question(Question { method: method.to_string(), params })?;
        let gone = || Err(ErrorData::internal_error("the client is gone", None));
        tokio::select! {
            answer = ask_client(&to_client, question) => match answer {
                Some(answer) => answer.map(|answer| ClientResult::CustomResult(CustomResult(answer))),
                None => gone(),
            },
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
            ServerNotification::ToolListChangedNotification(_) => self.routes.changed.notify_one(),
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
        let capabilities = self.routes.declared.as_ref().map(|client| client.capabilities.clone());
        ClientConfig::new(capabilities.unwrap_or_default(), name)
    }
}

fn unknown(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method.to_string(), None)
}

/// Passes the level of log messages on to a connection, and changes of roots, whenever its client says so.
pub(in crate::mcp) async fn follow_client(peer: Peer<RoleClient>, mut client: CurrentClient) {
    let Some(info) = peer.peer_info().filter(|info| info.protocol_version.has_initialize()) else { return };
    let client = client.wait_for(Option::is_some).await.ok().and_then(|client| client.clone());
    let Some(client) = client else { return };
    let mut levels = client.levels.subscribe();
    let mut roots = client.roots.subscribe();
    drop(client);
    let levels = async {
        while info.capabilities.logging.is_some() && !peer.is_transport_closed() {
            let level = *levels.borrow_and_update();
            if let Some(level) = level {
                let _ = peer.set_level(SetLevelRequestParams::new(level)).await;
            }
            if levels.changed().await.is_err() {
                return;
            }
        }
    };
    let roots = async {
        while roots.changed().await.is_ok() && !peer.is_transport_closed() {
            let _ = peer.notify_roots_list_changed().await;
        }
    };
    tokio::join!(levels, roots);
}

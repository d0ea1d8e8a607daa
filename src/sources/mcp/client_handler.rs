//! Our side of a connection: questions of a server go to the client of its request, notifications to all who follow.
#![expect(deprecated, reason = "the older wire has roots, sampling, log levels and subscriptions")]

use std::sync::Arc;

use rmcp::model::{
    ClientConfig, ClientResult, ConstString, CreateMessageRequest, CreateMessageRequestMethod,
    CreateMessageRequestParams, CreateMessageResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationCreateRequestMethod, Implementation, ListRootsRequest, ListRootsRequestMethod,
    ListRootsResult, ResourceUpdatedNotification, ResourceUpdatedNotificationParam, ServerNotification,
    ServerRequest, SetLevelRequestParams,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, Peer, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use tokio::sync::{Notify, broadcast, oneshot};

use super::request_origin::{ClientSession, CurrentClient, ServerMessage};
use super::request_routes::RequestRoutes;

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

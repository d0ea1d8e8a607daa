//! Requests of clients, sent on: with their metadata, progress and cancellation, and rounds of questions.
#![expect(deprecated, reason = "the older wire has roots, sampling, log levels and subscriptions")]

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotificationParam, ClientRequest, ClientResult, ErrorData, GetExtensions, InputRequest,
    InputRequiredResult, InputResponses, ListRootsRequest, Prompt, RequestId, Resource, ResourceTemplate,
    ServerCapabilities, ServerRequest, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::endpoint::explain;
use super::request_origin::{RequestOrigin, ServerMessage, ToClient, bound};
use super::request_routes::RequestRoutes;
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

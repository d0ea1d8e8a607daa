//! Requests of clients, sent on to a server: in rounds where the server asks, and cancelled where nobody waits any more.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures_util::future::OptionFuture;
use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotificationParam, ClientRequest, ErrorData, GetExtensions, InputRequest, InputRequiredResult,
    InputResponses, ListRootsRequest, RequestId, RequestMetaObject, ServerRequest, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;

use super::client::{Answers, Asker, Heard, RequestOrigin, RequestRoutes, ask, bound};
use super::http::explain;
use super::session::Session;
use crate::telemetry;

/// Most rounds of questions for one request.
const MAX_ROUNDS: usize = 10;

impl Session {
    /// Sends a request, and waits for its answer. A request that is dropped before it ends is cancelled, and one about which the
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
        let _call = Arc::clone(&self.calls);
        let handle = self.peer.send_request_with_option(request, options).await?;
        let mut waiting = Waiting { peer: &self.peer, routes: &self.routes, id: Some(handle.id.clone()) };
        let cancelled = OptionFuture::from(origin.map(|origin| origin.cancelled()));
        let answer = tokio::select! {
            answer = handle.await_response() => answer,
            Some(()) = cancelled => return Err(ServiceError::Cancelled { reason: None }),
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
        let mut answers = origin.map(|origin| origin.input(&self.name)).unwrap_or_default();
        for _ in 0..MAX_ROUNDS {
            let request = with_input(request.clone(), answers);
            let answer = self.request(request, origin, longest_silence).await?;
            let ServerResult::InputRequiredResult(question) = answer else { return Ok(answer) };
            let asker = Asker { name: self.name.clone(), secrets: self.secrets.clone() };
            let mut question = asker.questions(question).map_err(ServiceError::McpError)?;
            let Some(origin) = origin.filter(|origin| origin.session().is_some()) else {
                question.request_state = Some(bound(&self.name, question.request_state));
                return Ok(ServerResult::InputRequiredResult(question));
            };
            answers = answered(origin, question).await?;
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
fn with_input(mut request: ClientRequest, answers: Answers) -> ClientRequest {
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
    (*given, *given_state) = answers;
    request
}

/// The answers of a client of the older protocol to the questions of a server on the newer one.
async fn answered(origin: &RequestOrigin, question: InputRequiredResult) -> Result<Answers, ServiceError> {
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

//! Requests of clients, sent on to a server: in rounds where the server asks, and cancelled where nobody waits any more.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures_util::future::OptionFuture;
use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotificationParam, ClientRequest, ErrorData, GetExtensions, InputResponses, RequestId,
    RequestMetaObject,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde_json::Value;
use tokio::runtime::Handle;

use super::as_written::written;
use super::client::{Answers, Asker, Heard, Question, RequestOrigin, RequestRoutes, ask, bound};
use super::http::explain;
use super::session::Session;
use crate::telemetry;

/// Most rounds of questions for one request.
const MAX_ROUNDS: usize = 10;

impl Session {
    /// Sends a request, and waits for its answer, as it was written. A request that is dropped before it ends is cancelled, and one
    /// about which the server is silent for so long.
    pub(super) async fn request(
        &self,
        mut request: ClientRequest,
        origin: Option<&Arc<RequestOrigin>>,
        longest_silence: Duration,
    ) -> Result<Value, ServiceError> {
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
        answer.map(|answer| written(serde_json::to_value(answer).unwrap_or_default()))
    }

    /// Sends a request on that a server may answer with questions. A client of the older protocol is asked here; one of the
    /// newer protocol gets the questions as the answer.
    pub async fn request_with_input(
        &self,
        request: ClientRequest,
        origin: Option<&Arc<RequestOrigin>>,
        longest_silence: Duration,
    ) -> Result<Value, ServiceError> {
        let mut answers = origin.map(|origin| origin.input(&self.name)).unwrap_or_default();
        for _ in 0..MAX_ROUNDS {
            let request = with_input(request.clone(), answers);
            let answer = self.request(request, origin, longest_silence).await?;
            if !asks_for_input(&answer) {
                return Ok(answer);
            }
            let asker = Asker { name: self.name.clone(), secrets: self.secrets.clone() };
            let mut question = asker.questions(answer).map_err(ServiceError::McpError)?;
            let Some(origin) = origin.filter(|origin| origin.session().is_some()) else {
                question["requestState"] = bound(&self.name, state_of(&question)).into();
                return Ok(question);
            };
            answers = answered(origin, question).await?;
        }
        Err(ServiceError::McpError(ErrorData::internal_error("the server asks without an end", None)))
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
async fn answered(origin: &RequestOrigin, mut question: Value) -> Result<Answers, ServiceError> {
    let mut responses = InputResponses::new();
    let requests = question.get_mut("inputRequests").and_then(Value::as_object_mut);
    for (name, request) in requests.into_iter().flatten() {
        if let Some(question) = Question::of(request) {
            responses.insert(name.clone(), ask(origin, question).await?);
        }
    }
    Ok((Some(responses), state_of(&question)))
}

/// Returns true if an answer asks the client for input.
pub fn asks_for_input(answer: &Value) -> bool {
    answer.get("resultType").is_some_and(|kind| kind == "input_required")
}

/// The state that a server gave with its questions.
fn state_of(question: &Value) -> Option<String> {
    question.get("requestState").and_then(Value::as_str).map(str::to_string)
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

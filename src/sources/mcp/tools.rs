//! Tools of a server: called, with calls without a result classified; listed, page by page within limits; and changes of
//! its lists and resources, in either version of the protocol.
#![expect(deprecated, reason = "the older wire has roots, sampling, log levels and subscriptions")]

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ErrorData, ListToolsRequest,
    PaginatedRequestParams, RequestOptionalParam, ServerNotification, ServerResult, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{ServiceError, Subscription};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

use super::RequestOrigin;
use super::endpoint::{Problem, explain};
use super::session::{Session, with_last_stderr};
use crate::credentials::SignInProblem;
use crate::sources::listings::Listing;

/// Wait for the last line on stderr of a server that has just died.
const STDERR_WAIT: Duration = Duration::from_millis(50);

/// Reason why a call has no result.
#[derive(Debug)]
pub(crate) enum McpCallError {
    /// The call did not reach the server.
    NotSent(String),
    /// The call reached the server, as far as is known, and the connection is gone.
    ConnectionLost(String),
    /// The server answered with a protocol error.
    ProtocolError(ErrorData),
    /// The server answered that the call failed.
    UnexpectedAnswer(String),
    /// The server refused the call for want of a token, and has not run it.
    SignIn(SignInProblem),
    /// The server's answer cannot be read.
    Unreadable(String),
}

impl Session {
    /// Calls a tool. A call that is dropped before it ends is cancelled.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        origin: Option<&Arc<RequestOrigin>>,
    ) -> Result<CallToolResult, McpCallError> {
        if self.is_closed() {
            return Err(McpCallError::NotSent(self.with_stderr("the connection is closed")));
        }
        let params = CallToolRequestParams::new(tool.to_string()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        if let Some(origin) = origin {
            origin.begin_call();
        }
        let answer = self.request_with_input(request, origin).await;
        match answer {
            Ok(ServerResult::CallToolResult(result)) => Ok(result),
            Ok(ServerResult::InputRequiredResult(question))
                if origin.is_some_and(|origin| origin.may_require_input()) =>
            {
                if let Some(origin) = origin {
                    origin.require_input(question);
                }
                Err(McpCallError::UnexpectedAnswer("it asks for input, which the client gives next".into()))
            }
            Ok(ServerResult::InputRequiredResult(_)) => Err(McpCallError::UnexpectedAnswer(
                "it asks for more than arguments, which cannot be given here".into(),
            )),
            Ok(_) => Err(McpCallError::Unreadable("the result is none of a tool".into())),
            Err(error) => Err(self.meaning(error).await),
        }
    }

    async fn meaning(&self, error: ServiceError) -> McpCallError {
        if let Some(problem) = self.signing.as_ref().and_then(|signing| signing.problem_of(&error)) {
            return McpCallError::SignIn(problem);
        }
        let what = explain(&error);
        match error {
            ServiceError::McpError(error) => McpCallError::ProtocolError(error),
            ServiceError::TransportClosed => {
                tokio::time::sleep(STDERR_WAIT).await;
                McpCallError::ConnectionLost(self.with_stderr("the connection is closed"))
            }
            ServiceError::TransportSend(error) => {
                match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
                    // A line that could not be written was not read by the server.
                    None | Some(StreamableHttpError::SessionExpired) => {
                        McpCallError::NotSent(self.with_stderr(&what))
                    }
                    Some(StreamableHttpError::Client(error)) if error.is_connect() => {
                        McpCallError::NotSent(self.with_stderr(&what))
                    }
                    // A gateway reports that the server behind it did not answer.
                    Some(StreamableHttpError::HttpStatus(reply)) if matches!(reply.status, 502 | 504) => {
                        McpCallError::ConnectionLost(self.with_stderr(&what))
                    }
                    Some(StreamableHttpError::HttpStatus(_) | StreamableHttpError::AuthRequired(_)) => {
                        McpCallError::UnexpectedAnswer(self.with_stderr(&what))
                    }
                    Some(_) => McpCallError::ConnectionLost(self.with_stderr(&what)),
                }
            }
            _ => McpCallError::Unreadable(self.with_stderr(&what)),
        }
    }
}

/// Limits of a server's list; above any real one.
const MAX_PAGES: usize = 500;
pub(super) const MAX_TOOLS: usize = 50_000;
pub(super) const MAX_BYTES: usize = 64 << 20;

/// A server's list, and the time for which it holds.
pub(super) struct FreshListing {
    pub(super) listing: Listing,
    pub(super) fresh_for: Option<Duration>,
}

impl Session {
    /// All tools, page by page.
    pub(super) async fn list(&self) -> Result<FreshListing, Problem> {
        let mut tools = Vec::new();
        let mut bytes = 0;
        let mut cursor = None;
        let mut cursors = HashSet::new();
        let mut holds = None;
        loop {
            let page = self.page(cursor.take()).await?;
            if let Some(problem) = self.twice.lock().unwrap_or_else(PoisonError::into_inner).take() {
                return Err(format!("in its answer {problem}").into());
            }
            let listed =
                page.get("tools").and_then(Value::as_array).ok_or("its answer is no list of tools")?;
            for tool in listed {
                let text = tool.to_string();
                bytes += text.len();
                tools.push(text);
            }
            if tools.len() > MAX_TOOLS || bytes > MAX_BYTES {
                return Err(format!("it lists more than {MAX_TOOLS} tools or {} MiB", MAX_BYTES >> 20).into());
            }
            let ttl = page.get("ttlMs").and_then(Value::as_u64).map(Duration::from_millis);
            holds = holds.into_iter().chain(ttl).min();
            match page.get("nextCursor").and_then(Value::as_str).filter(|cursor| !cursor.is_empty()) {
                None => break,
                Some(next) if cursors.len() == MAX_PAGES || !cursors.insert(next.to_string()) => {
                    return Err("its list has no end".into());
                }
                Some(next) => cursor = Some(next.to_string()),
            }
        }
        let info = self.peer().peer_info();
        let named = info.as_ref().and_then(|info| info.server_info.as_ref());
        let server = named.map(|named| named.name.clone());
        let title = named.and_then(|named| named.title.clone());
        let is_older = self.is_older;
        let text = format!("{{\"tools\": [\n{}\n]}}\n", tools.join(",\n"));
        Ok(FreshListing {
            listing: Listing {
                tools: Some(text.into()),
                count: tools.len(),
                server,
                title,
                is_older,
                problem: None,
            },
            fresh_for: holds,
        })
    }

    /// One page as the server wrote it; `sources` reports invalid tools later.
    async fn page(&self, cursor: Option<String>) -> Result<Value, Problem> {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request: ListToolsRequest = RequestOptionalParam::with_param(params);
        match self.peer().send_request(ClientRequest::ListToolsRequest(request)).await {
            Ok(result) => serde_json::to_value(result).map_err(|error| error.to_string().into()),
            Err(error) => Err(with_last_stderr(
                Problem::of(&error, self.signing.as_deref()),
                self.stderr.as_ref(),
                &self.secrets,
            )
            .await),
        }
    }
}

/// Longest wait for the end of a subscription.
const UNSUBSCRIBING: Duration = Duration::from_millis(250);

/// Ends a subscription, then the connection: a server answers its open requests before it ends.
pub(super) async fn end(session: &Session, subscription: &mut Option<Subscription>) {
    if let Some(mut subscription) = subscription.take() {
        let _ = timeout(UNSUBSCRIBING, subscription.cancel()).await;
    }
    session.close().await;
}

/// The changes of one server that somebody wants to know of.
pub(crate) struct Changes {
    session: Arc<Session>,
    wanted: SubscriptionFilter,
    source: Source,
}

enum Source {
    /// The notifications of a connection of the older wire, among them those that others wait for.
    Connection(Receiver<ServerNotification>),
    /// A subscription of the newer wire.
    Subscription(Box<Subscription>),
}

impl Changes {
    /// Follows the wanted changes that the server supports. Returns `None` if it supports none of the wanted kinds.
    pub(crate) async fn of(
        session: &Arc<Session>,
        wanted: &SubscriptionFilter,
    ) -> Result<Option<Self>, ServiceError> {
        let wanted = wanted.supported_by(&session.capabilities());
        if wanted == SubscriptionFilter::default() {
            return Ok(None);
        }
        let source = match session.is_newer_wire() {
            true => Source::Subscription(Box::new(session.peer().listen(wanted.clone()).await?)),
            false => {
                let receiver = session.announcements.subscribe();
                for uri in wanted.resource_subscriptions.iter().flatten() {
                    session.peer().subscribe(SubscribeRequestParams::new(uri)).await?;
                    *session.subscribers().entry(uri.clone()).or_default() += 1;
                }
                Source::Connection(receiver)
            }
        };
        Ok(Some(Self { session: Arc::clone(session), wanted, source }))
    }

    /// The next change; `None` when the connection has ended.
    pub(crate) async fn next(&mut self) -> Option<ServerNotification> {
        loop {
            let change = match &mut self.source {
                Source::Subscription(subscription) => return subscription.next().await.ok().flatten(),
                Source::Connection(receiver) => match receiver.recv().await {
                    Ok(change) => change,
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return None,
                },
            };
            if self.is_wanted(&change) {
                return Some(change);
            }
        }
    }

    fn is_wanted(&self, change: &ServerNotification) -> bool {
        match change {
            ServerNotification::ResourceListChangedNotification(_) => {
                self.wanted.resources_list_changed == Some(true)
            }
            ServerNotification::PromptListChangedNotification(_) => {
                self.wanted.prompts_list_changed == Some(true)
            }
            ServerNotification::ResourceUpdatedNotification(updated) => {
                let uris = self.wanted.resource_subscriptions.as_ref();
                uris.is_some_and(|uris| uris.contains(&updated.params.uri))
            }
            _ => false,
        }
    }

    /// The changes that may have happened before these were followed.
    pub(crate) fn missed(&self) -> Vec<ServerNotification> {
        let resources = || ServerNotification::ResourceListChangedNotification(Default::default());
        let prompts = || ServerNotification::PromptListChangedNotification(Default::default());
        let mut missed = Vec::new();
        missed.extend((self.wanted.resources_list_changed == Some(true)).then(resources));
        missed.extend((self.wanted.prompts_list_changed == Some(true)).then(prompts));
        missed
    }
}

/// On the older wire, the last follower of a resource ends the subscription.
impl Drop for Changes {
    fn drop(&mut self) {
        let Source::Connection(_) = self.source else { return };
        for uri in self.wanted.resource_subscriptions.iter().flatten() {
            let mut subscribers = self.session.subscribers();
            let Some(count) = subscribers.get_mut(uri) else { continue };
            *count -= 1;
            if *count > 0 {
                continue;
            }
            subscribers.remove(uri);
            let Ok(runtime) = Handle::try_current() else { continue };
            let (peer, params) = (self.session.peer().clone(), UnsubscribeRequestParams::new(uri));
            runtime.spawn(async move { peer.unsubscribe(params).await });
        }
    }
}

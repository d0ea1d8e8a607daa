//! Tools of other MCP servers: called by name, over a connection that stays open.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rmcp::model::{
    CallToolResult, ClientResult, CustomNotification, ElicitRequest, ElicitRequestParams, ElicitationAction,
    ErrorData, InputRequest, InputRequiredResult, ServerNotification, ServerRequest,
};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout_at};

use super::mcp_answer::{McpAnswer, value_of};
use super::{
    BackendError, BackendErrorKind, BackendRequest, BackendResponse, ErrorAnswer, bare, caller_token,
    mcp_server, not_configured,
};
use crate::config::{Config, Server};
use crate::credentials::{Credentials, OfferedSignIn, SignInProblem};
use crate::exec::Caller;
use crate::exec::results::is_longer_json;
use crate::sources::mcp::{
    Connections, Endpoint, EndpointUser, McpCallError, Problem, RequestOrigin, Session, ask, bound,
};
use crate::tool::Effect;

/// An MCP server, as a caller reaches it.
#[derive(Clone, Copy)]
struct CalledServer<'o> {
    name: &'o str,
    configured: &'o Server,
    caller: &'o Caller,
}

/// A call of a tool on another server.
#[derive(Clone, Copy)]
struct McpCall<'o> {
    server: CalledServer<'o>,
    call: BackendRequest<'o>,
    deadline: Instant,
}

/// Runs a call. One that did not reach its server is sent once more, over a new connection.
pub(super) async fn run(
    connections: &Connections,
    (server, tool): (&str, &str),
    call: BackendRequest<'_>,
    root: &Path,
) -> Result<BackendResponse, BackendError> {
    let configured = mcp_server(call.config, server).ok_or_else(|| not_configured(server, call.config))?;
    let server = CalledServer { name: bare(server), configured, caller: call.caller };
    let endpoint = server.endpoint(root)?;
    let limit = Instant::now() + call.timeout;
    let deadline = || limit.min(Instant::now() + endpoint.timeout);
    let mut person = Person::of(connections.credentials(), (server.name, configured), call.caller);
    person.answered(limit).await;
    let mut errand = McpCall { server, call, deadline: deadline() };
    let mut is_second = false;
    loop {
        let session = match server.session(connections, &endpoint, errand.deadline).await {
            Ok(session) => session,
            Err(error) if error.kind == BackendErrorKind::SignInRequired => {
                call.caller.origin.iter().for_each(|origin| origin.begin_call());
                if person.ask(limit).await != Asked::SignedIn {
                    return Err(error);
                }
                errand.deadline = deadline();
                continue;
            }
            Err(error) => return Err(error),
        };
        call.begun.mark();
        let origin = call.caller.origin.as_ref();
        let problem = match timeout_at(errand.deadline, session.call(tool, errand.arguments(), origin)).await
        {
            Ok(Ok(answer)) => return read_result(answer, server.name, configured.max_bytes, &session),
            Ok(Err(problem)) => problem,
            Err(_) => {
                session.doubt();
                return Err(errand.too_slow());
            }
        };
        if matches!(problem, McpCallError::SignIn(SignInProblem::SignIn { .. }))
            && person.ask(limit).await == Asked::SignedIn
        {
            errand.deadline = deadline();
            continue;
        }
        let may_repeat = match problem {
            McpCallError::NotSent(_) => true,
            McpCallError::ConnectionLost(_) => errand.is_repeatable(),
            McpCallError::ProtocolError(_)
            | McpCallError::UnexpectedAnswer(_)
            | McpCallError::SignIn(_)
            | McpCallError::Unreadable(_) => false,
        };
        if is_second || !may_repeat {
            return Err(errand.backend_error(problem, &session));
        }
        is_second = true;
    }
}

/// The connection to a live source, for a request that is no call.
pub(super) async fn live_session(
    connections: &Connections,
    (name, config): (&str, &Config),
    caller: &Caller,
    root: &Path,
) -> Result<Arc<Session>, BackendError> {
    let configured = mcp_server(config, name).ok_or_else(|| not_configured(name, config))?;
    let server = CalledServer { name: bare(name), configured, caller };
    let endpoint = server.endpoint(root)?;
    server.session(connections, &endpoint, Instant::now() + endpoint.timeout).await
}

/// Whether the sign-in of the operator is for this caller: one without a name of its own, or any where it is shared.
fn may_share(server: &Server, caller: &Caller) -> bool {
    caller.name.is_empty() || server.auth.as_ref().is_some_and(|auth| auth.shared)
}

impl CalledServer<'_> {
    /// The connection of its caller: its client's own one, where the server can ask that client, or the caller's own one,
    /// where the server is called with the caller's token.
    fn endpoint(&self, root: &Path) -> Result<Endpoint, BackendError> {
        let Self { name, configured, caller } = *self;
        let session = caller.session.as_ref().filter(|_| configured.per_session);
        let user = EndpointUser {
            token: caller_token((name, configured), caller)?,
            session: session.map(|session| format!("{}\n{session}", caller.name)),
            client: caller.origin.as_ref().and_then(|origin| origin.session()).cloned(),
            ..EndpointUser::default()
        };
        Ok(Endpoint::new(name, configured, root).for_call(user, &caller.headers)?)
    }

    /// The session with the server, unless its sign-in is for others.
    async fn session(
        &self,
        connections: &Connections,
        endpoint: &Endpoint,
        deadline: Instant,
    ) -> Result<Arc<Session>, BackendError> {
        match timeout_at(deadline, connections.session(endpoint)).await {
            Ok(Ok(session)) if session.is_personal() && !may_share(self.configured, self.caller) => {
                Err(self.no_token(&SignInProblem::NotShared))
            }
            Ok(Ok(session)) => Ok(session),
            Ok(Err(problem)) => Err(self.unreachable(&problem)),
            Err(_) => Err(self.unreachable(&endpoint.too_slow().into())),
        }
    }

    /// The error of a call that was not sent, since its server is away.
    fn unreachable(&self, problem: &Problem) -> BackendError {
        if let Some((_, missing)) = &problem.sign_in {
            return self.no_token(missing);
        }
        let message = format!("the MCP server `{}` cannot be reached: {}", self.name, problem.reason);
        let next = match (problem.advice(), problem.retry_after()) {
            (Some(advice), _) => format!("tell the user to {advice}"),
            (None, Some(left)) => format!(
                "try again in {} s, when the server is started again, or tell the user",
                left.as_secs() + 1
            ),
            (None, None) => "try again later, or tell the user".into(),
        };
        BackendError::new(BackendErrorKind::NotSent, message, next)
    }

    /// The error of a call for which there is no token. The sign-in of the operator is not asked for on behalf of others.
    fn no_token(&self, problem: &SignInProblem) -> BackendError {
        let is_asked_for = matches!(problem, SignInProblem::SignIn { .. });
        let is_for = !is_asked_for || may_share(self.configured, self.caller);
        BackendError::of_sign_in(self.name, if is_for { problem } else { &SignInProblem::NotShared })
    }
}

impl McpCall<'_> {
    fn arguments(&self) -> Map<String, Value> {
        self.call.arguments.as_object().cloned().unwrap_or_default()
    }

    /// Whether the call may be sent twice: its server or its author says that it changes nothing.
    fn is_repeatable(&self) -> bool {
        self.call.tool.definition.effect == Some(Effect::Read)
    }

    fn too_slow(&self) -> BackendError {
        let message = format!(
            "the MCP server `{}` did not answer in time, and was asked to stop; it may have run the call",
            self.server.name
        );
        BackendError::timed_out(message)
    }

    fn backend_error(&self, problem: McpCallError, session: &Session) -> BackendError {
        let server = self.server.name;
        match problem {
            McpCallError::NotSent(what) => self.server.unreachable(&what.into()),
            McpCallError::SignIn(problem) => self.server.no_token(&problem),
            McpCallError::ConnectionLost(what) => {
                let message =
                    format!("the MCP server `{server}` closed the connection during the call: {what}");
                BackendError::connection_lost(message)
            }
            McpCallError::Unreadable(what) => {
                let message = format!(
                    "the MCP server `{server}` answered with no valid result; it may have run the call: {what}"
                );
                BackendError::connection_lost(message)
            }
            McpCallError::ProtocolError(error) => refused_result(error, server, session),
            McpCallError::UnexpectedAnswer(what) => {
                let message = format!("the MCP server `{server}` has no result: {what}");
                BackendError::new(
                    BackendErrorKind::Failed,
                    message,
                    "tell the user; sending the call again changes nothing",
                )
            }
        }
    }
}

/// The call as a dry run shows it.
pub(super) fn preview(server: &str, tool: &str, call: BackendRequest<'_>) -> Result<Value, BackendError> {
    mcp_server(call.config, server).ok_or_else(|| not_configured(server, call.config))?;
    Ok(json!({ "backend": "mcp", "server": bare(server), "tool": tool, "arguments": call.redacted() }))
}

// The answer of a tool on another server: unchanged for the client, and as the value of an envelope.

/// Bytes of an error that are repeated in an envelope: a model reads it.
const MAX_EXCERPT: usize = 32 << 10;

fn read_result(
    answer: CallToolResult,
    server: &str,
    max_bytes: usize,
    session: &Session,
) -> Result<BackendResponse, BackendError> {
    let is_error = answer.is_error == Some(true);
    let mut original = serde_json::to_value(answer).unwrap_or_default();
    if let Some(fields) = original.as_object_mut() {
        // Each wire has its own.
        fields.shift_remove("resultType");
    }
    if is_error {
        return Err(error(session.secrets.hide_in(original), server, session, max_bytes));
    }
    let (original, warning) = session.secrets.hide_in_result(original);
    let is_too_long = is_longer_json(&original, max_bytes);
    let mut response = match value_of(&original) {
        content if is_too_long => within(content, max_bytes),
        content => BackendResponse::new(content),
    };
    response.warnings.extend(warning);
    response.original = (!is_too_long).then_some(McpAnswer::Result(original));
    Ok(response)
}

/// The error of a server that refuses a call.
fn refused_result(error: ErrorData, server: &str, session: &Session) -> BackendError {
    let message =
        format!("the MCP server `{server}` refuses the call: {}", session.secrets.line(&error.message));
    let next = "correct the call as the message says, or tell the user";
    let (code, data) = (error.code.0, error.data.map(|data| session.secrets.hide_in(data)));
    let original =
        McpAnswer::Error { code, message: session.secrets.hide(&error.message), data: data.clone() };
    let error = BackendError::new(BackendErrorKind::Failed, message, next);
    error.with_answer(ErrorAnswer::McpError { code, data }).with_original(original)
}

/// A value; of a text that is too long the beginning, and in place of anything else its size.
fn within(content: Value, max_bytes: usize) -> BackendResponse {
    let (content, warning) = match content {
        Value::String(text) if text.len() > max_bytes => {
            let warning = format!("the answer was cut: it is longer than {max_bytes} bytes");
            (text[..text.floor_char_boundary(max_bytes)].into(), Some(warning))
        }
        content if is_longer_json(&content, max_bytes) => {
            let warning =
                format!("the answer is left out: it is longer than {max_bytes} bytes; ask for less");
            (Value::Null, Some(warning))
        }
        content => (content, None),
    };
    BackendResponse { warnings: warning.into_iter().collect(), ..BackendResponse::new(content) }
}

/// The error of a result with `isError`.
fn error(original: Value, server: &str, session: &Session, max_bytes: usize) -> BackendError {
    let blocks = original.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> =
        blocks.filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str()).collect();
    let message = match session.secrets.line(&texts.join(" ")).as_str() {
        "" => format!("the tool of the MCP server `{server}` failed, and does not say why"),
        said => format!("the tool of the MCP server `{server}` failed: {said}"),
    };
    let next = "correct the arguments as the message says, or tell the user";
    let detail = match original.get("structuredContent") {
        Some(detail) => detail.to_string(),
        None => texts.join("\n"),
    };
    let error = BackendError::new(BackendErrorKind::Failed, message, next);
    let error = match &detail[..detail.floor_char_boundary(MAX_EXCERPT)] {
        "" => error,
        text => error.with_answer(ErrorAnswer::McpResult { body: text.to_string() }),
    };
    if is_longer_json(&original, max_bytes) {
        error
    } else {
        error.with_original(McpAnswer::Result(original))
    }
}

// A call that waits for a sign-in: its client is asked to open an address, and the call goes on afterwards.

/// The state of our question on the newer wire.
const STATE: &str = "toolcrib/sign-in";
/// The name of the question.
const QUESTION: &str = "sign-in";

/// The outcome of asking a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// Nobody can be asked, or the person has not signed in.
    No,
    /// The question is the answer to the client, which sends the call again.
    Question,
    /// The person has signed in.
    SignedIn,
}

/// The person behind one call of a server's tool.
struct Person<'c> {
    credentials: &'c Credentials,
    server: (&'c str, &'c Server),
    origin: Option<&'c Arc<RequestOrigin>>,
    /// Whether it was asked already.
    was_asked: bool,
}

impl<'c> Person<'c> {
    /// The person at the client of this caller, where the operator's sign-in is for it. Callers with a name of their own are
    /// elsewhere: the browser comes back to this machine.
    fn of(credentials: &'c Credentials, server: (&'c str, &'c Server), caller: &'c Caller) -> Self {
        let is_here = caller.name.is_empty() && may_share(server.1, caller);
        let origin = caller.origin.as_ref().filter(|_| is_here);
        Self { credentials, server, origin, was_asked: false }
    }

    /// Waits for a sign-in that an earlier answer to this call has asked for.
    async fn answered(&mut self, until: Instant) {
        let Some(responses) = self.origin.and_then(|origin| origin.take_own_input(self.server.0, STATE))
        else {
            return;
        };
        self.was_asked = true;
        let action = responses.get(QUESTION).and_then(|response| response.get("action"));
        if action.and_then(|action| action.as_str()) == Some("accept") {
            let _ = timeout_at(until, self.credentials.offered_sign_in_ended(self.server)).await;
        }
    }

    /// Asks the person to sign in.
    async fn ask(&mut self, until: Instant) -> Asked {
        let Some(origin) = self.origin.filter(|origin| origin.takes_addresses()) else { return Asked::No };
        if std::mem::replace(&mut self.was_asked, true) {
            return Asked::No;
        }
        let is_older = origin.session().is_some();
        if !is_older && !origin.may_require_input() {
            return Asked::No;
        }
        let Ok(Ok(offered)) = timeout_at(until, self.credentials.offer_sign_in(self.server)).await else {
            return Asked::No;
        };
        let (question, id) = (self.question(offered.address()), elicitation_id(offered.address()));
        if !is_older {
            let questions = BTreeMap::from([(QUESTION.to_string(), InputRequest::Elicitation(question))]);
            let state = bound(self.server.0, Some(STATE.into()));
            origin.require_input(InputRequiredResult::new(Some(questions), Some(state)));
            return Asked::Question;
        }
        tokio::spawn(tell_end(Arc::clone(origin), offered.clone(), id));
        let asked = timeout_at(until, ask(origin, ServerRequest::ElicitRequest(question))).await;
        let agrees = matches!(&asked, Ok(Ok(ClientResult::ElicitResult(result))) if result.action == ElicitationAction::Accept);
        match agrees && timeout_at(until, offered.ended()).await == Ok(true) {
            true => Asked::SignedIn,
            false => Asked::No,
        }
    }

    fn question(&self, address: &str) -> ElicitRequest {
        let message = format!("The server `{}` needs you to sign in. Open this address.", self.server.0);
        ElicitRequest::new(ElicitRequestParams::UrlElicitationParams {
            meta: None,
            message,
            url: address.into(),
            elicitation_id: elicitation_id(address),
        })
    }
}

/// The id of the question to open an address.
fn elicitation_id(address: &str) -> String {
    blake3::hash(address.as_bytes()).to_hex()[..32].into()
}

/// Tells the client of the older wire when its person has signed in, also after the call has ended.
async fn tell_end(origin: Arc<RequestOrigin>, offered: OfferedSignIn, id: String) {
    if offered.ended().await {
        let params = serde_json::json!({ "elicitationId": id });
        let end = CustomNotification::new("notifications/elicitation/complete", Some(params));
        origin.tell(ServerNotification::CustomNotification(end)).await;
    }
}

//! Tools of other MCP servers: called by name, over a connection that stays open. The answer of a server is kept unchanged for
//! clients that call the tool by name, next to the value for an envelope.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolResult, ClientResult, CustomNotification, ElicitRequest, ElicitRequestParams, ElicitationAction,
    ErrorData, InputRequest, InputRequiredResult, ServerNotification, ServerRequest,
};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::{
    BackendError, BackendErrorKind, BackendRequest, BackendResponse, bare, caller_token, mcp_server,
    not_configured, wait_for,
};
use crate::exec::Caller;
use crate::exec::results::{is_longer_json, length};
use toolcrib_catalog::config::{Config, Server};
use toolcrib_definition::Effect;
use toolcrib_definition::finding::from_others;
use toolcrib_front::credentials::{Credentials, OfferedSignIn, SignInProblem};
use toolcrib_front::long_work::apart;
use toolcrib_front::mcp::{
    Connections, Endpoint, EndpointUser, FilledSecrets, McpCallError, Problem, RequestOrigin, Session, ask,
    bound,
};

/// An MCP server, as a caller reaches it.
#[derive(Clone, Copy)]
struct CalledServer<'o> {
    name: &'o str,
    configured: &'o Server,
    caller: &'o Caller,
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
    let longest_silence = configured.longest_silence().unwrap_or(call.longest_silence);
    let mut person = Person::of(connections.credentials(), (server.name, configured), call.caller);
    person.answered().await;
    let arguments = || call.arguments.as_object().cloned().unwrap_or_default();
    // Its server or its author says that the call changes nothing.
    let is_repeatable = call.tool.definition.effect == Some(Effect::Read);
    let mut is_second = false;
    loop {
        let session = match server.session(connections, &endpoint).await {
            Ok(session) => session,
            Err(error) if error.kind == BackendErrorKind::SignInRequired => {
                call.caller.origin.iter().for_each(|origin| origin.begin_call());
                if person.ask(endpoint.timeout).await != Asked::SignedIn {
                    return Err(error);
                }
                continue;
            }
            Err(error) => return Err(error),
        };
        call.begun.mark();
        let origin = call.caller.origin.as_ref();
        let problem = match session.call(tool, arguments(), origin, longest_silence).await {
            Ok(answer) => {
                let max_bytes = configured.max_bytes;
                return apart(length(&answer), || read_result(answer, server.name, max_bytes, &session));
            }
            Err(problem) => problem,
        };
        if matches!(problem, McpCallError::SignIn(SignInProblem::SignIn { .. }))
            && person.ask(endpoint.timeout).await == Asked::SignedIn
        {
            continue;
        }
        let may_repeat = match problem {
            McpCallError::NotSent(_) => true,
            McpCallError::ConnectionLost(_) => is_repeatable,
            McpCallError::ProtocolError(_)
            | McpCallError::UnexpectedAnswer(_)
            | McpCallError::Silent
            | McpCallError::Busy(..)
            | McpCallError::SignIn(_)
            | McpCallError::Unreadable(_) => false,
        };
        if is_second || !may_repeat {
            return Err(server.backend_error(problem, &session));
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
    server.session(connections, &endpoint).await
}

/// Whether the sign-in of the operator is for this caller: one without a name, or any caller if the sign-in is shared.
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
    ) -> Result<Arc<Session>, BackendError> {
        match timeout(endpoint.timeout, connections.session(endpoint)).await {
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

    fn too_slow(&self) -> BackendError {
        let message = format!(
            "the MCP server `{}` did not answer in time, and was asked to stop; it may have run the call",
            self.name
        );
        BackendError::timed_out(message)
    }

    fn backend_error(&self, problem: McpCallError, session: &Session) -> BackendError {
        let server = self.name;
        match problem {
            McpCallError::NotSent(what) => self.unreachable(&what.into()),
            McpCallError::SignIn(problem) => self.no_token(&problem),
            McpCallError::Silent => self.too_slow(),
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
            McpCallError::Busy(what, retry_after_seconds) => {
                let message = format!("the MCP server `{server}` has had too many calls: {what}");
                let next = wait_for(retry_after_seconds);
                let error = BackendError::new(BackendErrorKind::Busy, message, next);
                BackendError { status: Some(429), retry_after_seconds, ..error }
            }
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

// The answer of a tool on another server.

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
        // Each version of MCP has its own.
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
    let code = error.code.0;
    let data = error.data.map(|data| session.secrets.hide_in(data));
    let original =
        McpAnswer::Error { code, message: session.secrets.hide(&error.message), data: data.clone() };
    let error = BackendError::new(BackendErrorKind::Failed, message, next);
    error.with_answer(json!({ "code": code, "data": data })).with_original(original)
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
        text => error.with_answer(json!({ "body": text })),
    };
    if is_longer_json(&original, max_bytes) {
        error
    } else {
        error.with_original(McpAnswer::Result(original))
    }
}

/// The unchanged answer of an MCP server, without secrets, for a client that calls the tool by name.
#[derive(Clone, Debug, PartialEq)]
pub enum McpAnswer {
    /// The result: `content`, and where the server sent them `structuredContent`, `isError` and `_meta`.
    Result(Value),
    /// The error of the protocol.
    Error {
        /// Its JSON-RPC code.
        code: i32,
        /// Its message.
        message: String,
        /// Its data.
        data: Option<Value>,
    },
}

/// A block with data in base64: a picture, a sound or the content of a resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataBlock<'a> {
    /// The index of the block in `content`.
    pub index: usize,
    /// `image`, `audio` or `resource`.
    pub kind: &'a str,
    /// The media type, where the server sent one.
    pub media_type: Option<&'a str>,
    /// The data, in base64.
    pub data: &'a str,
}

impl McpAnswer {
    /// The same answer without these secrets.
    pub(in crate::exec) fn without(self, secrets: &FilledSecrets) -> Self {
        match self {
            McpAnswer::Result(result) => McpAnswer::Result(secrets.hide_in(result)),
            McpAnswer::Error { code, message, data } => {
                let data = data.map(|data| secrets.hide_in(data));
                McpAnswer::Error { code, message: secrets.hide(&message), data }
            }
        }
    }

    /// The blocks of the result.
    pub fn blocks(&self) -> &[Value] {
        match self {
            McpAnswer::Result(result) => blocks(result),
            McpAnswer::Error { .. } => &[],
        }
    }

    /// The blocks that are no text.
    pub fn other_blocks(&self) -> impl Iterator<Item = &Value> {
        self.blocks().iter().filter(|block| text_of(block).is_none())
    }

    /// The structured content, where there is any.
    pub fn structured(&self) -> Option<&Value> {
        match self {
            McpAnswer::Result(result) => result.get("structuredContent"),
            McpAnswer::Error { .. } => None,
        }
    }

    /// Whether the texts say the structured content, which not every client shows. SDKs put a result that is no object into a
    /// field of one, and write a list as one text for each item.
    pub fn says_its_data(&self) -> bool {
        let Some(data) = self.structured() else { return true };
        let texts: Vec<&str> = self.blocks().iter().filter_map(text_of).collect();
        let is = |text: &str, value: &Value| {
            value.as_str() == Some(text)
                || from_others(text.as_bytes()).is_ok_and(|said: Value| said == *value)
        };
        let only =
            data.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.values().next());
        only.into_iter().chain([data]).any(|value| {
            let items = value.as_array().filter(|items| !items.is_empty() && items.len() == texts.len());
            texts.iter().any(|text| is(text, value))
                || items.is_some_and(|items| texts.iter().zip(items).all(|(text, item)| is(text, item)))
        })
    }

    /// Whether the server said whether the result is an error.
    pub fn says_is_error(&self) -> bool {
        matches!(self, McpAnswer::Result(result) if result.get("isError").is_some())
    }

    /// The blocks with data.
    pub fn data_blocks(&self) -> Vec<DataBlock<'_>> {
        data_blocks(self.blocks())
    }

    /// Type and size of the blocks with data, for the `meta` of an envelope.
    pub(in crate::exec) fn described_data(&self) -> Option<Value> {
        let described: Vec<Value> = self.data_blocks().iter().map(DataBlock::described).collect();
        (!described.is_empty()).then(|| described.into())
    }
}

impl DataBlock<'_> {
    /// Bytes of the decoded data.
    pub fn bytes(&self) -> usize {
        let padding = self.data.bytes().rev().take_while(|byte| *byte == b'=').count();
        (self.data.len() - padding) * 3 / 4
    }

    fn described(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("block".into(), self.index.into());
        fields.insert("type".into(), self.kind.into());
        fields.extend(self.media_type.map(|media| ("mimeType".to_string(), media.into())));
        fields.insert("bytes".into(), self.bytes().into());
        Value::Object(fields)
    }

    /// The words that stand for the data in a value.
    fn summary(&self) -> String {
        format!("[{}, {} bytes]", self.media_type.unwrap_or(self.kind), self.bytes())
    }
}

/// The value of a result: its structured content, else its JSON, else its text, else its blocks. Type and size stand in
/// place of data.
fn value_of(result: &Value) -> Value {
    let blocks = blocks(result);
    let data = data_blocks(blocks);
    match result.get("structuredContent") {
        Some(structured) if data.is_empty() => structured.clone(),
        Some(structured) => without_data(structured, &data),
        None => value_of_blocks(blocks, &data),
    }
}

fn value_of_blocks(blocks: &[Value], data: &[DataBlock<'_>]) -> Value {
    let texts: Option<Vec<&str>> = blocks.iter().map(text_of).collect();
    match texts.as_deref() {
        None => blocks.iter().map(|block| without_data(block, data)).collect(),
        Some([]) => Value::Null,
        Some([only]) => of_text(only),
        Some(several) => several.iter().copied().map(Value::from).collect(),
    }
}

/// A text, or the JSON object or list that it holds.
fn of_text(text: &str) -> Value {
    let may_be_json = text.trim_start().starts_with(['{', '[']);
    let json = may_be_json.then(|| from_others(text.as_bytes()).ok()).flatten();
    json.unwrap_or_else(|| text.into())
}

/// A value in which a summary stands for the data of each block.
fn without_data(value: &Value, data: &[DataBlock<'_>]) -> Value {
    match value {
        Value::String(text) => {
            let same = data.iter().find(|block| block.data == text);
            same.map_or_else(|| text.as_str().into(), |block| block.summary().into())
        }
        Value::Array(items) => items.iter().map(|item| without_data(item, data)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), without_data(field, data))).collect()
        }
        plain => plain.clone(),
    }
}

fn blocks(result: &Value) -> &[Value] {
    result.get("content").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The text of a block of text.
fn text_of(block: &Value) -> Option<&str> {
    let is_text = block.get("type").and_then(Value::as_str) == Some("text");
    block.get("text").and_then(Value::as_str).filter(|_| is_text)
}

fn data_blocks(blocks: &[Value]) -> Vec<DataBlock<'_>> {
    blocks.iter().enumerate().filter_map(|(index, block)| data_block(index, block)).collect()
}

fn data_block(index: usize, block: &Value) -> Option<DataBlock<'_>> {
    let kind = block.get("type")?.as_str()?;
    let (holder, data) = match kind {
        "image" | "audio" => (block, block.get("data")?),
        "resource" => (block.get("resource")?, block.get("resource")?.get("blob")?),
        _ => return None,
    };
    let media_type = holder.get("mimeType").and_then(Value::as_str);
    Some(DataBlock { index, kind, media_type, data: data.as_str()? })
}

// A call that waits for a sign-in: its client is asked to open an address, and the call goes on afterwards.

/// The state of our question in the newer version of MCP.
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
    async fn answered(&mut self) {
        let Some(responses) = self.origin.and_then(|origin| origin.take_own_input(self.server.0, STATE))
        else {
            return;
        };
        self.was_asked = true;
        let action = responses.get(QUESTION).and_then(|response| response.get("action"));
        if action.and_then(|action| action.as_str()) == Some("accept") {
            self.credentials.offered_sign_in_ended(self.server).await;
        }
    }

    /// Asks the person to sign in. The authorization server gets this time for its offer.
    pub async fn ask(&mut self, time: Duration) -> Asked {
        let Some(origin) = self.origin.filter(|origin| origin.takes_addresses()) else { return Asked::No };
        if std::mem::replace(&mut self.was_asked, true) {
            return Asked::No;
        }
        let is_older = origin.session().is_some();
        if !is_older && !origin.may_require_input() {
            return Asked::No;
        }
        let Ok(Ok(offered)) = timeout(time, self.credentials.offer_sign_in(self.server)).await else {
            return Asked::No;
        };
        let question = self.question(offered.address());
        let id = elicitation_id(offered.address());
        if !is_older {
            let questions = BTreeMap::from([(QUESTION.to_string(), InputRequest::Elicitation(question))]);
            let state = bound(self.server.0, Some(STATE.into()));
            origin.require_input(InputRequiredResult::new(Some(questions), Some(state)));
            return Asked::Question;
        }
        tokio::spawn(tell_end(Arc::clone(origin), offered.clone(), id));
        let asked = ask(origin, ServerRequest::ElicitRequest(question)).await;
        let agrees = matches!(&asked, Ok(ClientResult::ElicitResult(result)) if result.action == ElicitationAction::Accept);
        if agrees && offered.ended().await { Asked::SignedIn } else { Asked::No }
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

/// Tells the client of the older version of MCP when its person has signed in, also after the call has ended.
async fn tell_end(origin: Arc<RequestOrigin>, offered: OfferedSignIn, id: String) {
    if offered.ended().await {
        let params = serde_json::json!({ "elicitationId": id });
        let end = CustomNotification::new("notifications/elicitation/complete", Some(params));
        origin.tell(ServerNotification::CustomNotification(end)).await;
    }
}

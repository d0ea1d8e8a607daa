//! Answers each request with its catalog, its caller and its limits, and passes on what live servers say meanwhile.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, Implementation,
    ProtocolVersion, ResultType, SKILLS_EXTENSION_ID, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, Peer, RoleServer};
use serde_json::Value;
use tokio::sync::watch;

use super::client_messages::{forward_all, with_messages};
use super::connection::ClientConnection;
use super::instructions;
use super::introduction::introduced;
use super::requester::{McpResult, Requester};
use super::tools::{self, NotesBySession};
use super::upstreams;
use crate::call_limiter::CallLimiter;
use crate::{LiveCatalog, RequestCatalog};
use toolcrib_catalog::sources::Introduction;
use toolcrib_definition::guard::{MISTAKE, guarded, locked};
use toolcrib_front::mcp::{ClientInput, ClientSession, RequestOrigin, carrying, to_client};
use toolcrib_front::shares::Shares;
use toolcrib_front::telemetry::{self, Operation};
use toolcrib_gateway::exec::Caller;
use toolcrib_gateway::functions::Function;
use toolcrib_gateway::state::{Session, random_id};

/// Longest wait of a client that connects for the lists of new servers: clients give up after ten seconds or more.
pub(super) const PATIENCE: Duration = Duration::from_secs(4);

/// The same for a client that asks which versions there are: some start a program for this question alone, and then
/// another one for the session, so that they would wait twice.
pub(super) const PROBE_PATIENCE: Duration = Duration::from_millis(250);

/// Key of the session in the `_meta` of a request.
const SESSION: &str = "toolcrib/session";

/// The request with which a client of the older protocol begins, and says what servers may ask it.
pub(super) const INITIALIZE: &str = "initialize";

/// Most subscriptions of one connection.
const MAX_SUBSCRIPTIONS: usize = 64;

/// Answers MCP requests: those of one connection, or single requests, between which nothing is kept.
#[derive(Clone, Debug)]
pub struct McpService {
    pub(super) live: Arc<LiveCatalog>,
    /// Places for subscriptions.
    pub(super) permits: Arc<Shares>,
    /// The limiter of calls where the HTTP layer has none for them.
    limiter: Arc<CallLimiter>,
    /// The notes on calls that sessions have got.
    notes: Arc<NotesBySession>,
    /// `None` for single requests.
    pub(super) connection: Option<Arc<ClientConnection>>,
}

impl McpService {
    /// A handler for single requests, which share places for so many subscriptions.
    pub(super) fn stateless(live: Arc<LiveCatalog>, subscriptions: usize) -> Self {
        let snapshot = live.current();
        let limits = &snapshot.unrestricted_view().catalog().config.serve.limits;
        let limiter = Arc::new(CallLimiter::new(limits, Arc::clone(live.services())));
        let permits = Arc::new(Shares::new(subscriptions, subscriptions / 4));
        Self { live, permits, limiter, notes: Arc::default(), connection: None }
    }

    /// A handler for one connection over stdio.
    pub(super) fn connected(live: Arc<LiveCatalog>, ended: watch::Receiver<bool>) -> Self {
        let connection = ClientConnection {
            ended: Some(ended),
            session: Some(random_id("s").into()),
            ..ClientConnection::default()
        };
        Self { connection: Some(Arc::new(connection)), ..Self::stateless(live, MAX_SUBSCRIPTIONS) }
    }

    /// The same handler for a session over HTTP, which ends with it.
    pub(super) fn in_session(&self) -> Self {
        let (end, ended) = watch::channel(false);
        let connection =
            ClientConnection { ended: Some(ended), end: Some(end), ..ClientConnection::default() };
        Self {
            connection: Some(Arc::new(connection)),
            permits: Arc::new(Shares::new(MAX_SUBSCRIPTIONS, MAX_SUBSCRIPTIONS)),
            ..self.clone()
        }
    }

    /// The limiter of a call: the one of the HTTP layer, if the call comes from there.
    fn call_limiter<'g>(&'g self, context: &'g RequestContext<RoleServer>) -> &'g CallLimiter {
        let parts = context.extensions.get::<http::request::Parts>();
        parts.and_then(|parts| parts.extensions.get::<Arc<CallLimiter>>()).unwrap_or(&self.limiter)
    }

    /// The catalog and the caller of a request: as the HTTP layer has found them, else the current catalog, and the client
    /// that has started this process for its person.
    pub(super) fn requester(&self, context: &RequestContext<RoleServer>) -> Requester {
        let parts = context.extensions.get::<http::request::Parts>();
        let loaded = parts.and_then(|parts| parts.extensions.get::<RequestCatalog>()).cloned();
        let is_own_client = parts.is_none();
        loaded.unwrap_or_else(|| self.live.for_caller(Caller { is_own_client, ..Caller::default() }))
    }

    /// Does the work for a request, and passes on what live servers say to its client meanwhile. A panic is an error:
    /// without an answer the client would wait forever.
    pub(super) async fn answer<T>(
        &self,
        (method, tool): (&'static str, Option<&str>),
        context: &RequestContext<RoleServer>,
        input: ClientInput,
        work: impl AsyncFnOnce(Requester) -> McpResult<T>,
        is_error: fn(&T) -> bool,
    ) -> McpResult<T> {
        let connection = self.connection.as_deref();
        let (messages, received) = to_client();
        let mut meta = context.meta.clone();
        if let Some(level) = connection.and_then(|connection| *locked(&connection.level)) {
            // A client of the older protocol sets its level once.
            meta.set_log_level(level);
        }
        let client = connection.and_then(|connection| connection.client.get().cloned());
        let mut requester = self.requester(context);
        if method != INITIALIZE {
            requester.services().backends.begin();
        }
        let origin = RequestOrigin::new(meta, client, messages).of_caller(&requester.caller.name);
        let origin = Arc::new(origin.with_input(input));
        requester.caller.origin = Some(Arc::clone(&origin));
        // Only known names become labels of metrics.
        let tool = tool.filter(|tool| {
            Function::spelled(tool).is_some() || requester.view().catalog().named(tool).is_some()
        });
        let operation = Operation::mcp_request(method, tool, parent_of(context));
        let work = async {
            tokio::select! {
                // Boxed: rmcp's own future would hold this large one several times, on a stack of 2 MiB.
                answer = Box::pin(work(requester)) => answer,
                () = context.ct.cancelled() => {
                    // Over HTTP the client may be gone without a wish, and a write goes on in its own task.
                    if connection.is_some() {
                        origin.cancel();
                    }
                    Err(ErrorData::internal_error("the request was cancelled", None))
                }
            }
        };
        let error = |answer: &McpResult<T>| match answer {
            Ok(answer) => is_error(answer).then(|| "tool_error".into()),
            Err(error) => Some(error.code.0.to_string()),
        };
        operation.observe(answered(with_messages(context, received, work)), error).await
    }

    /// The same for a request in which the client gives no input.
    pub(super) async fn answer_plain<T>(
        &self,
        method: &'static str,
        context: &RequestContext<RoleServer>,
        work: impl AsyncFnOnce(Requester) -> McpResult<T>,
    ) -> McpResult<T> {
        self.answer((method, None), context, ClientInput::default(), work, |_| false).await
    }

    /// The request with the whole catalog, once the live servers have listed their tools, or have had this time for it.
    pub(super) async fn with_all_listed(&self, requester: Requester, patience: Duration) -> Requester {
        self.live.listed_within(patience).await;
        match &requester.snapshot.awaited {
            Some(_) => requester.for_session().now(requester.caller.clone()).unwrap_or(requester),
            None => requester,
        }
    }

    /// What a client gets when it connects: our name, what the servers say of themselves, and instructions for its model.
    pub(super) async fn greeting(&self, requester: Requester, patience: Duration) -> ServerConfig {
        let requester = self.with_all_listed(requester, patience).await;
        let sees_all = requester.caller.sees_everything();
        let awaited = if sees_all { requester.snapshot.awaited.as_ref() } else { None };
        let servers = upstreams::introductions(&requester);
        let words = |(name, said): &(String, Introduction)| Some((name.clone(), said.instructions.clone()?));
        let of_servers: Vec<_> = servers.iter().filter_map(words).collect();
        let view = requester.view();
        let instructions = instructions::instructions(view, requester.served.listing, awaited, &of_servers);
        let is_alone = view.catalog().config.sources.len() == 1;
        introduced(self.config().with_instructions(instructions), &servers, is_alone)
    }

    /// Runs the tool or function of a call.
    pub(super) async fn run_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> McpResult<CallToolResponse> {
        let input = ClientInput::read(request.input_responses.as_ref(), request.request_state.as_deref())?;
        let own_session = self.connection.as_ref().and_then(|connection| connection.session.clone());
        let name = request.name.clone();
        let call = async |requester: Requester| {
            let mut requester = self.with_all_listed(requester, PATIENCE).await;
            requester.caller.session = match context.meta.0.get(SESSION) {
                Some(id) => {
                    let invalid = |why| {
                        let message = format!("VALIDATION_ERROR: `_meta[\"{SESSION}\"]` does not fit: {why}");
                        ErrorData::invalid_params(message, None)
                    };
                    Some(Session::named(id.as_str().unwrap_or_default()).map_err(invalid)?)
                }
                None => requester.caller.session.or(own_session),
            };
            let origin = requester.caller.origin.clone();
            if Function::spelled(&request.name).is_some_and(Function::runs_several_tools) {
                origin.iter().for_each(|origin| origin.refuse_input());
            }
            let limits = (self.call_limiter(&context), &*self.notes);
            let answer = tools::call(&requester, limits, request, is_newer(&context)).await;
            match origin.and_then(|origin| origin.take_required_input()) {
                Some(question) => Ok(upstreams::asking(question).into()),
                None => answer.map(|mut written| {
                    if takes_links(&context) {
                        tools::link_rest(&mut written);
                    }
                    let mut result = CallToolResult::default();
                    result.result_type = Some(ResultType::COMPLETE);
                    result.is_error = written.get("isError").and_then(Value::as_bool);
                    result.meta = Some(carrying(written));
                    result.into()
                }),
            }
        };
        let is_error = |answer: &CallToolResponse| matches!(answer, CallToolResponse::Complete(result) if result.is_error == Some(true));
        self.answer(("tools/call", Some(&name)), &context, input, call, is_error).await
    }

    /// Begins a session of the older protocol. Over stdio all connections are for its client; over HTTP a client that
    /// servers can ask gets connections of its own.
    pub(super) fn begin_session(
        &self,
        capabilities: &ClientCapabilities,
        peer: &Peer<RoleServer>,
        requester: &Requester,
    ) {
        let Some(connection) = &self.connection else { return };
        let is_only = connection.end.is_none();
        let (messages, received) = to_client();
        let client = Arc::new(ClientSession::new(capabilities.clone(), messages, is_only));
        if (is_only || client.can_answer()) && connection.client.set(Arc::clone(&client)).is_ok() {
            tokio::spawn(forward_all(peer.clone(), received));
            if is_only {
                requester.services().backends.serve_client(&client);
            }
        }
        let caller = Caller { origin: None, ..requester.caller.clone() };
        let _ = connection.owner.set((requester.for_session(), caller));
    }

    /// Our name, and our capabilities together with those that a live server may have.
    pub(super) fn config(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_completions()
            // Without live servers there are no prompts; but clients ask for them, and every client accepts an empty list.
            .enable_prompts()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .build();
        let skills = [("directoryRead".to_string(), true.into())].into_iter().collect();
        capabilities.extensions = Some([(SKILLS_EXTENSION_ID.to_string(), skills)].into());
        if let Some(tools) = capabilities.tools.as_mut()
            && self.live.current().lists_tools()
        {
            tools.list_changed = Some(true);
        }
        if self.has_live_servers() {
            if let Some(prompts) = capabilities.prompts.as_mut() {
                prompts.list_changed = Some(true);
            }
            capabilities.logging = Some(Default::default());
        }
        let server = Implementation::new("toolcrib", env!("CARGO_PKG_VERSION"))
            .with_title("toolcrib")
            .with_description("Tool documentation, read when it is needed");
        ServerConfig::new(capabilities).with_server_info(server)
    }

    pub(super) fn has_live_servers(&self) -> bool {
        let snapshot = self.live.current();
        snapshot.unrestricted_view().catalog().config.live_sources().next().is_some()
    }
}

/// Whether a request is of the newer protocol.
pub(super) fn is_newer(context: &RequestContext<RoleServer>) -> bool {
    context.meta.protocol_version().is_some_and(|version| !version.has_initialize())
}

/// Whether the revision of a client has links in results: since 2025-06-18.
fn takes_links(context: &RequestContext<RoleServer>) -> bool {
    let is_later = |version: &ProtocolVersion| version.as_str() >= ProtocolVersion::V_2025_06_18.as_str();
    is_newer(context) || context.peer.peer_info().is_some_and(|client| is_later(&client.protocol_version))
}

/// The trace that a request belongs to, by its `_meta` or its header.
fn parent_of(context: &RequestContext<RoleServer>) -> Option<String> {
    let told = context.meta.0.get("traceparent").and_then(|told| told.as_str());
    let header = || telemetry::parent_of(&context.extensions.get::<http::request::Parts>()?.headers);
    told.map(str::to_string).or_else(header)
}

/// The answer of some work, also after a panic.
pub(super) async fn answered<T>(work: impl Future<Output = McpResult<T>>) -> McpResult<T> {
    let mistake = |_| Err(ErrorData::internal_error(format!("INTERNAL: {MISTAKE}"), None));
    guarded(work).await.unwrap_or_else(mistake)
}

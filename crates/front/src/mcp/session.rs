//! One open connection to a server, in either version of the protocol: opened and closed, its tools called and listed page
//! by page within limits, and changes of its lists and resources followed.
#![expect(deprecated, reason = "the older protocol has subscriptions to one resource")]

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ErrorData, ListToolsRequest,
    PaginatedRequestParams, ProtocolVersion, RequestOptionalParam, ServerNotification, ServerResult,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, RunningService, ServiceError,
    Subscription,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, broadcast, watch};
use tokio::time::timeout;

use super::endpoint::{Endpoint, Problem};
use super::http::{self, HttpError, Signing, explain, http_error};
use super::message::{ListNotes, is_unreadable, readable, unreadable};
use super::requests::{
    Client, ClientSession, CurrentClient, RequestOrigin, RequestRoutes, RoutedTransport, follow_level,
};
use super::secrets::FilledSecrets;
use super::stdio::{Line, LineCheck, Log, Process, Stderr};
use crate::credentials::{Credentials, SignInProblem};
use crate::telemetry::Operation;
use toolcrib_catalog::sources::listings::Listing;
use toolcrib_definition::guard::locked;

/// The longest line that the SDK reads.
const MAX_LINE: usize = 16 << 20;
/// Longest wait for a connection to close by itself.
const CLOSING: Duration = Duration::from_secs(1);
/// Longest wait for the end of a subscription.
const UNSUBSCRIBING: Duration = Duration::from_millis(250);

/// A connection that is open, shared by all that use its server.
pub struct Session {
    /// The name of the server, as its operator has it.
    pub(super) name: String,
    /// The connection itself, for requests of every kind.
    pub(super) peer: Peer<RoleClient>,
    /// The client whose capabilities were declared.
    declared: Option<Arc<ClientSession>>,
    /// The connection with its process, until it is closed.
    open: tokio::sync::Mutex<Option<Open>>,
    stderr: Option<Stderr>,
    /// The secrets that were filled in, to be redacted in what the server says.
    pub secrets: FilledSecrets,
    /// Calls in progress.
    pub(super) calls: AtomicUsize,
    /// Answers to calls so far.
    pub(super) answers: AtomicUsize,
    /// Whether the server is known to speak the older protocol alone.
    is_older: bool,
    changed: Arc<Notify>,
    /// Whether another session takes its place.
    replaced: watch::Sender<bool>,
    /// Changes of resources and prompts; the handler of the connection has the sender, so that it closes with that.
    announcements: broadcast::WeakSender<ServerNotification>,
    pub(super) routes: Arc<RequestRoutes>,
    /// The tokens of a connection over HTTP.
    signing: Option<Arc<Signing>>,
    /// The subscription to changes of the list of tools, on the newer protocol.
    subscription: tokio::sync::Mutex<Option<Subscription>>,
    /// The followers of each resource: the older protocol has one subscription for all of them.
    subscribers: Mutex<HashMap<String, usize>>,
    /// Mistakes in its list of tools that was read last.
    notes: ListNotes,
}

type Open = (RunningService<RoleClient, Client>, Option<Process>);

/// Facts that a server gives about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFacts {
    /// The version of the protocol.
    pub protocol: String,
    /// The server's own name.
    pub name: String,
    /// The server's own version.
    pub version: String,
}

impl Session {
    /// Opens a connection for this client, where there is one, or for all. A server that is known to speak the older
    /// protocol is not asked for the newer one: a slow one would answer both questions at once.
    pub(super) async fn open(
        endpoint: &Endpoint,
        credentials: &Arc<Credentials>,
        client: &CurrentClient,
        is_older: bool,
    ) -> Result<Self, Problem> {
        let newest = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        };
        let older = ClientLifecycleMode::Initialize;
        let mut secrets = FilledSecrets::default();
        // A client that servers may ask has the older protocol, and so have its connections.
        let asks_older = is_older || client.borrow().is_some();
        let (first, other) = if asks_older { (older.clone(), newest) } else { (newest, older.clone()) };
        let begun = Self::begin(endpoint, credentials, client, &mut secrets, first).await;
        let second = match &begun {
            // The server speaks the newer protocol only.
            Err(ConnectError { is_other: true, .. }) if asks_older => Some(other),
            // The server speaks the older protocol only: it says so, or started so slowly that its answers to the
            // probe and to the older handshake cross.
            Err(ConnectError { is_older: true, .. }) => Some(older),
            _ => None,
        };
        let begun = match second {
            Some(mode) => Self::begin(endpoint, credentials, client, &mut secrets, mode).await,
            None => begun,
        };
        let mut session = begun.map_err(|error| error.problem)?;
        session.is_older = is_older || (!asks_older && !session.is_newer());
        Ok(session)
    }

    async fn begin(
        endpoint: &Endpoint,
        credentials: &Arc<Credentials>,
        current: &CurrentClient,
        secrets: &mut FilledSecrets,
        mode: ClientLifecycleMode,
    ) -> Result<Self, ConnectError> {
        let environment = credentials.environment();
        let notes = ListNotes::default();
        let client = Client::new(current.clone());
        let declared = client.declared.clone();
        let changed = client.changed.clone();
        let announcements = client.announcements.downgrade();
        let routes = Arc::clone(&client.routes);
        let mut signing = None;
        let mut process = None;
        let service = match &endpoint.server.url {
            Some(url) => {
                let filled =
                    secrets.fill_texts(std::slice::from_ref(url), environment).map_err(Problem::from)?;
                let url = filled.first().unwrap_or(url);
                let tokens = Arc::new(Signing::new(endpoint, credentials, secrets));
                let headers = endpoint.headers(environment, secrets)?;
                let inner = http::transport(url, headers, endpoint, &tokens, &notes)?;
                signing = Some(tokens);
                let transport = RoutedTransport::new(inner, &routes);
                client.serve_with_lifecycle(transport, mode).await
            }
            None => {
                let (started, stdout, stdin) = Process::start(endpoint, environment, secrets)?;
                process = Some(started);
                let mut lines = Lines {
                    notes: Arc::clone(&notes),
                    routes: Arc::clone(&routes),
                    log: Log::new(&endpoint.name, secrets),
                    noise: 0,
                };
                let stdout = LineCheck::new(stdout, MAX_LINE, move |line| lines.read(line));
                let inner = AsyncRwTransport::new_client(stdout, stdin);
                let transport = RoutedTransport::new(inner, &routes);
                client.serve_with_lifecycle(transport, mode).await
            }
        };
        let stderr = process.as_ref().map(|process| process.stderr.clone());
        let service = match service {
            Ok(service) => service,
            Err(error) => {
                let problem =
                    routes.end().map_or_else(|| Problem::of(&error, signing.as_deref()), Problem::from);
                let problem = with_last_stderr(problem, stderr.as_ref(), secrets).await;
                return Err(ConnectError::of(&error, problem, process.is_none()));
            }
        };
        tokio::spawn(follow_level(service.peer().clone(), current.clone()));
        Ok(Self {
            name: endpoint.name.clone(),
            peer: service.peer().clone(),
            declared,
            open: tokio::sync::Mutex::new(Some((service, process))),
            stderr,
            secrets: secrets.clone(),
            calls: AtomicUsize::default(),
            answers: AtomicUsize::default(),
            is_older: false,
            changed,
            replaced: watch::Sender::default(),
            announcements,
            routes,
            signing,
            subscription: tokio::sync::Mutex::default(),
            subscribers: Mutex::default(),
            notes,
        })
    }

    /// Subscribes to changes of the list of tools within this time, where the protocol needs that.
    pub(super) async fn subscribe(&self, patience: Duration) {
        let Some(info) = self.peer.peer_info() else { return };
        let filter =
            SubscriptionFilter::builder().tools_list_changed().build().supported_by(&info.capabilities);
        let mut subscription = self.subscription.lock().await;
        if subscription.is_none()
            && !info.protocol_version.has_initialize()
            && filter.tools_list_changed.is_some()
        {
            *subscription = timeout(patience, self.peer.listen(filter)).await.ok().and_then(Result::ok);
        }
    }

    /// Has the server listed again: it did not answer a call in time, and may be dead.
    fn doubt(&self) {
        self.changed.notify_one();
    }

    /// Waits until the list of tools may be another one: the server says so, it is in doubt, or its subscription has ended.
    pub(super) async fn changed(&self) {
        let subscribed = async {
            let mut subscription = self.subscription.lock().await;
            let Some(changes) = subscription.as_mut() else { return std::future::pending().await };
            if changes.next().await.ok().flatten().is_none() {
                *subscription = None;
            }
        };
        tokio::select! {
            () = subscribed => {}
            () = self.changed.notified() => {}
        }
    }

    /// Facts that the server gave about itself when it was connected, each on one line.
    pub(super) fn facts(&self) -> SessionFacts {
        let Some(info) = self.peer.peer_info() else { return SessionFacts::default() };
        let server = info.server_info.as_ref();
        SessionFacts {
            protocol: self.secrets.line(info.protocol_version.as_str()),
            name: server.map(|server| self.secrets.line(&server.name)).unwrap_or_default(),
            version: server.map(|server| self.secrets.line(&server.version)).unwrap_or_default(),
        }
    }

    /// Whether the connection has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// Reason why the connection ended, as far as the server gave one.
    pub(super) async fn end_message(&self) -> Problem {
        let reason = self.routes.end().unwrap_or("the connection is closed");
        with_last_stderr(reason.into(), self.stderr.as_ref(), &self.secrets).await
    }

    /// Whether the connection carries the sign-in of the operator.
    pub fn is_personal(&self) -> bool {
        self.signing.as_ref().is_some_and(|signing| signing.is_personal())
    }

    /// Whether the operator has signed in or out since the connection began.
    pub(super) fn is_outdated(&self) -> bool {
        self.signing.as_ref().is_some_and(|signing| signing.is_outdated())
    }

    /// Has another session take its place.
    pub(super) fn replace(&self) {
        self.replaced.send_replace(true);
    }

    /// Whether it is open, and no other session takes its place.
    pub(super) fn is_usable(&self) -> bool {
        !self.is_closed() && !*self.replaced.borrow()
    }

    /// Waits until another session takes its place.
    pub(super) async fn until_replaced(&self) {
        let _ = self.replaced.subscribe().wait_for(|replaced| *replaced).await;
    }

    /// Whether the connection can stay for this client: it was opened for it, or the client has nothing to declare.
    pub(super) fn suits(&self, client: &ClientSession) -> bool {
        !client.can_answer() || self.declared.as_deref().is_some_and(|declared| declared == client)
    }

    /// Whether a call is in progress.
    pub(super) fn is_busy(&self) -> bool {
        self.calls.load(Relaxed) > 0
    }

    /// A message with the last line of a command's stderr, with secrets redacted.
    fn with_stderr(&self, what: &str) -> String {
        let words = self.stderr.as_ref().map(Stderr::last_line).unwrap_or_default();
        self.secrets.line(&with_words(what, &words))
    }

    /// Closes the connection, and ends the process. A server answers its open requests before it ends, and so its
    /// subscription ends first. Calls in progress are lost.
    pub(super) async fn close(&self) {
        if let Some(mut subscription) = self.subscription.lock().await.take() {
            let _ = timeout(UNSUBSCRIBING, subscription.cancel()).await;
        }
        let Some((mut service, process)) = self.open.lock().await.take() else { return };
        let _ = service.close_with_timeout(CLOSING).await;
        if let Some(process) = process {
            process.end().await;
        }
    }
}

/// Most bytes of noise on stdout between two messages.
const MAX_NOISE: usize = 4 << 20;

/// The lines of a server on stdout. What is no message goes to the log.
struct Lines {
    notes: ListNotes,
    routes: Arc<RequestRoutes>,
    log: Log,
    /// Bytes since the last message.
    noise: usize,
}

impl Lines {
    /// A line as the SDK reads it; `None` ends the connection.
    fn read(&mut self, line: Line) -> Option<Vec<u8>> {
        let message = match line {
            Line::Whole(line) => {
                let read = readable(&line, None, &self.notes).or_else(|| self.nameless(&line));
                let read = read.map(|text| text.trim_end().to_string());
                if read.is_none() {
                    self.log.write(String::from_utf8_lossy(&line).trim());
                    self.noise += line.len();
                }
                read
            }
            Line::TooLong(scanner) => {
                self.noise += MAX_LINE;
                let why = format!("it is longer than {} MiB", MAX_LINE >> 20);
                scanner.answered().map(|id| unreadable(id, &why))
            }
            Line::Endless => {
                self.noise = usize::MAX;
                None
            }
        };
        if let Some(message) = message {
            self.noise = 0;
            return Some((message + "\n").into_bytes());
        }
        if self.noise > MAX_NOISE {
            self.routes
                .end_for(format!("it wrote over {} MiB to stdout that are no message", MAX_NOISE >> 20));
            return None;
        }
        Some(Vec::new())
    }

    /// An answer without a readable id, such as one that was cut off: it is for the request that waits, if there is one only.
    fn nameless<'t>(&self, line: &'t [u8]) -> Option<Cow<'t, str>> {
        let has = |key: &str| line.windows(key.len()).any(|bytes| bytes == key.as_bytes());
        if !line.trim_ascii_start().starts_with(b"{") || !has("\"jsonrpc\"") || has("\"method\"") {
            return None;
        }
        let id = serde_json::to_value(self.routes.only_unanswered()?).ok()?;
        readable(line, Some(&id), &self.notes)
    }
}

/// Counts one more for as long as it lives.
pub(super) struct InProgress<'c>(&'c AtomicUsize);

impl<'c> InProgress<'c> {
    pub(super) fn start(count: &'c AtomicUsize) -> Self {
        count.fetch_add(1, Relaxed);
        Self(count)
    }
}

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Reason why a session did not begin.
struct ConnectError {
    problem: Problem,
    /// Whether the reason is that the server speaks other versions of the protocol.
    is_older: bool,
    /// Whether it answered, so that it may speak another version.
    is_other: bool,
}

impl ConnectError {
    fn of(error: &ClientInitializeError, problem: Problem, is_http: bool) -> Self {
        let is_older = match error {
            ClientInitializeError::NoCompatibleProtocolVersion { .. }
            | ClientInitializeError::UncorrelatedErrorResponse { .. }
            | ClientInitializeError::ConflictInitResponseId(..) => true,
            // Some servers end at a first message that they do not know; the SDK names the message only in its text.
            ClientInitializeError::ConnectionClosed(at) => at.contains("discover"),
            _ => false,
        };
        let has_answered = match error {
            ClientInitializeError::JsonRpcError(_) | ClientInitializeError::ExpectedInitResult(_) => true,
            // Over HTTP an answer may be a status.
            ClientInitializeError::TransportError { .. } => is_http,
            _ => is_older,
        };
        let is_refused = problem.wants_token || problem.sign_in.is_some();
        Self { problem, is_older, is_other: has_answered && !is_refused }
    }
}

impl From<Problem> for ConnectError {
    fn from(problem: Problem) -> Self {
        Self { problem, is_older: false, is_other: false }
    }
}

/// The reason with a command's last line on stderr, with secrets redacted.
async fn with_last_stderr(problem: Problem, stderr: Option<&Stderr>, secrets: &FilledSecrets) -> Problem {
    let words = match stderr {
        Some(stderr) => stderr.end().await,
        None => String::new(),
    };
    Problem { reason: secrets.line(&with_words(&problem.reason, &words)), ..problem }
}

fn with_words(what: &str, words: &str) -> String {
    if words.is_empty() { what.to_string() } else { format!("{what}; it said: {words}") }
}

// Calls of tools.

/// Wait for the last line on stderr of a server that has just died.
const STDERR_WAIT: Duration = Duration::from_millis(50);

/// Reason why a call has no result.
#[derive(Debug)]
pub enum McpCallError {
    /// The call did not reach the server.
    NotSent(String),
    /// The call reached the server, as far as is known, and the connection is gone.
    ConnectionLost(String),
    /// The server answered with a protocol error.
    ProtocolError(ErrorData),
    /// The server answered that the call failed.
    UnexpectedAnswer(String),
    /// The server has had too many calls; with the seconds to wait, where it says them.
    Busy(String, Option<u64>),
    /// The server refused the call for want of a token, and has not run it.
    SignIn(SignInProblem),
    /// The server's answer cannot be read.
    Unreadable(String),
    /// The server was silent for too long, and was asked to stop.
    Silent,
}

impl Session {
    /// Calls a tool. A call that is dropped before it ends is cancelled, and one about which the server is silent for so long.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        origin: Option<&Arc<RequestOrigin>>,
        longest_silence: Duration,
    ) -> Result<CallToolResult, McpCallError> {
        if self.is_closed() {
            return Err(McpCallError::NotSent(self.with_stderr("the connection is closed")));
        }
        let params = CallToolRequestParams::new(tool.to_string()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        if let Some(origin) = origin {
            origin.begin_call();
        }
        let sending = self.request_with_input(request, origin, longest_silence);
        match Operation::mcp_call(tool).observe(sending, error_type).await {
            Ok(ServerResult::CallToolResult(result)) => Ok(result),
            Ok(ServerResult::InputRequiredResult(question)) => Err(McpCallError::UnexpectedAnswer(
                match origin.filter(|origin| origin.may_require_input()) {
                    Some(origin) => {
                        origin.require_input(question);
                        "it asks for input, which the client gives next".into()
                    }
                    None => "it asks for more than arguments, which cannot be given here".into(),
                },
            )),
            Ok(_) => Err(McpCallError::Unreadable("the result is not that of a tool call".into())),
            Err(error) => Err(self.meaning(error).await),
        }
    }

    async fn meaning(&self, error: ServiceError) -> McpCallError {
        if let Some(problem) = self.signing.as_ref().and_then(|signing| signing.problem_of(&error)) {
            return McpCallError::SignIn(problem);
        }
        let what = self.with_stderr(&explain(&error));
        match error {
            ServiceError::McpError(error) if is_unreadable(&error) => {
                McpCallError::Unreadable(self.secrets.line(&error.message))
            }
            ServiceError::McpError(error) => McpCallError::ProtocolError(error),
            ServiceError::Timeout { .. } => {
                self.doubt();
                McpCallError::Silent
            }
            ServiceError::TransportClosed => {
                tokio::time::sleep(STDERR_WAIT).await;
                McpCallError::ConnectionLost(
                    self.with_stderr(self.routes.end().unwrap_or("the connection is closed")),
                )
            }
            ServiceError::TransportSend(_) => match http_error(&error) {
                // A line that could not be written was not read by the server.
                None | Some(HttpError::SessionExpired) => McpCallError::NotSent(what),
                Some(HttpError::Client(error)) if error.is_connect() => McpCallError::NotSent(what),
                // A gateway reports that the server behind it did not answer.
                Some(HttpError::HttpStatus(reply)) if matches!(reply.status, 502 | 504) => {
                    McpCallError::ConnectionLost(what)
                }
                Some(HttpError::HttpStatus(reply)) if reply.status == 429 => {
                    let seconds = reply.retry_after.as_ref().and_then(|text| text.trim().parse().ok());
                    McpCallError::Busy(what, seconds)
                }
                Some(HttpError::HttpStatus(_) | HttpError::AuthRequired(_)) => {
                    McpCallError::UnexpectedAnswer(what)
                }
                Some(_) => McpCallError::ConnectionLost(what),
            },
            _ => McpCallError::Unreadable(what),
        }
    }
}

// The list of tools.

/// Limits of a server's list; above any real one.
const MAX_PAGES: usize = 200;
pub(super) const MAX_TOOLS: usize = 50_000;
pub(super) const MAX_BYTES: usize = 64 << 20;

/// A server's list, and the time for which it holds.
pub(super) struct FreshListing {
    pub(super) listing: Listing,
    pub(super) fresh_for: Option<Duration>,
}

impl Session {
    /// All tools, page by page. A page that cannot be read costs itself and the pages after it.
    pub(super) async fn list(&self) -> Result<FreshListing, Problem> {
        let mut tools = Vec::new();
        let mut bytes = 0;
        let mut cursor = None;
        let mut cursors = HashSet::new();
        let mut holds = None;
        locked(&self.notes).clear();
        loop {
            let page = match self.page(cursor.take()).await {
                Ok(page) => page,
                Err(error) if cursors.is_empty() || self.is_closed() => {
                    let problem = Problem::of(&error, self.signing.as_deref());
                    return Err(with_last_stderr(problem, self.stderr.as_ref(), &self.secrets).await);
                }
                Err(error) => {
                    self.note(format!("page {} cannot be read: {}", cursors.len() + 1, explain(&error)));
                    break;
                }
            };
            match page.get("tools").and_then(Value::as_array) {
                Some(listed) => {
                    let texts = listed.iter().map(Value::to_string);
                    tools.extend(texts.inspect(|text| bytes += text.len()));
                }
                None if cursors.is_empty() => return Err("its answer is no list of tools".into()),
                None => self.note(format!("page {} is no list of tools", cursors.len() + 1)),
            }
            if tools.len() > MAX_TOOLS || bytes > MAX_BYTES {
                return Err(format!("it lists more than {MAX_TOOLS} tools or {} MiB", MAX_BYTES >> 20).into());
            }
            let ttl = page.get("ttlMs").and_then(Value::as_u64).map(Duration::from_millis);
            holds = holds.into_iter().chain(ttl).min();
            let next = page.get("nextCursor").filter(|next| !next.is_null());
            match next.map(|next| (next, next.as_str())) {
                None | Some((_, Some(""))) => break,
                Some((next, None)) => {
                    self.note(format!("the cursor after page {} is {next}, and no text", cursors.len() + 1));
                    break;
                }
                Some(_) if cursors.len() == MAX_PAGES => return Err("its list has no end".into()),
                Some((_, Some(next))) if !cursors.insert(next.to_string()) => {
                    self.note(format!("page {} has the cursor of an earlier page", cursors.len() + 1));
                    break;
                }
                Some((_, Some(next))) => cursor = Some(next.to_string()),
            }
        }
        let info = self.peer.peer_info();
        let named = info.as_ref().and_then(|info| info.server_info.as_ref());
        let text = format!("{{\"tools\": [\n{}\n]}}\n", tools.join(",\n"));
        let listing = Listing {
            tools: Some(text.into()),
            count: tools.len(),
            server: named.map(|named| named.name.clone()),
            title: named.and_then(|named| named.title.clone()),
            is_older: self.is_older,
            problem: None,
            notes: std::mem::take(&mut *locked(&self.notes))
                .iter()
                .map(|note| self.secrets.line(note))
                .collect(),
        };
        Ok(FreshListing { listing, fresh_for: holds })
    }

    /// One page as the server wrote it; `sources` judges each definition later.
    async fn page(&self, cursor: Option<String>) -> Result<Value, ServiceError> {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request: ListToolsRequest = RequestOptionalParam::with_param(params);
        let result = self.peer.send_request(ClientRequest::ListToolsRequest(request)).await?;
        Ok(serde_json::to_value(result).unwrap_or_default())
    }

    fn note(&self, what: String) {
        locked(&self.notes).push(what);
    }
}

// Changes of lists and resources.

/// The changes of one server that somebody wants to know of.
pub struct Changes {
    session: Arc<Session>,
    wanted: SubscriptionFilter,
    /// The subscription of the newer protocol.
    subscription: Option<Subscription>,
    /// The notifications of the connection, among them those that others wait for.
    announcements: broadcast::Receiver<ServerNotification>,
}

impl Changes {
    /// Follows the wanted changes that the server supports. Returns `None` if it supports no wanted kind.
    pub async fn of(
        session: &Arc<Session>,
        wanted: &SubscriptionFilter,
    ) -> Result<Option<Self>, ServiceError> {
        let wanted = wanted.supported_by(&session.capabilities());
        if wanted == SubscriptionFilter::default() {
            return Ok(None);
        }
        let announcements = match session.announcements.upgrade() {
            Some(sender) => sender.subscribe(),
            None => broadcast::channel(1).1,
        };
        let mut subscription = None;
        if session.is_newer() {
            subscription = Some(session.peer.listen(wanted.clone()).await?);
        } else {
            for uri in wanted.resource_subscriptions.iter().flatten() {
                session.peer.subscribe(SubscribeRequestParams::new(uri)).await?;
                *locked(&session.subscribers).entry(uri.clone()).or_default() += 1;
            }
        }
        Ok(Some(Self { session: Arc::clone(session), wanted, subscription, announcements }))
    }

    /// The next change; `None` when the connection has ended.
    pub async fn next(&mut self) -> Option<ServerNotification> {
        if let Some(subscription) = &mut self.subscription {
            return subscription.next().await.ok().flatten();
        }
        loop {
            match self.announcements.recv().await {
                Ok(change) if self.is_wanted(&change) => return Some(change),
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
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
    pub fn missed(&self) -> Vec<ServerNotification> {
        let mut missed = vec![
            ServerNotification::ResourceListChangedNotification(Default::default()),
            ServerNotification::PromptListChangedNotification(Default::default()),
        ];
        missed.retain(|change| self.is_wanted(change));
        missed
    }
}

/// On the older protocol, the last follower of a resource ends the subscription.
impl Drop for Changes {
    fn drop(&mut self) {
        if self.subscription.is_some() {
            return;
        }
        for uri in self.wanted.resource_subscriptions.iter().flatten() {
            let mut subscribers = locked(&self.session.subscribers);
            let Some(count) = subscribers.get_mut(uri) else { continue };
            *count -= 1;
            if *count > 0 {
                continue;
            }
            subscribers.remove(uri);
            let Ok(runtime) = Handle::try_current() else { continue };
            let peer = self.session.peer.clone();
            let params = UnsubscribeRequestParams::new(uri);
            runtime.spawn(async move { peer.unsubscribe(params).await });
        }
    }
}

/// The type of the error of a call, for telemetry.
fn error_type(answer: &Result<ServerResult, ServiceError>) -> Option<String> {
    match answer {
        Ok(ServerResult::CallToolResult(result)) if result.is_error == Some(true) => {
            Some("tool_error".into())
        }
        Ok(_) => None,
        Err(ServiceError::McpError(error)) => Some(error.code.0.to_string()),
        Err(_) => Some("_OTHER".into()),
    }
}

#[cfg(test)]
#[path = "tests/session.rs"]
mod tests;

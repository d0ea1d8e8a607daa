//! One open connection to a server, in either version of the protocol: opened, watched, and closed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ProtocolVersion, ServerCapabilities, ServerNotification, SubscriptionFilter};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, RunningService, Subscription,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::sync::{Notify, broadcast, watch};
use tokio::time::timeout;

use super::client::{ClientSession, CurrentClient, Handler, RequestRoutes, RoutedTransport, follow_level};
use super::endpoint::Endpoint;
use super::http::{self, Signing, server_problem};
use super::json_lines::LineCheck;
use super::message::ListNotes;
use super::process::{Log, Process, Stderr};
use super::secrets::FilledSecrets;
use super::server_problem::Problem;
use super::stdout::{Lines, MAX_LINE};
use crate::credentials::Credentials;

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
    pub(super) stderr: Option<Stderr>,
    /// The secrets that were filled in, to be redacted in what the server says.
    pub secrets: FilledSecrets,
    /// Calls in progress.
    pub(super) calls: AtomicUsize,
    /// Answers to calls so far.
    pub(super) answers: AtomicUsize,
    /// Whether the server is known to speak the older protocol alone.
    pub(super) is_older: bool,
    /// Has the server listed again.
    pub(super) changed: Arc<Notify>,
    /// Whether another session takes its place.
    replaced: watch::Sender<bool>,
    /// Changes of resources and prompts; the handler of the connection has the sender, so that it closes with that.
    pub(super) announcements: broadcast::WeakSender<ServerNotification>,
    pub(super) routes: Arc<RequestRoutes>,
    /// The tokens of a connection over HTTP.
    pub(super) signing: Option<Arc<Signing>>,
    /// The subscription to changes of the list of tools, on the newer protocol.
    subscription: tokio::sync::Mutex<Option<Subscription>>,
    /// The followers of each resource: the older protocol has one subscription for all of them.
    pub(super) subscribers: Mutex<HashMap<String, usize>>,
    /// Mistakes in its list of tools that was read last.
    pub(super) notes: ListNotes,
}

type Open = (RunningService<RoleClient, Handler>, Option<Process>);

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
        let client = Handler::new(current.clone());
        let declared = client.declared.clone();
        let changed = client.changed.clone();
        let announcements = client.announcements.downgrade();
        let routes = Arc::clone(&client.routes);
        let mut signing = None;
        let mut process = None;
        let service = match &endpoint.server.url {
            Some(url) => {
                let url = secrets.fill_text(url, environment, None).map_err(Problem::from)?;
                let tokens = Arc::new(Signing::new(endpoint, credentials, secrets));
                let headers = endpoint.headers(environment, secrets)?;
                let inner = http::transport(&url, headers, &tokens, &notes)?;
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
                    routes.end().map_or_else(|| server_problem(&error, signing.as_deref()), Problem::from);
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

    /// The capabilities of the server.
    pub fn capabilities(&self) -> ServerCapabilities {
        self.peer.peer_info().map(|info| info.capabilities.clone()).unwrap_or_default()
    }

    /// The name that the server gives itself.
    pub fn server_name(&self) -> Option<String> {
        let info = self.peer.peer_info()?;
        Some(info.server_info.as_ref()?.name.clone())
    }

    /// Whether the connection speaks the newer protocol.
    pub(crate) fn is_newer(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| !info.protocol_version.has_initialize())
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
    pub(super) fn with_stderr(&self, what: &str) -> String {
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
pub(super) async fn with_last_stderr(
    problem: Problem,
    stderr: Option<&Stderr>,
    secrets: &FilledSecrets,
) -> Problem {
    let words = match stderr {
        Some(stderr) => stderr.end().await,
        None => String::new(),
    };
    Problem { reason: secrets.line(&with_words(&problem.reason, &words)), ..problem }
}

fn with_words(what: &str, words: &str) -> String {
    if words.is_empty() { what.to_string() } else { format!("{what}; it said: {words}") }
}

//! One open connection to a server, in either version of the protocol: opened, watched, and closed.

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ProtocolVersion, ServerCapabilities, ServerNotification, SubscriptionFilter};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, RunningService, Subscription,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::sync::broadcast;
use tokio::time::timeout;

use super::client::{
    Asker, ClientSession, CurrentClient, Handler, RequestRoutes, RoutedTransport, follow_client,
};
use super::endpoint::Endpoint;
use super::http::{self, Signing, server_problem};
use super::json_lines::LineCheck;
use super::made_headers::made_headers;
use super::message::ListNotes;
use super::process::{Log, Process, Stderr};
use super::secrets::FilledSecrets;
use super::server_problem::ServerProblem;
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
    /// The connection with its process, until it is closed.
    open: tokio::sync::Mutex<Option<Open>>,
    pub(super) stderr: Option<Stderr>,
    /// The secrets that were filled in, to be redacted in what the server says.
    pub secrets: FilledSecrets,
    /// Held by each call in progress.
    pub(super) calls: Arc<()>,
    /// Answers to calls so far.
    pub(super) answers: AtomicUsize,
    /// Whether the server is known to speak the older protocol alone.
    pub(super) is_older: bool,
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
    ) -> Result<Self, ServerProblem> {
        let mut secrets = FilledSecrets::default();
        // A client that servers may ask has the older protocol, and so have its connections.
        let asks_older = is_older || client.borrow().as_ref().is_some_and(|client| client.can_answer());
        let mut session = match Self::begin(endpoint, credentials, client, &mut secrets, asks_older).await {
            Err(ConnectError { speaks_other: true, .. }) => {
                Self::begin(endpoint, credentials, client, &mut secrets, !asks_older).await
            }
            begun => begun,
        };
        if let Ok(session) = &mut session {
            session.is_older = is_older || (!asks_older && !session.is_newer());
        }
        session.map_err(|error| error.problem)
    }

    async fn begin(
        endpoint: &Endpoint,
        credentials: &Arc<Credentials>,
        current: &CurrentClient,
        secrets: &mut FilledSecrets,
        asks_older: bool,
    ) -> Result<Self, ConnectError> {
        let mode = if asks_older { ClientLifecycleMode::Initialize } else { newest() };
        let environment = credentials.environment();
        let notes = ListNotes::default();
        let mut client = Handler::new(current.clone());
        let announcements = client.announcements.downgrade();
        let routes = Arc::clone(&client.routes);
        let mut signing = None;
        let mut process = None;
        let service = match &endpoint.server.url {
            Some(url) => {
                let url = secrets.fill_text(url, environment, None)?;
                let tokens = Arc::new(Signing::new(endpoint, credentials, secrets));
                let made = made_headers(endpoint, environment, secrets).await?;
                let headers = endpoint.headers(&made, environment, secrets)?;
                let inner = http::transport(&url, headers, &tokens, &notes)?;
                signing = Some(tokens);
                client.asker = Asker { name: endpoint.name.clone(), secrets: secrets.clone() };
                client.serve_with_lifecycle(RoutedTransport::new(inner, &routes), mode).await
            }
            None => {
                let (started, stdout, stdin) = Process::start(endpoint, environment, secrets)?;
                process = Some(started);
                let log = Log::new(&endpoint.name, secrets);
                let mut lines =
                    Lines { notes: Arc::clone(&notes), routes: Arc::clone(&routes), log, noise: 0 };
                let stdout = LineCheck::new(stdout, MAX_LINE, move |line| lines.read(line));
                let inner = AsyncRwTransport::new_client(stdout, stdin);
                client.asker = Asker { name: endpoint.name.clone(), secrets: secrets.clone() };
                client.serve_with_lifecycle(RoutedTransport::new(inner, &routes), mode).await
            }
        };
        let stderr = process.as_ref().map(|process| process.stderr.clone());
        let service = match service {
            Ok(service) => service,
            Err(error) => {
                let problem = routes.end().map(ServerProblem::ended);
                let problem = problem.unwrap_or_else(|| server_problem(&error, signing.as_deref()));
                let problem = with_last_words(problem, stderr.as_ref(), secrets).await;
                let speaks_other = speaks_other(&error, &problem, asks_older, process.is_none());
                return Err(ConnectError { problem, speaks_other });
            }
        };
        tokio::spawn(follow_client(service.peer().clone(), current.clone()));
        Ok(Self {
            name: endpoint.name.clone(),
            peer: service.peer().clone(),
            open: tokio::sync::Mutex::new(Some((service, process))),
            stderr,
            secrets: secrets.clone(),
            calls: Arc::default(),
            answers: AtomicUsize::default(),
            is_older: false,
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
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let filter = filter.supported_by(&self.capabilities());
        let mut subscription = self.subscription.lock().await;
        if subscription.is_none() && self.is_newer() && filter.tools_list_changed.is_some() {
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
            () = self.routes.changed.notified() => {}
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
    pub(super) async fn end_message(&self) -> ServerProblem {
        with_last_words(self.end(), self.stderr.as_ref(), &self.secrets).await
    }

    /// The same, without a wait for its last words.
    pub(super) fn end(&self) -> ServerProblem {
        self.problem(&self.routes.end().unwrap_or_else(|| "the connection is closed".into()))
    }

    /// A problem of the connection, with the last line of a command's stderr.
    pub(super) fn problem(&self, why: &str) -> ServerProblem {
        let said = self.stderr.as_ref().map(Stderr::last_line).unwrap_or_default();
        ServerProblem::Ended { why: self.secrets.line(why), said: self.secrets.line(&said) }
    }

    /// Whether the connection carries the sign-in of the operator.
    pub fn is_personal(&self) -> bool {
        self.signing.as_ref().is_some_and(|signing| signing.is_personal())
    }

    /// Whether the operator has signed in or out since the connection began.
    pub(super) fn is_outdated(&self) -> bool {
        self.signing.as_ref().is_some_and(|signing| signing.is_outdated())
    }

    /// Whether the connection can stay for this client: it was opened for it, or the client has nothing to declare.
    pub(super) fn suits(&self, client: &ClientSession) -> bool {
        !client.can_answer() || self.routes.declared.as_deref().is_some_and(|declared| declared == client)
    }

    /// Whether a call is in progress.
    pub(super) fn is_busy(&self) -> bool {
        Arc::strong_count(&self.calls) > 1
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

/// The newer protocol, else the older one.
fn newest() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

/// Reason why a session did not begin.
struct ConnectError {
    problem: ServerProblem,
    /// Whether it may begin with the other version of the protocol.
    speaks_other: bool,
}

/// Whether a server that did not begin a session may begin one in the other version of the protocol.
fn speaks_other(
    error: &ClientInitializeError,
    problem: &ServerProblem,
    asked_older: bool,
    is_http: bool,
) -> bool {
    match error {
        // The server says so, or started so slowly that its answers to the probe and to the older handshake cross.
        ClientInitializeError::NoCompatibleProtocolVersion { .. }
        | ClientInitializeError::UncorrelatedErrorResponse { .. }
        | ClientInitializeError::ConflictInitResponseId(..) => true,
        // Some servers end at a first message that they do not know; the SDK names the message only in its text.
        ClientInitializeError::ConnectionClosed(at) => at.contains("discover"),
        ClientInitializeError::JsonRpcError(_) | ClientInitializeError::ExpectedInitResult(_) => asked_older,
        // Over HTTP an answer may be a status.
        ClientInitializeError::TransportError { .. } => {
            let is_refused = matches!(problem, ServerProblem::WantsToken(..) | ServerProblem::NoToken(_));
            asked_older && is_http && !is_refused
        }
        _ => false,
    }
}

impl<T: Into<ServerProblem>> From<T> for ConnectError {
    fn from(problem: T) -> Self {
        Self { problem: problem.into(), speaks_other: false }
    }
}

/// The end of a connection with a command's last line on stderr, with secrets redacted.
pub(super) async fn with_last_words(
    problem: ServerProblem,
    stderr: Option<&Stderr>,
    secrets: &FilledSecrets,
) -> ServerProblem {
    let ServerProblem::Ended { why, .. } = problem else { return problem };
    let said = match stderr {
        Some(stderr) => stderr.end().await,
        None => String::new(),
    };
    ServerProblem::Ended { why: secrets.line(&why), said: secrets.line(&said) }
}

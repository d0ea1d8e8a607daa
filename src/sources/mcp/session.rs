//! One connection to a server: opened in either version of the protocol, and closed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ProtocolVersion, ServerNotification, SubscriptionFilter};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, RunningService, Subscription,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::sync::{Notify, broadcast};

use super::Environment;
use super::endpoint::{Endpoint, Problem};
use super::line_check::{BadLine, LineCheck, LineProblem};
use super::process::{Process, Stderr};
use super::request_origin::{ClientSession, CurrentClient};
use super::requests::{Client, RequestRoutes, RoutedTransport, follow_level};
use super::secrets::FilledSecrets;
use super::signed_client::{SignedClient, Signing};
use crate::credentials::Credentials;

/// The longest line that the SDK reads.
const MAX_LINE: usize = 16 << 20;
/// Longest wait for a connection to close by itself.
const CLOSING: Duration = Duration::from_secs(1);

/// A connection that is open, shared by all that use its server.
pub(crate) struct Session {
    /// The name of the server, as its operator has it.
    pub(super) name: String,
    peer: Peer<RoleClient>,
    /// The client whose capabilities were declared.
    declared: Option<Arc<ClientSession>>,
    /// The connection with its process, until it is closed.
    open: tokio::sync::Mutex<Option<Open>>,
    pub(super) stderr: Option<Stderr>,
    pub(super) secrets: FilledSecrets,
    /// Calls in progress.
    pub(super) calls: AtomicUsize,
    /// Answers to calls so far.
    pub(super) answers: AtomicUsize,
    /// Whether the server is known to speak the older protocol alone.
    pub(super) is_older: bool,
    changed: Arc<Notify>,
    /// Whether another session takes its place, and the signal for that.
    replaced: (AtomicBool, Notify),
    pub(super) announcements: broadcast::Sender<ServerNotification>,
    pub(super) routes: Arc<RequestRoutes>,
    /// The tokens of a connection over HTTP.
    pub(super) signing: Option<Arc<Signing>>,
    /// The followers of each resource: the older wire has one subscription for all of them.
    subscribers: Mutex<HashMap<String, usize>>,
    /// The error of its last message with a repeated key.
    pub(super) twice: Arc<Mutex<Option<String>>>,
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
        let mut secrets = FilledSecrets::default();
        // A client that servers may ask has the older wire, and so have its connections.
        let asks_older = is_older || client.borrow().is_some();
        let mode = if asks_older { ClientLifecycleMode::Initialize } else { newest.clone() };
        let begun = match Self::begin((endpoint, client), credentials, &mut secrets, mode).await {
            // The server speaks the newer protocol only.
            Err(ConnectError { is_other: true, .. }) if asks_older => {
                Self::begin((endpoint, client), credentials, &mut secrets, newest).await
            }
            // The server speaks the older protocol only: it says so, or started so slowly that its answers to the
            // probe and to the older handshake cross.
            Err(ConnectError { is_older: true, .. }) => {
                Self::begin((endpoint, client), credentials, &mut secrets, ClientLifecycleMode::Initialize)
                    .await
            }
            begun => begun,
        };
        let mut session = begun.map_err(|refusal| refusal.problem)?;
        session.is_older = is_older || (!asks_older && !session.is_newer_wire());
        Ok(session)
    }

    async fn begin(
        (endpoint, current): (&Endpoint, &CurrentClient),
        credentials: &Arc<Credentials>,
        secrets: &mut FilledSecrets,
        mode: ClientLifecycleMode,
    ) -> Result<Self, ConnectError> {
        let environment = credentials.environment();
        let mut signing = None;
        let twice = Arc::<Mutex<Option<String>>>::default();
        let client = Client::new(current.clone());
        let declared = current.borrow().clone();
        let (changed, announcements) = (client.changed.clone(), client.announcements.clone());
        let routes = Arc::clone(&client.routes);
        let routed = Arc::clone(&routes);
        let (service, process) = match &endpoint.server.url {
            Some(url) => {
                let tokens = Arc::new(Signing::new(endpoint, credentials, secrets));
                let inner = http((url, &tokens), endpoint, environment, secrets)?;
                signing = Some(tokens);
                let transport = RoutedTransport { inner, routes: routed };
                (client.serve_with_lifecycle(transport, mode).await, None)
            }
            None => {
                let (process, stdout, stdin) = Process::start(endpoint, environment, secrets)?;
                let noted = Arc::clone(&twice);
                let stdout = LineCheck::new(stdout, MAX_LINE, move |bad: BadLine| {
                    if let LineProblem::KeyTwice(problem) = bad.problem {
                        *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
                    }
                    true
                });
                let transport =
                    RoutedTransport { inner: AsyncRwTransport::new_client(stdout, stdin), routes: routed };
                (client.serve_with_lifecycle(transport, mode).await, Some(process))
            }
        };
        match service {
            Ok(service) => Ok(Self {
                peer: {
                    tokio::spawn(follow_level(service.peer().clone(), current.clone()));
                    service.peer().clone()
                },
                name: endpoint.name.clone(),
                declared,
                stderr: process.as_ref().map(|process| process.stderr.clone()),
                open: tokio::sync::Mutex::new(Some((service, process))),
                secrets: secrets.clone(),
                calls: AtomicUsize::default(),
                answers: AtomicUsize::default(),
                is_older: false,
                changed,
                replaced: Default::default(),
                announcements,
                routes,
                signing,
                subscribers: Mutex::default(),
                twice,
            }),
            Err(error) => {
                let is_older = matches!(
                    error,
                    ClientInitializeError::NoCompatibleProtocolVersion { .. }
                        | ClientInitializeError::UncorrelatedErrorResponse { .. }
                        | ClientInitializeError::ConflictInitResponseId(..)
                );
                let has_answered = match error {
                    ClientInitializeError::JsonRpcError(_) | ClientInitializeError::ExpectedInitResult(_) => {
                        true
                    }
                    // Over HTTP an answer may be a status.
                    ClientInitializeError::TransportError { .. } => process.is_none(),
                    _ => is_older,
                };
                let stderr = process.as_ref().map(|process| process.stderr.clone());
                let problem =
                    with_last_stderr(Problem::of(&error, signing.as_deref()), stderr.as_ref(), secrets).await;
                let is_refused = problem.wants_token || problem.sign_in.is_some();
                let is_other = has_answered && !is_refused;
                Err(ConnectError { problem, is_older, is_other })
            }
        }
    }

    /// Subscribes to changes, where the protocol needs that.
    pub(super) async fn subscribe(&self) -> Option<Subscription> {
        let info = self.peer.peer_info()?;
        if info.protocol_version.has_initialize() {
            return None;
        }
        let filter =
            SubscriptionFilter::builder().tools_list_changed().build().supported_by(&info.capabilities);
        filter.tools_list_changed?;
        self.peer.listen(filter).await.ok()
    }

    /// Has the server listed again: it did not answer a call in time, and may be dead.
    pub(crate) fn doubt(&self) {
        self.changed.notify_one();
    }

    /// Waits for the notification of a changed list in the older protocol, or for doubt.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Facts that the server gave about itself when it was connected, each on one line.
    pub(super) fn facts(&self) -> SessionFacts {
        let Some(info) = self.peer.peer_info() else { return SessionFacts::default() };
        let server = info.server_info.as_ref();
        SessionFacts {
            protocol: self.hide(info.protocol_version.as_str()),
            name: server.map(|server| self.hide(&server.name)).unwrap_or_default(),
            version: server.map(|server| self.hide(&server.version)).unwrap_or_default(),
        }
    }

    /// Whether the connection has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// Reason why the connection ended, as far as the server gave one.
    pub(super) async fn end_message(&self) -> Problem {
        with_last_stderr("the connection is closed".into(), self.stderr.as_ref(), &self.secrets).await
    }

    /// Whether the connection carries the sign-in of the operator.
    pub(crate) fn is_personal(&self) -> bool {
        self.signing.as_ref().is_some_and(|signing| signing.is_personal())
    }

    /// Whether the operator has signed in or out since the connection began.
    pub(super) fn is_outdated(&self) -> bool {
        self.signing.as_ref().is_some_and(|signing| signing.is_outdated())
    }

    /// Has another session take its place.
    pub(super) fn replace(&self) {
        self.replaced.0.store(true, Relaxed);
        self.replaced.1.notify_one();
    }

    pub(super) fn is_replaced(&self) -> bool {
        self.replaced.0.load(Relaxed)
    }

    /// Waits until another session takes its place.
    pub(super) async fn until_replaced(&self) {
        self.replaced.1.notified().await;
    }

    /// The connection itself, for requests of every kind.
    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    /// Whether the connection can stay for this client: it was opened for it, or the client has nothing to declare.
    pub(super) fn suits(&self, client: &ClientSession) -> bool {
        !client.can_answer() || self.declared.as_deref().is_some_and(|declared| declared == client)
    }

    pub(super) fn subscribers(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a call is in progress.
    pub(super) fn is_busy(&self) -> bool {
        self.calls.load(Relaxed) > 0
    }

    /// A message with the last line of a command's stderr, with secrets redacted.
    pub(super) fn with_stderr(&self, what: &str) -> String {
        let words = self.stderr.as_ref().map(Stderr::last_line).filter(|words| !words.is_empty());
        self.hide(&words.map_or_else(|| what.to_string(), |words| format!("{what}; it said: {words}")))
    }

    /// A text of the server with secrets redacted.
    pub(crate) fn without_secrets(&self, text: &str) -> String {
        self.secrets.hide(text)
    }

    /// A result of the server's without credentials, and the warning that one stood in it.
    pub(crate) fn hide_in_result(&self, result: serde_json::Value) -> (serde_json::Value, Option<String>) {
        self.secrets.hide_in_result(result)
    }

    /// A value of the server's, without secrets.
    pub(crate) fn hide_in(&self, value: serde_json::Value) -> serde_json::Value {
        self.secrets.hide_in(value)
    }

    pub(super) fn has_secrets(&self) -> bool {
        !self.secrets.is_empty()
    }

    /// A text of the server on one line, with secrets redacted.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.secrets.line(text)
    }

    /// Closes the connection, and ends the process. Calls in progress are lost.
    pub(super) async fn close(&self) {
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

fn http(
    (url, signing): (&str, &Arc<Signing>),
    endpoint: &Endpoint,
    environment: &Environment,
    secrets: &mut FilledSecrets,
) -> Result<StreamableHttpClientTransport<SignedClient>, String> {
    // The program has one cryptography provider; a second call changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(endpoint.timeout)
        .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| error.to_string())?;
    let headers = endpoint.headers(environment, secrets)?;
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
    let client = SignedClient::new(client, Arc::clone(signing));
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Reason why a session did not begin.
struct ConnectError {
    problem: Problem,
    /// Whether the reason is that the server speaks other versions of the protocol.
    is_older: bool,
    /// Whether it answered, so that it may speak another version.
    is_other: bool,
}

impl From<String> for ConnectError {
    fn from(problem: String) -> Self {
        Self { problem: problem.into(), is_older: false, is_other: false }
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
    let what = &problem.reason;
    let reason =
        secrets.line(&if words.is_empty() { what.clone() } else { format!("{what}; it said: {words}") });
    Problem { reason, ..problem }
}

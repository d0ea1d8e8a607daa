//! The address of a server: a command or a URL, with secrets from the environment filled in.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue};
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::Environment;
use super::request_origin::ClientSession;
use super::secrets::{FilledSecrets, Missing, wanted};
use super::signed_client::{Signing, innermost};
use crate::config::Server;
use crate::credentials::{CallerToken, SignInProblem};
use crate::tool::clean_line;

/// Variables that every command gets from our environment; others come from its `env`. With the variables
/// of a proxy and of certificates, a server reaches the network as if the client had started it.
const INHERITED: [&str; 35] = [
    "HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER", "APPDATA", "HOMEDRIVE",
    "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP",
    "USERNAME", "USERPROFILE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy",
    "https_proxy", "all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
];

/// The variables of our environment that every command gets.
pub(crate) fn inherited(environment: &Environment) -> impl Iterator<Item = (String, String)> {
    INHERITED.iter().filter_map(|name| Some((name.to_string(), environment.get(name)?)))
}

/// A server from the configuration, with the folder of that. Equal endpoints share a connection.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    /// The name of the server, for people.
    pub(crate) name: String,
    pub(crate) server: Server,
    pub(super) root: PathBuf,
    pub(crate) timeout: Duration,
    /// The caller's headers that it is sent; `None` when there are none.
    caller: Option<HeaderMap>,
    /// The caller whose token the connection carries; `None` for the operator.
    caller_token: Option<CallerToken>,
    /// The session of the client that has a connection of its own.
    session: Option<String>,
    /// The client that the server can ask; `None` for a connection that many share.
    pub(super) client: Option<Arc<ClientSession>>,
}

impl PartialEq for Endpoint {
    fn eq(&self, other: &Self) -> bool {
        // A sign-in is bound to the name of its server, too.
        let is_same_identity = self.server.url.is_none() || self.name == other.name;
        is_same_identity
            && (&self.session, &self.client, &self.caller) == (&other.session, &other.client, &other.caller)
            && (&self.root, &self.server, &self.caller_token)
                == (&other.root, &other.server, &other.caller_token)
    }
}

impl Endpoint {
    /// The endpoint for listing tools.
    pub(super) fn new(name: &str, server: &Server, root: &Path) -> Self {
        Self {
            name: clean_line(name),
            server: server.clone(),
            root: whole(root),
            timeout: server.timeout(),
            caller: None,
            caller_token: None,
            session: None,
            client: None,
        }
    }

    /// The endpoint for a call: the same as for listing, unless the server wants headers of the caller, or a connection
    /// for each `session` of a client.
    pub(crate) fn for_call(
        (name, server): (&str, &Server),
        root: &Path,
        caller: &HeaderMap,
        session: Option<String>,
    ) -> Result<Self, Missing> {
        let caller = Some(wanted(&server.headers, caller)?).filter(|headers| !headers.is_empty());
        let session = session.filter(|_| server.per_session);
        Ok(Self { caller, session, ..Self::new(name, server, root) })
    }

    /// Whether one caller or client has this connection for itself.
    pub(super) fn is_private(&self) -> bool {
        self.caller.is_some()
            || self.caller_token.is_some()
            || self.session.is_some()
            || self.client.is_some()
    }

    /// Whether one caller has this connection for itself, and no session of a client.
    pub(super) fn is_of_caller_alone(&self) -> bool {
        (self.caller.is_some() || self.caller_token.is_some())
            && self.session.is_none()
            && self.client.is_none()
    }

    /// The same endpoint with the token of a caller. Callers with equal tokens share a connection.
    pub(crate) fn of_caller(self, caller_token: Option<CallerToken>) -> Self {
        Self { caller_token, ..self }
    }

    /// The caller whose token the connection carries.
    pub(super) fn caller_token(&self) -> Option<&CallerToken> {
        self.caller_token.as_ref()
    }

    /// The way to the server: `stdio` or `http`.
    pub(super) fn transport(&self) -> &'static str {
        if self.server.url.is_some() { "http" } else { "stdio" }
    }

    /// The same endpoint for a client that the server can ask.
    pub(crate) fn of_client(self, client: Option<&Arc<ClientSession>>) -> Self {
        Self { client: client.filter(|client| !client.is_only()).cloned(), ..self }
    }

    pub(crate) fn too_slow(&self) -> String {
        let seconds = self.timeout.as_secs();
        format!("no answer within {seconds} second{}", if seconds == 1 { "" } else { "s" })
    }

    /// The whole environment of the command.
    pub(super) fn variables(
        &self,
        environment: &Environment,
        secrets: &mut FilledSecrets,
    ) -> Result<HashMap<String, String>, Missing> {
        let mut variables: HashMap<String, String> = inherited(environment).collect();
        variables.extend(secrets.fill(&self.server.env, environment, None)?);
        Ok(variables)
    }

    pub(super) fn headers(
        &self,
        environment: &Environment,
        secrets: &mut FilledSecrets,
    ) -> Result<HashMap<HeaderName, HeaderValue>, String> {
        let mut headers = HashMap::new();
        let filled = secrets.fill_headers(&self.server.headers, environment, self.caller.as_ref());
        for (name, value) in filled.map_err(|missing| missing.to_string())? {
            let header =
                HeaderName::try_from(&name).map_err(|_| format!("\"{name}\" is no name of a header"))?;
            let mut value = HeaderValue::try_from(value)
                .map_err(|_| format!("the header {name} has an invalid value"))?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        Ok(headers)
    }

    /// The folder that the command runs in.
    pub(super) fn folder(&self) -> PathBuf {
        self.server.cwd.as_ref().map_or_else(|| self.root.clone(), |cwd| self.root.join(cwd))
    }
}

/// A folder as an absolute path: the same one, however it was written.
fn whole(folder: &Path) -> PathBuf {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf())
}

// The reason why a server gives no connection or no list, with the next step.

/// The line that gives a server its token.
const TOKEN_LINE: &str = "headers = { Authorization = \"Bearer ${NAME}\" }";

/// The reason why a server cannot be used now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The reason: one line, without secrets and addresses.
    pub reason: String,
    /// Whether the server refuses the caller (401 or 403).
    pub wants_token: bool,
    /// The reason why there is no token for it, with its name.
    pub(crate) sign_in: Option<(String, SignInProblem)>,
    /// The time before which it is not started again.
    pub(super) next_try: Option<Instant>,
}

impl Problem {
    /// The next step, for a server that wants a token.
    pub fn advice(&self) -> Option<String> {
        let what = "add this line to the server's table, with the token in the environment variable NAME";
        let sign_in = self.sign_in.as_ref().map(|(server, problem)| problem.next_step(server));
        match sign_in {
            Some(step) if self.wants_token => Some(format!("{step}, or {what}: {TOKEN_LINE}")),
            None => self.wants_token.then(|| format!("{what}: {TOKEN_LINE}")),
            step => step,
        }
    }

    /// The time until the server is started again; `None` where nothing holds that up.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let left = self.next_try?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    pub(super) fn until(&self, next_try: Instant) -> Self {
        Self { next_try: Some(next_try), ..self.clone() }
    }

    /// The reason of an error, in the server's place.
    pub(super) fn of(error: &(dyn Error + 'static), signing: Option<&Signing>) -> Self {
        let problem = signing.and_then(|signing| Some((signing.name().into(), signing.problem_of(error)?)));
        let is_new = problem.as_ref().is_none_or(|(_, problem)| problem.is_first_sign_in());
        let reason = match (refused(error), &problem) {
            (Some(status), _) if is_new => format!("it wants a token: it answered {status}"),
            (_, Some((_, problem))) => problem.to_string(),
            (_, None) => return explain(error).into(),
        };
        Self { reason, wants_token: is_new, sign_in: problem, next_try: None }
    }
}

impl From<String> for Problem {
    fn from(reason: String) -> Self {
        Self { reason, wants_token: false, sign_in: None, next_try: None }
    }
}

impl From<&str> for Problem {
    fn from(reason: &str) -> Self {
        reason.to_string().into()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.advice() {
            Some(advice) => write!(to, "{}; {advice}", self.reason),
            None => to.write_str(&self.reason),
        }
    }
}

/// The status with which a server asks for a token.
fn refused(error: &(dyn Error + 'static)) -> Option<u16> {
    match innermost(error).downcast_ref::<StreamableHttpError<reqwest::Error>>()? {
        StreamableHttpError::AuthRequired(_) => Some(401),
        StreamableHttpError::InsufficientScope(_) => Some(403),
        StreamableHttpError::HttpStatus(reply) => Some(reply.status),
        StreamableHttpError::Client(error) => error.status().map(|status| status.as_u16()),
        StreamableHttpError::UnexpectedServerResponse(text) => {
            let status = text.strip_prefix("HTTP ")?;
            status.get(..3)?.parse().ok()
        }
        _ => None,
    }
    .filter(|status| matches!(status, 401 | 403))
}

/// Reason why a server does not answer, in one line, without its address.
pub(super) fn explain(error: &(dyn Error + 'static)) -> String {
    let error = innermost(error);
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => match error.status() {
            Some(status) => format!("it answered {status}"),
            None if error.is_timeout() => "it took too long".into(),
            None if error.is_connect() => "no connection".into(),
            None => "the connection broke".into(),
        },
        _ => error.to_string(),
    }
}

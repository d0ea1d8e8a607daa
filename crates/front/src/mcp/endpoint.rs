//! The address of a server: a command or a URL, with secrets from the environment filled in.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue};

use super::Environment;
use super::http::{Signing, explain, http_error, status_of};
use super::requests::ClientSession;
use super::secrets::{FilledSecrets, Missing, wanted};
use crate::credentials::{CallerToken, SignInProblem};
use toolcrib_catalog::config::Server;
use toolcrib_definition::clean_line;

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
pub fn inherited(environment: &Environment) -> impl Iterator<Item = (String, String)> {
    INHERITED.iter().filter_map(|name| Some((name.to_string(), environment.get(name)?)))
}

/// A server from the configuration, with the folder of that. Equal endpoints share a connection.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The name of the server, for people.
    pub(crate) name: String,
    pub(crate) server: Server,
    pub(super) root: PathBuf,
    /// Time limit of each request.
    pub timeout: Duration,
    pub(super) user: EndpointUser,
}

/// The caller or client that has a connection for itself; the default for a connection that all share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndpointUser {
    /// The caller's headers that the server is sent; `None` if no header is sent.
    pub headers: Option<HeaderMap>,
    /// The caller whose token the connection carries; `None` for the operator.
    pub token: Option<CallerToken>,
    /// The session of the client that has a connection of its own.
    pub session: Option<String>,
    /// The client that the server can ask.
    pub client: Option<Arc<ClientSession>>,
}

impl PartialEq for Endpoint {
    fn eq(&self, other: &Self) -> bool {
        // A sign-in is bound to the name of its server, too.
        let is_same_identity = self.server.url.is_none() || self.name == other.name;
        is_same_identity
            && (&self.root, &self.server, &self.user) == (&other.root, &other.server, &other.user)
    }
}

impl Endpoint {
    /// The endpoint for listing tools.
    pub fn new(name: &str, server: &Server, root: &Path) -> Self {
        // The same absolute path, however the folder was written.
        let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        Self {
            name: clean_line(name),
            server: server.clone(),
            root: std::path::absolute(root).unwrap_or_else(|_| root.to_path_buf()),
            timeout: server.timeout(),
            user: EndpointUser::default(),
        }
    }

    /// The endpoint for a call: the same as for listing, unless the server wants headers of the caller, or the connection
    /// is for one caller or client.
    pub fn for_call(self, user: EndpointUser, caller: &HeaderMap) -> Result<Self, Missing> {
        let headers = Some(wanted(&self.server.headers, caller)?).filter(|headers| !headers.is_empty());
        // The only client of the process shares its connections with nobody.
        let client = user.client.filter(|client| !client.is_only());
        Ok(Self { user: EndpointUser { headers, client, ..user }, ..self })
    }

    /// Whether one caller or client has this connection for itself.
    pub(super) fn is_private(&self) -> bool {
        self.user != EndpointUser::default()
    }

    /// Whether one caller has this connection for itself, and no session of a client.
    pub(super) fn is_of_caller_alone(&self) -> bool {
        self.is_private() && self.user.session.is_none() && self.user.client.is_none()
    }

    /// The way to the server: `stdio` or `http`.
    pub(super) fn transport(&self) -> &'static str {
        if self.server.url.is_some() { "http" } else { "stdio" }
    }

    /// The message for a request over the time limit.
    pub fn too_slow(&self) -> String {
        let seconds = self.timeout.as_secs();
        format!("no answer within {seconds} second{}", if seconds == 1 { "" } else { "s" })
    }

    pub(super) fn headers(
        &self,
        environment: &Environment,
        secrets: &mut FilledSecrets,
    ) -> Result<HashMap<HeaderName, HeaderValue>, Problem> {
        let mut headers = HashMap::new();
        let caller = self.user.headers.as_ref();
        for (name, value) in secrets.fill_headers(&self.server.headers, environment, caller)? {
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
    pub sign_in: Option<(String, SignInProblem)>,
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
    pub fn retry_after(&self) -> Option<Duration> {
        let left = self.next_try?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    pub(super) fn until(&self, next_try: Instant) -> Self {
        Self { next_try: Some(next_try), ..self.clone() }
    }

    /// The reason of an error, in the server's place.
    pub(super) fn of(error: &(dyn Error + 'static), signing: Option<&Signing>) -> Self {
        let problem =
            signing.and_then(|signing| Some((signing.endpoint.name.clone(), signing.problem_of(error)?)));
        let is_new = problem.as_ref().is_none_or(|(_, problem)| problem.is_first_sign_in());
        // With these, a server asks for a token.
        let status = http_error(error).and_then(status_of).map(|(status, _)| status);
        let reason = match (status.filter(|status| matches!(status, 401 | 403)), &problem) {
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

impl From<Missing> for Problem {
    fn from(missing: Missing) -> Self {
        missing.to_string().into()
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

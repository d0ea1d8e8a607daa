//! The address of a server: a command or a URL, for all callers or for one. Equal endpoints share a connection.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use indexmap::IndexMap;

use super::client::ClientSession;
use super::secrets::{FilledSecrets, Missing, wanted};
use super::server_problem::ServerProblem;
use crate::credentials::{CallerToken, Credentials, acts_as, identity};
use toolcrib_catalog::config::{Environment, Server, Workspace, env_variables};
use toolcrib_catalog::sources::live_servers;
use toolcrib_definition::clean_line;

/// A server from the configuration, with the folder of that. Equal endpoints share a connection.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The name of the server, for people.
    pub name: String,
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
        let client = user.client.filter(|client| !client.is_only);
        Ok(Self { user: EndpointUser { headers, client, ..user }, ..self })
    }

    /// Whether one caller or client has this connection for itself.
    pub(super) fn is_private(&self) -> bool {
        self.user != EndpointUser::default()
    }

    /// Whether one client has the connection for itself, and its server knows of no caller.
    pub(super) fn is_of_client(&self) -> bool {
        self.user.client.is_some() && self.user.token.is_none() && self.user.headers.is_none()
    }

    /// Whether its connection ends when nobody uses it. Servers may keep state for the session of a client.
    pub(super) fn ends_unused(&self) -> bool {
        self.is_private() && self.user.session.is_none() && self.user.client.is_none()
    }

    /// The way to the server: `stdio` or `http`.
    pub fn transport(&self) -> &'static str {
        if self.server.url.is_some() { "http" } else { "stdio" }
    }

    /// The sign-in with which the server is called, in words; `None` where it needs none.
    pub fn sign_in(&self, credentials: &Credentials) -> Option<String> {
        acts_as(&self.server)?;
        if let Some(identity) = identity(&self.server) {
            return Some(identity);
        }
        Some(match credentials.sign_in_to((&self.name, &self.server)) {
            Ok(None) => "nobody has signed in".into(),
            Ok(Some(sign_in)) if sign_in.is_active() => format!("signed in at {}", sign_in.issuer),
            Ok(Some(sign_in)) => format!("the sign-in at {} has ended", sign_in.issuer),
            Err(error) => error.to_string(),
        })
    }

    /// The problem of a request over the time limit.
    pub fn too_slow(&self) -> ServerProblem {
        ServerProblem::NoAnswer(self.timeout)
    }

    /// Its headers, with those that its program made.
    pub(super) fn headers(
        &self,
        made: &IndexMap<String, String>,
        environment: &Environment,
        secrets: &mut FilledSecrets,
    ) -> Result<HashMap<HeaderName, HeaderValue>, ServerProblem> {
        let mut headers = HashMap::new();
        let caller = self.user.headers.as_ref();
        let own = secrets.fill_headers(&self.server.headers, environment, caller)?;
        for (name, value) in own.into_iter().chain(secrets.fill_headers(made, environment, None)?) {
            let header =
                HeaderName::try_from(&name).map_err(|_| format!("\"{name}\" is no name of a header"))?;
            let mut value = HeaderValue::try_from(value)
                .map_err(|_| format!("the header {name} has an invalid value"))?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        Ok(headers)
    }

    /// The variables of the server's file, and its own, which win.
    pub(super) fn variables(
        &self,
        environment: &Environment,
        secrets: &mut FilledSecrets,
    ) -> Result<Vec<(String, String)>, ServerProblem> {
        let mut variables = Vec::new();
        if let Some(file) = &self.server.env_file {
            let file = self.root.join(secrets.fill_text(file, environment, None)?);
            let text = std::fs::read_to_string(&file)
                .map_err(|error| format!("its `env_file` {} cannot be read: {error}", file.display()))?;
            variables = env_variables(&text);
            secrets.add_variables(&variables);
        }
        variables.extend(secrets.fill(&self.server.env, environment, None)?);
        Ok(variables)
    }

    /// The folder that the command runs in.
    pub(super) fn folder(&self) -> PathBuf {
        self.server.cwd.as_ref().map_or_else(|| self.root.clone(), |cwd| self.root.join(cwd))
    }
}

/// The servers of a workspace whose address is complete.
pub(super) fn endpoints(workspace: &Workspace) -> impl Iterator<Item = (usize, Endpoint)> {
    live_servers(workspace).map(|(index, server)| {
        let given = workspace.config.sources.get(index).and_then(|source| source.server.clone());
        let name = given.unwrap_or_else(|| (index + 1).to_string());
        (index, Endpoint::new(&name, server, &workspace.root))
    })
}

/// Names of the live servers of a workspace, for people.
pub fn server_names(workspace: &Workspace) -> Vec<String> {
    live_servers(workspace).map(|(index, server)| name(workspace, index, server)).collect()
}

/// The name that the configuration gives a server; otherwise its address or command.
pub(super) fn name(workspace: &Workspace, index: usize, server: &Server) -> String {
    let given = workspace.config.sources.get(index).and_then(|source| source.server.as_deref());
    given.map_or_else(|| server.shown(), clean_line)
}

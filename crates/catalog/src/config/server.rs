//! Settings of a server that lists tools or runs them: its command or its address.

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address::shown_address;
use super::server_auth::ServerAuth;
use toolcrib_definition::clean_line;
use toolcrib_definition::secret::SecretPolicy;

/// A server: a `command` that speaks MCP over stdio, or the `url` of an MCP server or of an HTTP API, to which the
/// paths of HTTP backends are added. In values of `env` and `headers`, `${NAME}` stands for the environment variable
/// `NAME`; in `headers` for calls, `${caller:NAME}` stands for that header of the caller's request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Server {
    /// The program that speaks MCP over stdio, and its arguments.
    pub command: Vec<String>,
    /// Environment variables of the program, next to a few such as `PATH` and `HOME`.
    pub env: IndexMap<String, String>,
    /// A file of more variables, relative to the configuration, read at each start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env_file: Option<String>,
    /// Working folder of the program, relative to the configuration.
    pub cwd: Option<PathBuf>,
    /// The address of a server that speaks streamable HTTP.
    pub url: Option<String>,
    /// HTTP headers of requests to the server.
    pub headers: IndexMap<String, String>,
    /// A program that prints more headers as a JSON object, run before each connection.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers_command: Vec<String>,
    /// Seconds for connecting and listing; `timeout_seconds` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub start_seconds: Option<u64>,
    /// Seconds for connecting and listing, 30 when absent. When set, also the longest silence during a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_seconds: Option<u64>,
    /// Most redirects that an HTTP backend follows; each must stay on the same origin.
    pub redirects: usize,
    /// Most times that an HTTP backend repeats a request, if repeating it does no harm.
    pub retries: u32,
    /// The largest result of a call, in bytes.
    #[schemars(range(min = 1))]
    pub max_bytes: usize,
    /// When to start an MCP server.
    pub start: Start,
    /// Whether each client session has its own connection to the MCP server, for servers that keep state.
    pub per_session: bool,
    /// Seconds that the first tool list waits for a new MCP server after the other ones; by default one to five.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_seconds: Option<u64>,
    /// The header in which an HTTP backend expects the idempotency key of a call. With it, writes may be retried too.
    pub idempotency_header: Option<String>,
    /// The identity for calls to the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth: Option<ServerAuth>,
}

/// When to start an MCP server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// With toolcrib.
    #[default]
    Eager,
    /// On its first use, if its list of tools is remembered.
    Lazy,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            env: IndexMap::new(),
            env_file: None,
            cwd: None,
            url: None,
            headers: IndexMap::new(),
            headers_command: Vec::new(),
            start_seconds: None,
            timeout_seconds: None,
            redirects: 0,
            retries: 2,
            max_bytes: 16 << 20,
            start: Start::Eager,
            per_session: false,
            wait_seconds: None,
            idempotency_header: None,
            auth: None,
        }
    }
}

impl Server {
    /// The time that connecting and listing may take.
    pub fn timeout(&self) -> Duration {
        self.start_seconds.or(self.timeout_seconds).map_or(Duration::from_secs(30), bounded)
    }

    /// Longest silence during a call, where it has a limit of its own; at most a year.
    pub fn longest_silence(&self) -> Option<Duration> {
        self.timeout_seconds.map(bounded)
    }

    /// The configured time that the first tool list waits for a new server after the others have listed their tools.
    pub fn wait(&self) -> Option<Duration> {
        self.wait_seconds.map(|seconds| Duration::from_secs(seconds.min(3600)))
    }

    /// Returns the first mistake in `auth`, and its field. The field is empty if the whole table is the mistake.
    pub fn auth_problem(&self) -> Option<(&'static str, &'static str)> {
        let auth = self.auth.as_ref()?;
        let has_header = self.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        match &self.url {
            None => Some(("", "`auth` is for a server with a `url`")),
            Some(_) if has_header => Some(("", "a server has `auth` or a header `Authorization`, not both")),
            Some(_) => auth.problem(),
        }
    }

    /// Its address or its command, without secrets.
    pub fn shown(&self) -> String {
        let policy = SecretPolicy::default();
        match &self.url {
            Some(url) => policy.text(&shown_address(url)).into_owned(),
            None => clean_line(&policy.command_line(&self.command).join(" ")),
        }
    }

    /// Returns the first mistake in these settings.
    pub fn problem(&self) -> Option<&'static str> {
        let is_web = |url: &String| ["http://", "https://", "${"].iter().any(|start| url.starts_with(start));
        match (self.command.first(), &self.url) {
            (None, None) => Some("a server has a `command` or a `url`"),
            (Some(_), Some(_)) => Some("a server has a `command` or a `url`, not both"),
            (Some(program), None) if program.trim().is_empty() => Some("`command` must begin with a program"),
            (None, Some(url)) if !is_web(url) => Some("`url` must start with http:// or https://"),
            _ => None,
        }
    }
}

/// A time of at most a year.
fn bounded(seconds: u64) -> Duration {
    Duration::from_secs(seconds.clamp(1, 365 * 86_400))
}

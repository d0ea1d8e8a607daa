//! A server that is a source of tools or runs them: the command that starts it, or its address.

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ServerAuth;

/// A server: a `command` that is run and speaks MCP, or a `url`, at which MCP is spoken or to which the paths of HTTP
/// backends are added. In values of `env` and `headers`, `${NAME}` stands for the environment variable `NAME`; in
/// `headers` for calls, `${caller:NAME}` stands for that header of the caller's request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Server {
    /// The program and its arguments; it speaks MCP over stdio.
    pub command: Vec<String>,
    /// Its environment variables, beside a few such as `PATH` and `HOME`.
    pub env: IndexMap<String, String>,
    /// Its working folder, relative to the configuration.
    pub cwd: Option<PathBuf>,
    /// The address of a server that speaks streamable HTTP.
    pub url: Option<String>,
    /// The HTTP headers of requests to it.
    pub headers: IndexMap<String, String>,
    /// Longest time of connecting and listing, or of one call, in seconds.
    #[schemars(range(min = 1))]
    pub timeout_seconds: u64,
    /// Most redirects that an HTTP backend follows, all of them to the same origin.
    pub redirects: usize,
    /// Most times that a request of an HTTP backend is sent again, where repeating it does no harm.
    pub retries: u32,
    /// The largest result of a call, in bytes.
    #[schemars(range(min = 1))]
    pub max_bytes: usize,
    /// The time at which an MCP server is started.
    pub start: Start,
    /// Whether each session of a client has a connection to an MCP server of its own, for servers that keep state.
    pub per_session: bool,
    /// Longest wait of the first list of tools for an MCP server that was never seen before, in seconds.
    pub wait_seconds: u64,
    /// The header in which an HTTP backend expects the idempotency key of a call. With it, writes may be retried too.
    pub idempotency_header: Option<String>,
    /// The identity with which it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth: Option<ServerAuth>,
}

/// The time at which an MCP server is started.
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
            cwd: None,
            url: None,
            headers: IndexMap::new(),
            timeout_seconds: 30,
            redirects: 0,
            retries: 2,
            max_bytes: 16 << 20,
            start: Start::Eager,
            per_session: false,
            wait_seconds: 30,
            idempotency_header: None,
            auth: None,
        }
    }
}

impl Server {
    /// Longest time of connecting and listing, or of one call.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds.clamp(1, 3600))
    }

    /// Longest wait of the first list of tools for a server that was never seen before.
    pub fn wait(&self) -> Duration {
        Duration::from_secs(self.wait_seconds.min(3600))
    }

    /// The first mistake in `auth`, and its field; an empty field where it is the table itself.
    pub fn auth_problem(&self) -> Option<(&'static str, &'static str)> {
        let auth = self.auth.as_ref()?;
        let has_header = self.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        match &self.url {
            None => Some(("", "`auth` is for a server with a `url`")),
            Some(_) if has_header => Some(("", "a server has `auth` or a header `Authorization`, not both")),
            Some(_) => auth.problem(),
        }
    }

    /// The mistake in these settings, if there is one.
    pub fn problem(&self) -> Option<&'static str> {
        let is_web = |url: &String| url.starts_with("http://") || url.starts_with("https://");
        match (self.command.first(), &self.url) {
            (None, None) => Some("a server has a `command` or a `url`"),
            (Some(_), Some(_)) => Some("a server has a `command` or a `url`, not both"),
            (Some(program), None) if program.trim().is_empty() => Some("`command` begins with a program"),
            (None, Some(url)) if !is_web(url) => Some("`url` must start with http:// or https://"),
            _ => None,
        }
    }
}

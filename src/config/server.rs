//! A server, as a source of tools or to run them: the command that starts it, or where it answers.

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A server: a `command` that is run and speaks MCP, or a `url`, at which MCP is spoken or to which the paths of HTTP
/// backends are added. In values of `env` and `headers`, `${NAME}` stands for the environment variable `NAME`; in
/// `headers` for calls, `${caller:NAME}` stands for that header of the request of whoever calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Server {
    /// The program and its arguments; it speaks MCP over stdio.
    pub command: Vec<String>,
    /// The variables that it gets, beside a few such as `PATH` and `HOME`.
    pub env: IndexMap<String, String>,
    /// The folder that it runs in, relative to the configuration.
    pub cwd: Option<PathBuf>,
    /// Where a server answers over streamable HTTP.
    pub url: Option<String>,
    /// The HTTP headers that it is sent.
    pub headers: IndexMap<String, String>,
    /// How long connecting and listing, or one call, may take.
    #[schemars(range(min = 1))]
    pub timeout_seconds: u64,
    /// How many redirects an HTTP backend follows, all of them to the same origin.
    pub redirects: usize,
    /// How often a request of an HTTP backend is tried again, where that cannot do harm.
    pub retries: u32,
    /// The most that a call may return.
    #[schemars(range(min = 1))]
    pub max_bytes: usize,
    /// The header in which an HTTP backend wants the idempotency key of a call. With it, writes may be tried again too.
    pub idempotency_header: Option<String>,
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
            idempotency_header: None,
        }
    }
}

impl Server {
    /// How long connecting and listing, or one call, may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds.clamp(1, 3600))
    }

    /// What is wrong with it, if anything is.
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

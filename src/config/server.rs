//! A live MCP server as a source: the command that starts it, or where it answers.

use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A live MCP server: a `command` that is run, or a `url`. In values of `env` and `headers`, `${NAME}` stands for the
/// environment variable `NAME`.
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
    /// How long connecting and listing may take.
    #[schemars(range(min = 1))]
    pub timeout_seconds: u64,
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
        }
    }
}

impl Server {
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

//! Settings of the server: address, names, tool list, tokens and limits.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use super::issuer::ServeIssuer;
use super::proxy::ServeProxy;
use toolcrib_definition::Effect;

/// Settings of the server.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Serve {
    /// The address to listen on; 127.0.0.1:7878 by default.
    pub listen: Option<String>,
    /// Host names under which the server is reached, beside its address.
    pub public_hosts: Vec<String>,
    /// The profiles that a request may choose by its path, beside the one of `--profile`; `*` is every profile. When
    /// absent, every one without `--profile`, and no other with it.
    pub profiles: Option<Vec<String>>,
    /// The address under which callers reach the server, without a path; the one that it listens on when absent. The tokens
    /// of an issuer are for an endpoint below it.
    pub public_url: Option<String>,
    /// Tokens of callers who may come in; without any, an issuer and a proxy, everybody may.
    #[serde(rename = "token")]
    pub tokens: Vec<ServeToken>,
    /// Issuers whose tokens callers may show.
    #[serde(rename = "issuer")]
    pub issuers: Vec<ServeIssuer>,
    /// A proxy in front that names people.
    pub proxy: Option<ServeProxy>,
    /// The functions that the tool list of an MCP client holds.
    pub tool_list: Option<ToolList>,
    /// The tool list of an MCP client: functions of toolcrib, or the catalog's own tools.
    pub mode: ServeMode,
    /// Whether `tool_exec` is listed as two tools, one that reads and one that changes, so that a client can ask a
    /// person about the second.
    pub split_exec: bool,
    /// Limits of requests, connections and times.
    pub limits: ServeLimits,
}

/// The tool list of an MCP client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum ServeMode {
    /// The one on which a whole task is estimated to cost least, by the catalog at the start of the server: `full`, `hybrid` or `gateway`.
    #[default]
    Auto,
    /// Functions of toolcrib, and the catalog's full tools.
    Gateway,
    /// The catalog's tools, with the deferred ones in short form, and the functions that read their docs.
    Hybrid,
    /// The catalog's tools.
    Full,
}

/// The functions that a tool list holds. Every function can be called, whether it is listed or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum ToolList {
    /// Search, help, calls and batches.
    #[default]
    Gateway,
    /// The discovery protocol, and docs.
    Discovery,
    /// Every function.
    All,
}

/// A bearer token. The token itself is in the environment.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["env"]))]
pub struct ServeToken {
    /// The environment variable that holds it.
    pub env: String,
    /// The name of the caller in traces; the variable's name when absent.
    pub name: Option<String>,
    /// The strongest effect of its calls, where it is less than `[exec] allow`.
    pub allow: Option<Effect>,
    /// The roles of the caller: tools with `allowed_roles` are there for these roles only. `*` is every role, and
    /// also lets the caller read the findings of the catalog.
    pub roles: Vec<String>,
    /// The profiles that the caller may use, the first one for requests that choose none; every one when empty.
    pub profiles: Vec<String>,
}

/// Limits of requests, connections and times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ServeLimits {
    /// The longest body of a request, in bytes.
    #[schemars(range(min = 1))]
    pub body_bytes: usize,
    /// Most connections at once.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub connections: usize,
    /// Most calls of tools at once, and of other functions. One caller gets a quarter.
    #[schemars(range(min = 1))]
    pub calls: usize,
    /// Seconds that a client may take: between two requests, to send a head, to send a body, and to read any part of
    /// an answer.
    #[schemars(range(min = 1, max = 86_400))]
    pub client_seconds: u64,
    /// Seconds that a function may take, unless it runs tools.
    #[schemars(range(min = 1, max = 86_400))]
    pub call_seconds: u64,
    /// Seconds after the signal to stop in which `/readyz` says 503 and requests are still answered, so that a proxy sends them to
    /// other servers.
    #[schemars(range(min = 0, max = 86_400))]
    pub drain_seconds: u64,
    /// Seconds to finish the requests in progress after that.
    #[schemars(range(min = 0, max = 86_400))]
    pub stop_seconds: u64,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            body_bytes: 1 << 20,
            connections: 1024,
            calls: 64,
            client_seconds: 30,
            call_seconds: 30,
            drain_seconds: 0,
            stop_seconds: 10,
        }
    }
}

impl ServeLimits {
    /// Longest time between two requests, for a head or a body to arrive, and for a part of an answer to be read.
    pub fn client_time(&self) -> Duration {
        Duration::from_secs(self.client_seconds)
    }

    /// Longest time of a function that runs no tools.
    pub fn call_time(&self) -> Duration {
        Duration::from_secs(self.call_seconds)
    }

    /// Longest time until an answer begins, unless tools are run for it.
    pub fn answer_time(&self) -> Duration {
        self.client_time() + self.call_time()
    }
}

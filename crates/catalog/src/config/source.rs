//! Sources of definitions: files, live servers, and addresses of registries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::difference::Difference;
use super::server::Server;
use super::tool_filter::ToolFilter;

/// A source of definitions.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Source {
    /// A file, a folder or a glob, relative to the configuration; or the `https://` address of a `registry.json`.
    pub path: String,
    /// A live MCP server instead of a path.
    pub mcp: Option<Server>,
    /// The server that the tools belong to, when the source does not say.
    pub server: Option<String>,
    /// The category of tools that have none.
    pub category: Option<String>,
    /// Whether the names of its tools begin with its server: `server__tool`. The default is yes for a client's
    /// configuration and for several live servers, and no for any other source.
    pub prefix: Option<bool>,
    /// The tools of its live server that are there, by name or glob; `!` before a name leaves tools out. When empty, all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Whether the address of an API is the one that its OpenAPI document names first, where no `[server.NAME]` has another.
    pub base_url_from: Option<BaseUrlFrom>,
    /// Place of its server in the configuration of a client.
    #[serde(skip)]
    pub pointer: Option<String>,
    /// Tools of its server that the client uses, where the client's file or `tools` restricts them.
    #[serde(skip)]
    pub filter: Option<ToolFilter>,
    /// What works otherwise for its server here than in its client.
    #[serde(skip)]
    pub differences: Vec<Difference>,
    /// Whether its definitions may name programs and environment variables: `run`, or `read` when absent.
    #[serde(skip_serializing_if = "Trust::is_read")]
    pub trust: Trust,
}

impl Source {
    /// The address of its registry; `None` for files and live servers.
    pub fn address(&self) -> Option<&str> {
        let is_address = self.path.starts_with("https://") || self.path.starts_with("http://");
        (is_address && self.mcp.is_none()).then_some(&*self.path)
    }
}

/// The origin of an API's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BaseUrlFrom {
    /// The OpenAPI document.
    Document,
}

/// Trust of the operator in the definitions of a source.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// The tools are documented. Programs that they name are not run, and a read effect is only a claim.
    #[default]
    Read,
    /// The definitions count as if the operator had written them.
    Run,
}

impl Trust {
    fn is_read(&self) -> bool {
        *self == Trust::Read
    }
}

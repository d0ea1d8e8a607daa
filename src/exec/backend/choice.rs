//! The choice of the backend for a tool, and of the server for a backend.

use std::borrow::Cow;

use super::{BackendError, BackendErrorKind};
use crate::catalog::Tool;
use crate::config::{Config, Server};
use crate::tool::{Backend, HttpBackend};

/// The backend of a tool: the one that its definition names, else the MCP server that it comes from.
pub(super) fn of<'t>(tool: &'t Tool, config: &Config) -> Option<Cow<'t, Backend>> {
    if tool.withheld.is_some() {
        return None;
    }
    if let Some(backend) = &tool.definition.backend {
        return Some(Cow::Borrowed(backend));
    }
    let server = origin(tool, config)?;
    Some(Cow::Owned(Backend::Mcp { server, tool: tool.definition.name.clone() }))
}

/// The MCP server that a tool comes from, under the name that [`mcp_server`] takes: the live source that listed it, or
/// the configured server that its definition names.
fn origin(tool: &Tool, config: &Config) -> Option<String> {
    let listed = Some(tool.place.file.as_str()).filter(|file| mcp_server(config, file).is_some());
    let configured = || tool.server.as_deref().filter(|name| config.servers.contains_key(*name));
    listed.or_else(configured).map(str::to_string)
}

/// The MCP server of this name: a configured one, else a live source, written `mcp:NAME` as in findings.
pub(super) fn mcp_server<'c>(config: &'c Config, name: &str) -> Option<&'c Server> {
    let configured = config.servers.get(name);
    configured.or_else(|| live_source(config, bare(name)))
}

/// A server's name without `mcp:`, as people write it.
pub(super) fn bare(name: &str) -> &str {
    name.strip_prefix("mcp:").unwrap_or(name)
}

fn live_source<'c>(config: &'c Config, name: &str) -> Option<&'c Server> {
    let (_, source) = config.live_sources().find(|(called, _)| bare(called) == name)?;
    source.mcp.as_ref()
}

/// The server of an HTTP backend, with its name: the one that the backend names, else the one of the tool, else the only
/// one in the configuration.
pub(super) fn web_server<'o>(
    backend: &'o HttpBackend,
    tool: &'o Tool,
    config: &'o Config,
) -> Result<(&'o str, &'o Server), BackendError> {
    let servers = &config.servers;
    if let Some(name) = &backend.server {
        return match servers.get_key_value(name) {
            Some((name, server)) if server.url.is_some() => Ok((name, server)),
            Some(_) => Err(BackendError::unconfigured(format!("the server `{name}` has no `url`"))),
            None => Err(not_configured(name, config)),
        };
    }
    let of_tool = tool.server.as_ref().and_then(|name| servers.get_key_value(name));
    let mut with_url = servers.iter().filter(|(_, server)| server.url.is_some());
    let only = || with_url.next().filter(|_| with_url.next().is_none());
    let found = of_tool.filter(|(_, server)| server.url.is_some()).or_else(only);
    let name = tool.server.as_deref().unwrap_or("api");
    found.map(|(name, server)| (name.as_str(), server)).ok_or_else(|| not_configured(name, config))
}

/// The error for a server that is not configured, with the lines to add.
pub(super) fn not_configured(name: &str, config: &Config) -> BackendError {
    let is_bare =
        name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) && !name.is_empty();
    let key = if is_bare { name.to_string() } else { format!("{name:?}") };
    let add = format!("add [server.{key}] with its `url` to toolcrib.toml");
    let known: Vec<&str> = config.servers.keys().map(String::as_str).collect();
    let next = match known.as_slice() {
        [] => add,
        known => format!(
            "set `server` in the tool's `backend` or in its [[source]] to one that toolcrib.toml has ({}), or {add}",
            known.join(", ")
        ),
    };
    BackendError::new(
        BackendErrorKind::Unconfigured,
        format!("the server `{name}` is not configured"),
        format!("tell the operator to {next}; nothing else helps"),
    )
}

//! Which backend runs a tool, and which server a backend means.

use std::borrow::Cow;

use crate::catalog::Tool;
use crate::config::{Config, Server};
use crate::tool::Backend;

/// What runs a tool: what its definition says, else the MCP server that it comes from.
pub(super) fn of<'t>(tool: &'t Tool, config: &Config) -> Option<Cow<'t, Backend>> {
    if let Some(backend) = &tool.definition.backend {
        return Some(Cow::Borrowed(backend));
    }
    let server = origin(tool, config)?;
    Some(Cow::Owned(Backend::Mcp { server, tool: tool.definition.name.clone() }))
}

/// The MCP server that a tool comes from, by the name that [`mcp_server`] finds it by: the live one that listed it, or
/// a configured one that it says to belong to.
fn origin(tool: &Tool, config: &Config) -> Option<String> {
    let listed = Some(tool.place.file.as_str()).filter(|file| mcp_server(config, file).is_some());
    let configured = || tool.server.as_deref().filter(|name| config.servers.contains_key(*name));
    listed.or_else(configured).map(str::to_string)
}

/// The MCP server of this name: a configured one, else a live source, which goes by `mcp:NAME` as in findings.
pub(super) fn mcp_server<'c>(config: &'c Config, name: &str) -> Option<&'c Server> {
    let configured = config.servers.get(name);
    configured.or_else(|| live_source(config, name.strip_prefix("mcp:").unwrap_or(name)))
}

fn live_source<'c>(config: &'c Config, name: &str) -> Option<&'c Server> {
    let mut sources = config.sources.iter().enumerate().filter_map(|(index, source)| {
        let server = source.mcp.as_ref().filter(|server| server.problem().is_none())?;
        Some((source.server.clone().unwrap_or_else(|| (index + 1).to_string()), server))
    });
    sources.find(|(called, _)| called == name).map(|(_, server)| server)
}

//! The configured server of a tool: a web server of an HTTP backend, or an MCP server.

use super::backend_error::{BackendError, BackendErrorKind, Result};
use crate::caller::Caller;
use toolcrib_catalog::Tool;
use toolcrib_catalog::config::{ActsAs, Config, Server, live_server};
use toolcrib_definition::HttpBackend;
use toolcrib_front::credentials::{CallerToken, SignInProblem, acts_as};

/// The MCP server that a tool comes from, under the name that [`mcp_server`] takes: the live source that listed it, or
/// the configured server that its definition names.
pub(super) fn origin(tool: &Tool, config: &Config) -> Option<String> {
    let listed = Some(tool.origin.place.file.as_str()).filter(|file| mcp_server(config, file).is_some());
    let configured = || tool.origin.server.as_deref().filter(|name| config.servers.contains_key(*name));
    listed.or_else(configured).map(str::to_string)
}

/// The MCP server of this name: a configured one, else a live source, written `mcp:NAME` as in findings.
pub(super) fn mcp_server<'c>(config: &'c Config, name: &str) -> Option<&'c Server> {
    let source = || config.live_sources().find(|(called, _)| bare(called) == bare(name));
    config.servers.get(name).or_else(|| source()?.1.mcp.as_ref())
}

/// A server's name without `mcp:`, as people write it.
pub(super) fn bare(name: &str) -> &str {
    live_server(name).unwrap_or(name)
}

/// The server of an HTTP backend, with its name: the one that the backend names, else the one of the tool, else the only
/// one in the configuration.
pub(super) fn web_server<'o>(
    backend: &'o HttpBackend,
    tool: &'o Tool,
    config: &'o Config,
) -> Result<(&'o str, &'o Server)> {
    let servers = &config.servers;
    if let Some(name) = &backend.server {
        return match servers.get_key_value(name) {
            Some((name, server)) if server.url.is_some() => Ok((name, server)),
            Some(_) => Err(BackendError::unconfigured(format!("the server `{name}` has no `url`"))),
            None => Err(not_configured(name, config)),
        };
    }
    let of_tool = tool.origin.server.as_ref().and_then(|name| servers.get_key_value(name));
    let mut with_url = servers.iter().filter(|(_, server)| server.url.is_some());
    let only = || with_url.next().xor(with_url.next());
    let found = of_tool.filter(|(_, server)| server.url.is_some()).or_else(only);
    let name = tool.origin.server.as_deref().unwrap_or("api");
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

/// The token of a caller for a server that is called with it; `None` for other servers.
pub(super) fn caller_token((name, server): (&str, &Server), caller: &Caller) -> Result<Option<CallerToken>> {
    if acts_as(server) != Some(ActsAs::Caller) {
        return Ok(None);
    }
    let missing = || BackendError::of_sign_in(name, &SignInProblem::NoCallerToken);
    let token = caller.token.clone().ok_or_else(missing)?;
    Ok(Some(CallerToken { name: caller.name.clone(), token: Some(token) }))
}

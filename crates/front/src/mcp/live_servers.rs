//! The live servers of a workspace: their endpoints, and their names for people.

use super::endpoint::Endpoint;
use toolcrib_catalog::config::{Server, Workspace};
use toolcrib_catalog::sources::live_servers;
use toolcrib_definition::clean_line;

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

//! What live servers need: variables, tokens, and connections that remember their lists.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::io::Io;
use super::signals::end_after_refreshes;
use toolcrib_catalog::config::env_variables;
use toolcrib_front::credentials::Credentials;
use toolcrib_front::mcp::{Connections, Environment};

/// The variables of a file of the configuration, and of this process.
pub(super) fn environment(io: &Io, file: Option<PathBuf>) -> Environment {
    let io = io.clone();
    let in_file = move |name: &str| file.as_deref().and_then(|file| in_env_file(file, name));
    Environment::new(move |name| in_file(name).or_else(|| io.variable(name)))
}

/// A variable in the file of the configuration, as it stands there now.
fn in_env_file(file: &Path, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    env_variables(&text).into_iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
}

/// The tokens for servers, with the sign-ins in the user's folder of state.
pub(super) fn credentials(io: &Io, environment: Environment) -> Arc<Credentials> {
    end_after_refreshes(io);
    let credentials = Credentials::new(environment);
    Arc::new(match io.state_folder("sign-ins") {
        Some(folder) => credentials.stored_in(folder),
        None => credentials,
    })
}

/// The connections, with a memory for the lists of servers and with sign-ins in the user's folder of state.
pub(super) fn remembering(io: &Io, connections: Connections) -> Connections {
    let environment = connections.environment().clone();
    let connections = connections.with_credentials(credentials(io, environment));
    match remembered_lists(io) {
        Some(folder) => connections.remember_in(folder),
        None => connections,
    }
}

/// The folder of remembered lists.
pub(super) fn remembered_lists(io: &Io) -> Option<PathBuf> {
    io.state_folder("servers")
}

/// Message while these servers have not answered.
pub(super) fn waiting_for(servers: &[String]) -> String {
    if servers.is_empty() {
        "reading the catalog".into()
    } else {
        format!("waiting for {}", servers.join(", "))
    }
}

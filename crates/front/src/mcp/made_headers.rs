//! Headers that a program of the operator makes before each connection, for tokens that live shortly.

use std::process::Stdio;

use indexmap::IndexMap;
use tokio::process::Command;
use tokio::time::timeout;

use super::endpoint::Endpoint;
use super::process::inherited;
use super::secrets::{FilledSecrets, excerpt};
use super::server_problem::ServerProblem;
use toolcrib_catalog::config::Environment;
use toolcrib_definition::clean_line;

/// The headers that the server's `headers_command` prints; none without one.
pub(super) async fn made_headers(
    endpoint: &Endpoint,
    environment: &Environment,
    secrets: &mut FilledSecrets,
) -> Result<IndexMap<String, String>, ServerProblem> {
    let command = endpoint.server.headers_command.iter();
    let command: Result<Vec<_>, _> = command.map(|text| secrets.fill_text(text, environment, None)).collect();
    let command = command?;
    let Some((program, arguments)) = command.split_first() else { return Ok(IndexMap::new()) };
    let mut running = Command::new(program);
    running.args(arguments).current_dir(endpoint.folder()).env_clear().envs(inherited(environment));
    running.envs(endpoint.variables(environment, secrets)?).stdin(Stdio::null()).kill_on_drop(true);
    let output = timeout(endpoint.timeout, running.output()).await.map_err(|_| endpoint.too_slow())?;
    let output = output.map_err(|error| format!("its `headers_command` cannot be run: {error}"))?;
    if !output.status.success() {
        let said = excerpt(&clean_line(&String::from_utf8_lossy(&output.stderr)));
        return Err(format!("its `headers_command` ended with {}: {said}", output.status).into());
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|_| "its `headers_command` did not print a JSON object with texts".to_string().into())
}

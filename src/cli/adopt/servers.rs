//! The servers in a client's file: those that can move, and those that stay, with the reasons.

use std::path::Path;

use super::client_text::{ClientText, OWN, map_of, mistake_in, syntax_mistake};
use super::record::Record;
use super::target::Target;
use super::undo::restored;
use crate::cli::error::{CommandError, failed};
use toolcrib_catalog::config::{self, Source, Workspace};
use toolcrib_definition::clean_line;
use toolcrib_definition::document::pointer_split;

/// The servers in a client's file.
pub(super) struct ClientServers {
    pub(super) workspace: Workspace,
    /// Pointer to the servers.
    pub(super) map: String,
    pub(super) text: ClientText,
    pub(super) names: Vec<String>,
    /// Whether one of them is toolcrib, with the configuration of this adoption.
    pub(super) has_own: bool,
    /// The servers that can move.
    pub(super) moving: Vec<Source>,
    /// Servers that stay in the client's file, with the reasons.
    pub(super) left: Vec<LeftServer>,
}

/// A server that stays in the client's file.
#[derive(Clone, Debug)]
pub(super) struct LeftServer {
    pub(super) name: String,
    pub(super) reason: StayReason,
}

/// Why a server stays in the client's file.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum StayReason {
    /// It cannot be read, is disabled, or is for one project alone: the finding of the catalog.
    #[error("{0}")]
    Unusable(String),
    #[error("no server that toolcrib can start")]
    NoServer,
    #[error("its ${{workspaceFolder}} differs in each window of the client")]
    WorkspaceFolder,
    #[error("`{0}` has a rule for its tools that only the client can apply: remove it, and adopt it again")]
    RuleOfClient(String),
    #[error(
        "its `{0}` switches tools off in a way that `tools` of a [[source]] cannot: simplify it, and adopt the file again"
    )]
    Filter(String),
}

impl ClientServers {
    /// Reads the client's file; `earlier` is its record from an earlier adoption.
    pub(super) fn read(target: &Target, earlier: Option<&Record>) -> Result<Self, CommandError> {
        let shown = target.file.display();
        let workspace = config::read(&target.file);
        if let Some(mistake) = syntax_mistake(&workspace).or_else(|| mistake_in(&target.file)) {
            return Err(failed(format!("{shown} cannot be read; nothing was changed: {mistake}")));
        }
        let Some(map) = map_of(&workspace).or_else(|| earlier.map(|earlier| earlier.map.clone())) else {
            return Err(failed(format!(
                "{shown} has no servers in a table such as `mcpServers`; docs/sources.md has the tables of all clients"
            )));
        };
        let text =
            std::fs::read_to_string(&target.file).map_err(|error| failed(format!("{shown}: {error}")))?;
        let text = ClientText::new(&target.file, text, &map);
        let names =
            text.names().ok_or_else(|| failed(format!("{shown} cannot be read; nothing was changed")))?;
        let has_own = starts_us(&text, &target.folder.configuration());
        let mut moving = Vec::new();
        let mut left = Vec::new();
        for name in names.iter().filter(|name| !has_own || *name != OWN) {
            match movable(&workspace, &text, name, target) {
                Ok(source) => moving.push(source),
                Err(reason) => left.push(LeftServer { name: name.clone(), reason }),
            }
        }
        left.extend(of_projects(&workspace).filter(|server| !names.contains(&server.name)));
        Ok(Self { workspace, map, text, names, has_own, moving, left })
    }

    /// The text that `--undo` brings back: if servers moved earlier, the present one without toolcrib.
    pub(super) fn before(&self, target: &Target, earlier: &[String]) -> Result<String, CommandError> {
        if !self.has_own {
            return Ok(self.text.text.clone());
        }
        let absent: Vec<String> = earlier.iter().filter(|name| !self.names.contains(name)).cloned().collect();
        restored(&self.text, &target.folder, &absent)
    }
}

/// The servers that the client has for one project each, with the reasons why they stay.
fn of_projects(workspace: &Workspace) -> impl Iterator<Item = LeftServer> {
    workspace.findings.iter().filter_map(|finding| {
        let below = finding.place.as_ref()?.pointer.strip_prefix("/projects")?;
        let name = pointer_split(below)?.1.into_owned();
        Some(LeftServer { name, reason: StayReason::Unusable(finding.message.clone()) })
    })
}

/// The source of a server that can be moved, or the reason why it stays.
fn movable(
    workspace: &Workspace,
    text: &ClientText,
    name: &str,
    target: &Target,
) -> Result<Source, StayReason> {
    let sources = &workspace.config.sources;
    let Some(source) = sources.iter().find(|source| source.server.as_deref() == Some(name)) else {
        let pointer = text.pointer(name);
        let mut findings = workspace.findings.iter();
        let finding = findings.find(|finding| finding.place.as_ref().is_some_and(|at| at.pointer == pointer));
        return Err(finding
            .map_or(StayReason::NoServer, |finding| StayReason::Unusable(clean_line(&finding.message))));
    };
    let entry = text.entry(name).unwrap_or_default();
    if !target.is_of_project && entry.contains("${workspaceFolder") {
        return Err(StayReason::WorkspaceFolder);
    }
    let mut source = source.clone();
    if let Some(filter) = &source.filter {
        if let Some(place) = &filter.of_client {
            return Err(StayReason::RuleOfClient(clean_line(place)));
        }
        source.tools = filter.as_list().ok_or_else(|| StayReason::Filter(filter.key.clone()))?;
    }
    if let Some(server) = source.mcp.as_mut().filter(|server| target.is_of_project && server.url.is_none()) {
        server.cwd = Some(workspace.root.join(server.cwd.take().unwrap_or_default()));
    }
    Ok(source)
}

/// Whether the client's entry `toolcrib` runs this configuration.
fn starts_us(text: &ClientText, configuration: &Path) -> bool {
    let path = configuration.to_string_lossy();
    let as_json = serde_json::Value::from(path.as_ref()).to_string();
    text.entry(OWN).is_some_and(|entry| entry.contains(path.as_ref()) || entry.contains(&as_json))
}

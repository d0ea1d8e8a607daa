//! The servers in a client's file: those that can move, and those that stay, with the reasons.

use std::path::{Path, PathBuf};

use super::client_text::{ClientText, OWN, map_of, mistake_in, syntax_mistake};
use super::record::Record;
use super::target::Target;
use super::undo::restored;
use crate::cli::error::{CommandError, failed};
use toolcrib_catalog::config::{self, Server, Source, Workspace};
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
        let has_own = starts_us(&text, &target.named_configuration());
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
        let is_of_others = target.project.is_some() && !target.folder.backup().exists();
        if !self.has_own || is_of_others {
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
    if let Some((server, project)) = source.mcp.as_mut().zip(target.project.as_ref()) {
        name_within(server, project, target.folder.catalog());
    }
    Ok(source)
}

/// Names the files of a project as seen from where each name is read: the folder of the configuration, or that of the server.
fn name_within(server: &mut Server, project: &Path, folder: &Path) {
    let up = |from: &Path| match from.strip_prefix(project).map_or(0, |below| below.components().count()) {
        0 => ".".to_string(),
        depth => vec![".."; depth].join("/"),
    };
    let cwd = server.cwd.take();
    let at_server = up(cwd.as_deref().unwrap_or(project));
    let at_folder = up(folder);
    let project = project.to_string_lossy();
    let within = |text: &mut String, up: &str| *text = without_path(text, &project, up);
    let arguments = server.command.iter_mut().skip(1).chain(&mut server.headers_command);
    arguments.chain(server.env.values_mut()).for_each(|text| within(text, &at_server));
    let files = server.command.first_mut().into_iter().chain(&mut server.env_file);
    files.for_each(|file| within(file, &at_folder));
    let cwd = cwd.map(|cwd| without_path(&cwd.to_string_lossy(), &project, &at_folder));
    server.cwd = cwd.map(PathBuf::from).filter(|cwd| cwd != Path::new("."));
}

/// A text with another path in place of this one, alone or before a file below it.
fn without_path(text: &str, path: &str, other: &str) -> String {
    let mut parts = text.split(path);
    let mut replaced = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let is_whole = part.is_empty() || part.starts_with(std::path::is_separator);
        replaced += if is_whole { other } else { path };
        replaced += part;
    }
    replaced
}

/// Whether the client's entry `toolcrib` runs this configuration.
fn starts_us(text: &ClientText, path: &str) -> bool {
    let as_json = serde_json::Value::from(path).to_string();
    let is_whole = Path::new(path).is_absolute();
    text.entry(OWN).is_some_and(|entry| is_whole && entry.contains(path) || entry.contains(&as_json))
}

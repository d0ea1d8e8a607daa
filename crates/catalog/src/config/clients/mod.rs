//! Configurations of MCP clients, read as they are: each of their servers is a live source.
//!
//! 1. [`table`] has a row for each client, and [`mod@format`] one for each way to write servers.
//! 2. [`mod@file`] recognizes the file of a client, which may have any name.
//! 3. [`entry`] reads a server, with [`placeholder`]s, [`timeouts`] and its [`sign_in`], in the folder of its [`project`]. [`keys`]
//!    says what becomes of each key, and [`differences`] what works otherwise than in the client itself.
//! 4. [`tools`] reads the lists of tools in an entry; [`rules`] finds what the file, and the settings next to it, say of a server
//!    elsewhere.

mod differences;
mod entry;
mod file;
mod format;
mod keys;
mod placeholder;
mod problem;
mod project;
mod rules;
mod sign_in;
mod table;
mod timeouts;
mod tools;

use std::path::Path;

use serde_json::Value;

use super::difference::Difference;
use super::source::Source;
use differences::of_entry;
use entry::server;
use file::{ServerTable, open, referred, starts_or_connects, without_values};
pub use file::{client_format, read_client_text};
pub use format::{TIMEOUT_KEYS, format_of_table};
use problem::EntryProblem;
use project::{Project, settings_of};
use rules::{Rules, is_excluded};
pub use table::{CLIENTS, Client, ClientPlace};
use toolcrib_definition::document::{Document, pointer_join};
use toolcrib_definition::finding::{Code, Finding, Place};
use tools::filter;

/// The configuration of a client.
#[derive(Default)]
pub(super) struct ClientConfig {
    pub(super) document: Option<Document>,
    pub(super) sources: Vec<Source>,
    pub(super) findings: Vec<Finding>,
}

/// Reads a file as the configuration of a client; `None` if its content is something else. A syntax error is then the only finding.
pub(super) fn read(file: &Path, root: &Path) -> Option<ClientConfig> {
    let document = match open(file)? {
        Ok(document) => document,
        Err(unread) => {
            let document = unread.document.map(without_values);
            return Some(ClientConfig {
                document,
                findings: vec![unread.finding],
                ..ClientConfig::default()
            });
        }
    };
    if let Some(servers) = referred(file, &document.value) {
        return read(&servers, servers.parent().unwrap_or(root));
    }
    let mut sources = Vec::new();
    let mut findings = of_projects(&document);
    let table = ServerTable::of(&document.value);
    if table.is_none() && findings.is_empty() {
        return None;
    }
    if let Some(table) = table {
        let reader = ServerReader {
            document: &document.value,
            project: Project::of(root, &document.file, table.format),
            settings: settings_of(&document.file, root),
            table,
        };
        // Other entries are a part of the client.
        let is_server = |entry: &Value| !table.format.has_builtins || starts_or_connects(entry);
        for (name, entry) in table.servers.iter().filter(|(_, entry)| is_server(entry)) {
            let pointer = pointer_join(table.pointer, name);
            let place = |key: &str| Place::new(&document.file, pointer_join(&pointer, key));
            match reader.source(name, entry) {
                Ok(Some(source)) => {
                    findings.extend(source.differences.iter().map(|difference| {
                        let message = format!("the server `{name}`: {difference}");
                        Finding::new(Code::ClientSetting, message).at(place(difference.key()))
                    }));
                    sources.push(source);
                }
                unused => {
                    let place = Place::new(&document.file, pointer.clone());
                    findings.push(why_unused(name, unused.err()).at(place));
                }
            }
        }
    }
    Some(ClientConfig { document: Some(without_values(document)), sources, findings })
}

/// What the servers of a file are read with.
struct ServerReader<'d> {
    document: &'d Value,
    table: ServerTable<'d>,
    project: Project,
    settings: Result<Vec<Value>, EntryProblem>,
}

impl ServerReader<'_> {
    /// The source of a server, with the tools of it that the client uses; `None` if it is disabled.
    fn source(&self, name: &str, entry: &Value) -> Result<Option<Source>, EntryProblem> {
        let Self { document, table, project, settings } = self;
        let is_excluded = is_excluded(document, name)?;
        let settings = settings.as_ref().map_err(Clone::clone)?;
        let of_project = if project.has_rules { project.folder.to_string_lossy() } else { "".into() };
        let mut rules = Rules::new(name, *table, &of_project);
        [*document].into_iter().chain(settings).for_each(|value| rules.read(value));
        let read = if is_excluded || rules.deny_all() { None } else { server(entry, project, table.format)? };
        let mut differences = entry.as_object().map(of_entry).unwrap_or_default();
        differences.extend(rules.allowed.drain(..).map(|place| Difference::Allowed { place }));
        let filter = filter(entry, name, table.rules_for_all(document), &mut differences)?;
        let filter = rules.added_to(filter);
        Ok(read.map(|(server, rounded)| Source {
            mcp: Some(server),
            filter,
            differences: differences.into_iter().chain(rounded).collect(),
            server: Some(name.to_string()),
            prefix: Some(true),
            pointer: Some(pointer_join(table.pointer, name)),
            ..Source::default()
        }))
    }
}

/// The finding about a server that is disabled, or that has a problem.
fn why_unused(name: &str, problem: Option<EntryProblem>) -> Finding {
    let Some(problem) = problem else {
        return Finding::new(Code::ServerDisabled, format!("the server `{name}` is disabled"));
    };
    Finding::new(Code::ConfigInvalid, format!("the server `{name}`: {problem}")).help(if matches!(problem, EntryProblem::Sse) {
        "name its address for streamable HTTP, which often ends in `/mcp` in place of `/sse`, with `\"type\": \"http\"`; or start a program that speaks both"
    } else {
        "correct this entry in the client's file"
    })
}

/// The servers that Claude Code has for one project each, as `claude mcp add` writes them: they are used nowhere else.
fn of_projects(document: &Document) -> Vec<Finding> {
    let projects = document.value.get("projects").and_then(Value::as_object).into_iter().flatten();
    let servers = projects.flat_map(|(project, settings)| {
        let servers = settings.get("mcpServers").and_then(Value::as_object).into_iter().flatten();
        servers.filter(|(_, entry)| starts_or_connects(entry)).map(move |(name, _)| {
            let message = format!("the server `{name}` is for the project {project} alone, and is left out");
            let pointer = pointer_join(&pointer_join("/projects", project), "mcpServers");
            let finding = Finding::new(Code::ServerDisabled, message);
            finding.at(Place::new(&document.file, pointer_join(&pointer, name))).help(
                "`claude mcp add --scope user` adds it for all projects, and `--scope project` to `.mcp.json` there; adopt that file",
            )
        })
    });
    servers.collect()
}

#[cfg(test)]
mod tests;

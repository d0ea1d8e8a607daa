//! Turns the tool lists of live servers into documents like those of files. `mcp` asks the servers for the lists.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::introduction::Introduction;
use super::judge::judged;
use crate::config::{MissingVariable, Server, Source, Workspace, live_name};
use toolcrib_definition::clean_line;
use toolcrib_definition::document::{Document, Format};
use toolcrib_definition::finding::{Code, Finding, Place};

/// Most characters of a server's title.
const MAX_TITLE: usize = 60;

/// Result of asking one server for its tools, and the reason if the server does not answer now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The server's last tool list, as a dump.
    pub tools: Option<Arc<str>>,
    /// Number of the tools.
    pub count: usize,
    /// What the server says of itself. Its title becomes the category of its tools.
    pub introduction: Option<Introduction>,
    /// Whether the server speaks the older protocol.
    pub is_older: bool,
    /// Why there is no list.
    pub problem: Option<NoList>,
    /// Mistakes in the list as the server sent it, each with what was done about it.
    pub notes: Vec<String>,
}

/// The reason why a server gives no list now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoList {
    /// A variable that it needs is not set.
    #[error(transparent)]
    NotSet(#[from] MissingVariable),
    /// Another reason, with the next step.
    #[error("{0}")]
    Other(String),
}

impl Listing {
    /// A listing that failed.
    pub fn problem(problem: NoList) -> Self {
        Self { problem: Some(problem), ..Self::default() }
    }

    /// The same list, and after its tools those of another list that it lacks.
    pub fn with_more(self, other: &Listing) -> Self {
        let (Some(tools), Some(others)) = (&self.tools, &other.tools) else { return self };
        let (mut all, mut names) = (written_tools(tools), HashSet::new());
        names.extend(all.iter().map(|tool| name_of(tool)));
        let more = written_tools(others).into_iter().filter(|tool| names.insert(name_of(tool)));
        all.extend(more.collect::<Vec<_>>());
        if all.len() == self.count {
            return self;
        }
        let tools = all.iter().map(|tool| tool.get()).collect::<Vec<_>>().join(",\n");
        Self { count: all.len(), tools: Some(format!("{{\"tools\": [\n{tools}\n]}}\n").into()), ..self }
    }
}

/// The tools of a dump, each as it is written.
fn written_tools(dump: &str) -> Vec<&RawValue> {
    #[derive(Deserialize)]
    struct Dump<'t> {
        #[serde(borrow)]
        tools: Vec<&'t RawValue>,
    }
    serde_json::from_str::<Dump<'_>>(dump).map(|dump| dump.tools).unwrap_or_default()
}

fn name_of(tool: &RawValue) -> Option<String> {
    let tool: Value = serde_json::from_str(tool.get()).ok()?;
    tool.get("name")?.as_str().map(str::to_string)
}

/// Tool lists of a workspace's live servers; empty if no server was asked.
#[derive(Clone, Debug, Default)]
pub struct Listings {
    /// The lists, by the number of their source.
    pub by_source: BTreeMap<usize, Listing>,
    /// The servers that have not answered yet, and may do so soon.
    pub awaited: Option<Awaited>,
}

/// New servers that may list their tools soon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// Their names.
    pub servers: Vec<String>,
    /// The time until which a tool list waits for these servers.
    pub until: Instant,
}

impl Listings {
    /// The servers that have not answered yet, and may do so soon.
    pub fn awaited(&self) -> Option<&Awaited> {
        self.awaited.as_ref()
    }
}

/// A workspace's servers with valid settings, each with the index of its source.
pub fn live_servers(workspace: &Workspace) -> impl Iterator<Item = (usize, &Server)> {
    let sources = workspace.config.sources.iter().enumerate();
    sources.filter_map(|(index, source)| {
        let server = source.mcp.as_ref().filter(|server| server.problem().is_none())?;
        Some((index, server))
    })
}

/// The list of one source.
pub(super) struct ServerListing {
    /// The number of the source.
    pub(super) index: usize,
    /// The source. If the configuration does not name its server, the server's name for itself is used.
    pub(super) source: Source,
    /// The tools as a dump, or why they could not be listed.
    pub(super) document: Result<Document, Finding>,
    /// Mistakes in the list, and the reason why it may be out of date.
    pub(super) findings: Vec<Finding>,
}

/// The lists as documents, like those of files.
pub(super) fn answers(workspace: &Workspace, listings: &Listings) -> Vec<ServerListing> {
    live_servers(workspace).map(|(index, _)| answer(workspace, listings, index)).collect()
}

fn answer(workspace: &Workspace, listings: &Listings, index: usize) -> ServerListing {
    let mut source = workspace.config.sources.get(index).cloned().unwrap_or_default();
    let name = live_name(&source.server.clone().unwrap_or_else(|| (index + 1).to_string()));
    let found = |code: Code, message: String| {
        let finding = Finding::new(code, message);
        match &workspace.document {
            Some(config) => {
                let of_client = workspace.config.sources.get(index).and_then(|source| source.pointer.clone());
                let pointer = of_client.unwrap_or_else(|| format!("/source/{index}/mcp"));
                finding.at(Place::new(&config.file, pointer))
            }
            None => finding,
        }
    };
    let Some(listing) = listings.by_source.get(&index) else {
        let finding = found(Code::SourceUnreachable, format!("{name} was not contacted"));
        let document =
            Err(finding.help("its tools appear once toolcrib may contact it, without --offline for example"));
        return ServerListing { index, source, document, findings: Vec::new() };
    };
    let server_info = listing.introduction.as_ref().map(|introduction| &introduction.server_info);
    source.server = source.server.or_else(|| server_info.and_then(|info| info.name.clone()));
    // The title becomes one segment of a category path, so it must not contain a slash.
    let titled =
        |title: &str| clean_line(&title.replace('/', " ")).chars().take(MAX_TITLE).collect::<String>();
    let title = server_info.and_then(|info| info.title.as_deref()).map(titled);
    source.category = source.category.or(title.filter(|title| !title.is_empty()));
    let Some(tools) = &listing.tools else {
        let problem = listing.problem.as_ref().map_or("no answer".into(), ToString::to_string);
        let finding = found(Code::SourceUnreachable, format!("{name} gives no tools: {problem}"));
        let document = Err(match &listing.problem {
            Some(NoList::NotSet(_)) => finding.help("set it before toolcrib starts; `${input:my-key}` of VS Code stands for the variable MY_KEY here"),
            _ => finding,
        });
        return ServerListing { index, source, document, findings: Vec::new() };
    };
    let stale = listing.problem.as_ref().map(|problem| {
        let message = format!("{name} cannot be reached, and its last known tools are kept: {problem}");
        found(Code::SourceStale, message)
    });
    let (tools, judged) = judged(tools, &name, source.filter.as_ref());
    let noted = |note: &String| {
        let message = format!("in the list of {name}: {note}");
        Finding::new(Code::DefinitionLeftOut, message).at(Place::new(&name, ""))
    };
    let noted = listing.notes.iter().map(noted);
    let findings = stale.into_iter().chain(noted).chain(judged).collect();
    let document = Document::parse(&name, tools.into_bytes(), Format::Json);
    ServerListing { index, source, document, findings }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(tools: &str) -> Listing {
        let count = written_tools(tools).len();
        Listing { tools: Some(tools.into()), count, ..Listing::default() }
    }

    #[test]
    fn a_list_gets_the_tools_that_it_lacks() {
        let shared = listing(r#"{"tools": [{"name":"a","x":1e30},{"name":"b"}]}"#);
        let same = shared.clone().with_more(&listing(r#"{"tools": [{"name":"b","x":2}]}"#));
        assert_eq!(same, shared);
        let more = shared.clone().with_more(&listing(r#"{"tools": [{"name":"c"},{"name":"a"}]}"#));
        let expect = "{\"tools\": [\n{\"name\":\"a\",\"x\":1e30},\n{\"name\":\"b\"},\n{\"name\":\"c\"}\n]}\n";
        assert_eq!((more.tools.as_deref(), more.count), (Some(expect), 3));
        assert_eq!(shared.clone().with_more(&Listing::default()), shared);
    }
}

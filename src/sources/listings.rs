//! The lists of live servers, as documents like those of files. `mcp` asks the servers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crate::config::{Server, Source, Workspace};
use crate::finding::{Code, Document, Finding, Format, Limits, Place};
use crate::tool::clean_line;

/// Most characters of a server's title.
const MAX_TITLE: usize = 60;

/// Result of listing one server, and the reason why it does not answer now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// Its last list, as a dump.
    pub(super) tools: Option<Arc<str>>,
    /// Number of the tools.
    pub(super) count: usize,
    /// Its own name.
    pub(super) server: Option<String>,
    /// Its title, for people: the category of its tools.
    pub(super) title: Option<String>,
    /// Whether it speaks the older protocol.
    pub(super) is_older: bool,
    pub(super) problem: Option<String>,
}

impl Listing {
    pub(super) fn problem(problem: impl Into<String>) -> Self {
        Self { problem: Some(problem.into()), ..Self::default() }
    }
}

/// Lists of the live servers of a workspace. Empty: no server was asked.
#[derive(Clone, Debug, Default)]
pub struct Listings {
    /// The lists, by the number of their source.
    pub(super) by_source: BTreeMap<usize, Listing>,
    /// The servers that have not answered yet, and may do so soon.
    pub(super) awaited: Option<Awaited>,
}

/// New servers that may list their tools soon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// Their names.
    pub servers: Vec<String>,
    /// The time until which a list of tools waits for them.
    pub until: Instant,
}

impl Listings {
    /// The servers that have not answered yet, and may do so soon.
    pub fn awaited(&self) -> Option<&Awaited> {
        self.awaited.as_ref()
    }
}

/// The servers of a workspace whose address is complete, by the number of their source.
pub(super) fn live_servers(workspace: &Workspace) -> impl Iterator<Item = (usize, &Server)> {
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
    /// The source, with the server's own name if it has no other.
    pub(super) source: Source,
    /// The tools as a dump, or the reason why there are none.
    pub(super) document: Result<Document, Finding>,
    /// Reason why they may be out of date.
    pub(super) stale: Option<Finding>,
}

/// The lists as documents, like those of files.
pub(super) fn answers(workspace: &Workspace, listings: &Listings, limits: &Limits) -> Vec<ServerListing> {
    live_servers(workspace).map(|(index, _)| answer(workspace, listings, limits, index)).collect()
}

fn answer(workspace: &Workspace, listings: &Listings, limits: &Limits, index: usize) -> ServerListing {
    let mut source = workspace.config.sources.get(index).cloned().unwrap_or_default();
    let name = format!("mcp:{}", source.server.clone().unwrap_or_else(|| (index + 1).to_string()));
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
            Err(finding.help("its tools are there when nothing forbids contact, as --offline does"));
        return ServerListing { index, source, document, stale: None };
    };
    source.server = source.server.or_else(|| listing.server.clone());
    // A title is one segment of a path.
    let titled =
        |title: &String| clean_line(&title.replace('/', " ")).chars().take(MAX_TITLE).collect::<String>();
    let title = listing.title.as_ref().map(titled).filter(|title| !title.is_empty());
    source.category = source.category.or(title);
    let problem = listing.problem.as_deref().unwrap_or("no answer");
    let Some(tools) = &listing.tools else {
        let document = Err(found(Code::SourceUnreachable, format!("{name} gives no tools: {problem}")));
        return ServerListing { index, source, document, stale: None };
    };
    let stale = listing.problem.as_ref().map(|problem| {
        let message = format!("{name} cannot be reached, and its last known tools are kept: {problem}");
        found(Code::SourceStale, message)
    });
    let document = Document::parse(&name, tools.as_bytes().to_vec(), Format::Json, limits);
    ServerListing { index, source, document, stale }
}

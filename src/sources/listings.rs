//! The tools that live servers listed, as documents like those of files. Asking the servers is up to `mcp`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::{Server, Source, Workspace};
use crate::finding::{Code, Document, Finding, Format, Limits, Place};

/// What one server listed, and why it does not answer now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// What it listed last, as a dump.
    pub(super) tools: Option<Arc<str>>,
    /// What it calls itself.
    pub(super) server: Option<String>,
    pub(super) problem: Option<String>,
}

impl Listing {
    pub(super) fn problem(problem: impl Into<String>) -> Self {
        Self { problem: Some(problem.into()), ..Self::default() }
    }
}

/// What the live servers of a workspace listed, by the number of their source. None: nobody was asked.
#[derive(Clone, Debug, Default)]
pub struct Listings(pub(super) BTreeMap<usize, Listing>);

/// The servers of a workspace that can be reached at all, by the number of their source.
pub(super) fn live_servers(workspace: &Workspace) -> impl Iterator<Item = (usize, &Server)> {
    let sources = workspace.config.sources.iter().enumerate();
    sources.filter_map(|(index, source)| {
        let server = source.mcp.as_ref().filter(|server| server.problem().is_none())?;
        Some((index, server))
    })
}

/// What one source gives.
pub(super) struct ServerListing {
    /// The number of the source.
    pub(super) index: usize,
    /// The source, with the server's own name if it has no other.
    pub(super) source: Source,
    /// The tools, as a dump, or why there are none.
    pub(super) document: Result<Document, Finding>,
    /// Why they may be out of date.
    pub(super) stale: Option<Finding>,
}

/// The listings as documents, like those of files.
pub(super) fn answers(workspace: &Workspace, listings: &Listings, limits: &Limits) -> Vec<ServerListing> {
    live_servers(workspace).map(|(index, _)| answer(workspace, listings, limits, index)).collect()
}

fn answer(workspace: &Workspace, listings: &Listings, limits: &Limits, index: usize) -> ServerListing {
    let mut source = workspace.config.sources.get(index).cloned().unwrap_or_default();
    let name = format!("mcp:{}", source.server.clone().unwrap_or_else(|| (index + 1).to_string()));
    let found = |code: Code, message: String| {
        let finding = Finding::new(code, message);
        match &workspace.document {
            Some(config) => finding.at(Place::new(&config.file, format!("/source/{index}/mcp"))),
            None => finding,
        }
    };
    let Some(listing) = listings.0.get(&index) else {
        let finding = found(Code::SourceUnreachable, format!("{name} was not contacted"));
        let document =
            Err(finding.help("its tools are there when nothing forbids contact, as --offline does"));
        return ServerListing { index, source, document, stale: None };
    };
    source.server = source.server.or_else(|| listing.server.clone());
    let problem = listing.problem.as_deref().unwrap_or("no answer");
    let Some(tools) = &listing.tools else {
        let document = Err(found(Code::SourceUnreachable, format!("{name} gives no tools: {problem}")));
        return ServerListing { index, source, document, stale: None };
    };
    let stale = listing.problem.as_ref().map(|problem| {
        let message = format!("{name} is away, and its last known tools are kept: {problem}");
        found(Code::SourceStale, message)
    });
    let document = Document::parse(&name, tools.as_bytes().to_vec(), Format::Json, limits);
    ServerListing { index, source, document, stale }
}

//! Reads, assembles and checks the catalog of a workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::assemble::assemble;
use crate::catalog::Catalog;
use crate::config::{Server, Workspace};
use crate::findings::{Findings, Unlinted};
use crate::own_output::{refuse_own_output, without_copies};
use crate::sources::{Awaited, Listings, Loaded, load};
use toolcrib_definition::finding::Severity;

/// A catalog with all findings about it.
#[derive(Debug, Default)]
pub struct Checked {
    /// The catalog of all input that could be read.
    pub catalog: Catalog,
    /// Findings, located, with configured severities.
    pub findings: Findings,
    /// The files, for excerpts.
    pub documents: Vec<toolcrib_definition::document::Document>,
    /// The files that definitions refer to, also those that could not be read; relative to the catalog.
    pub parts: BTreeSet<String>,
    /// The registry version in each `registry.json` that was read.
    pub registries: BTreeMap<String, String>,
    /// The live servers that have not answered yet, and may do so soon.
    pub awaited: Option<Awaited>,
}

impl Checked {
    /// Number of findings of this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.count(severity)
    }

    /// Whether some of the input is missing from the catalog.
    pub fn lost_input(&self) -> bool {
        self.findings.errors().any(|finding| finding.code.loses_input())
    }
}

/// Reads, builds and checks the catalog of a workspace. Live servers that it names are not contacted.
pub fn open(workspace: Workspace) -> Checked {
    open_with(workspace, &Listings::default())
}

/// Reads, builds and checks the catalog of a workspace, with these listings of its live servers.
pub fn open_with(mut workspace: Workspace, listings: &Listings) -> Checked {
    let Loaded { tools, categories, mut documents, parts, registries, bases, findings } =
        load(&workspace, listings);
    documents.extend(workspace.document.take());
    for (name, url) in bases {
        let server = Server { url: Some(url), ..Server::default() };
        workspace.config.servers.entry(name).or_insert(server);
    }
    let mut all = std::mem::take(&mut workspace.findings);
    all.extend(findings);
    let tools = refuse_own_output(tools, &mut all);
    let tools = without_copies(tools, &registries, &mut all);
    let (catalog, lint) = assemble(workspace, tools, categories, &mut all);
    let findings = Findings::unlinted(Unlinted {
        findings: all,
        lint,
        config: Arc::clone(&catalog.config),
        documents: documents.clone(),
        parts: parts.clone(),
    });
    let awaited = listings.awaited().cloned();
    let mut checked = Checked { catalog, findings, documents, parts, registries, awaited };
    checked.catalog.complete = !checked.lost_input();
    checked
}

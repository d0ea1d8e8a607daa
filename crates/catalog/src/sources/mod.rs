//! Sources of definitions: bytes in, raw tools out.
//!
//! 1. [`files`] lists the definition files of each source, in a fixed order.
//! 2. Each is read and parsed, in parallel, within limits.
//! 3. [`mod@import`] makes tools of one document. [`openapi`] reads OpenAPI; [`mod@collect`] finds tools in all other documents, in
//!    any container; [`shape`] tells them from other objects by the keys of [`formats`], and [`read_tool`] reads each.
//! 4. `address` fetches registries. `mcp` lists live servers; [`listings`] turns their lists into documents like those of files,
//!    once [`judge`] has repaired each definition.
//! 5. Schemas get back the exact bytes of the file. One that refers to other files is bundled ([`parts::bundle_all`]); an OpenAPI
//!    document is read together with its files ([`parts::combine`]).

mod budget;
pub mod collect;
mod files;
mod formats;
mod import;
mod introduction;
mod judge;
pub mod listings;
pub mod openapi;
mod parts;
mod pattern;
mod raw_tool;
mod read_tool;
mod ref_visitor;
mod shape;
mod unique_names;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use rayon::prelude::*;

use crate::config::{Category, Source, Workspace, shown_address};
pub use collect::collect;
pub use files::{entries, roots};
pub use import::registry_version;
use import::{ImportedFile, import};
pub use introduction::{Introduction, ServerInfo};
pub use listings::{Awaited, Listing, Listings, NoList, live_servers};
pub use parts::PartPlaces;
use parts::{Parts, References};
pub use raw_tool::{Origin, RawTool};
pub use read_tool::read_native;
use toolcrib_definition::document::{Document, Format, Unread, open};
use toolcrib_definition::finding::{Code, Finding, Place};

/// All loaded tools, files and findings.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The tools, in the order of the sources.
    pub tools: Vec<RawTool>,
    /// The categories that sources describe.
    pub categories: Vec<Category>,
    /// The files, kept to locate findings.
    pub documents: Vec<Document>,
    /// The files that definitions refer to, also those that could not be read; relative to the catalog.
    pub parts: BTreeSet<String>,
    /// The registry version in each file that is a `registry.json` of ours.
    pub registries: BTreeMap<String, String>,
    /// Addresses of APIs that their documents name, by server, where the operator says so.
    pub bases: Vec<(String, String)>,
    /// Mistakes in them.
    pub findings: Vec<Finding>,
}

/// Loads all sources of a workspace; `listings` are from its live servers.
pub fn load(workspace: &Workspace, listings: &Listings) -> Loaded {
    let mut loaded = Loaded::default();
    let files = files::list(workspace, &mut loaded.findings);
    let parts = Parts::new(&workspace.root);
    let read = |file: &files::File<'_>| -> Result<ImportedFile, Box<Unread>> {
        let path = if file.source.path.is_empty() { &file.shown } else { &file.source.path };
        let origin = Origin {
            trust: file.trust,
            path: Some(path.clone()),
            server: file.source.server.clone(),
            prefix: file.source.prefix.unwrap_or(false),
        };
        let references = Some(References::new(&parts));
        let document = translated(open(&file.path, &file.shown)?, &file.path, workspace);
        Ok(import(document, file.source, origin, file.named, references, &workspace.config.servers))
    };
    let mut parsed: Vec<(usize, Result<ImportedFile, Box<Unread>>)> =
        files.par_iter().map(|file| (file.index, read(file))).collect();
    // A server or an address has no say over files.
    let alone = |document: Result<Document, Finding>, source: &Source, origin: Origin| match document {
        Ok(document) => Ok(import(document, source, origin, true, None, &workspace.config.servers)),
        Err(finding) => Err(Box::<Unread>::from(finding)),
    };
    let has_several = listings::live_servers(workspace).nth(1).is_some();
    for answer in listings::answers(workspace, listings) {
        loaded.findings.extend(answer.findings);
        let source = workspace.config.sources.get(answer.index);
        let server = source.and_then(|source| source.server.clone());
        let prefix = source.and_then(|source| source.prefix).unwrap_or(has_several);
        let origin = Origin { server, prefix, ..Origin::default() };
        parsed.push((answer.index, alone(answer.document, &answer.source, origin)));
    }
    for (index, source) in workspace.config.sources.iter().enumerate() {
        let Some(address) = source.address() else { continue };
        let path = Some(address.into());
        let server = source.server.clone();
        let origin = Origin { path, server, ..Origin::default() };
        parsed.push((index, alone(fetched(workspace, index, address), source, origin)));
    }
    if let Some(document) = workspace.definitions.clone() {
        let origin = Origin { path: Some(document.file.clone()), ..Origin::default() };
        parsed.push((usize::MAX, alone(Ok(document), &Source::default(), origin)));
    }
    parsed.sort_by_key(|(index, _)| *index);
    loaded.add(parsed);
    loaded
}

/// The manifest of a VS Code extension with its texts, which are in a file beside it, in place of `%key%`.
fn translated(document: Document, path: &Path, workspace: &Workspace) -> Document {
    if document.value.pointer(&format!("/contributes/{}", collect::EXTENSION)).is_none() {
        return document;
    }
    let beside = Some(path.with_file_name("package.nls.json")).filter(|file| workspace.may_read(file));
    let beside = beside.and_then(|file| open(&file, "package.nls.json").ok());
    let mut text = document.text.to_string();
    for (key, value) in beside.iter().filter_map(|beside| beside.value.as_object()).flatten() {
        let value = value.get("message").unwrap_or(value);
        text = text.replace(&serde_json::Value::from(format!("%{key}%")).to_string(), &value.to_string());
    }
    Document::read(&document.file, text.into_bytes(), document.format).unwrap_or(document)
}

/// The registry of the source with this number.
fn fetched(workspace: &Workspace, index: usize, address: &str) -> Result<Document, Finding> {
    let shown = shown_address(address);
    let unreachable = |message: String, help: &str| {
        let finding = Finding::new(Code::SourceUnreachable, message).help(help);
        match &workspace.document {
            Some(config) => finding.at(Place::new(&config.file, format!("/source/{index}/path"))),
            None => finding,
        }
    };
    match workspace.fetched.get(address) {
        Some(Ok(text)) => Document::parse(&shown, text.as_bytes().to_vec(), Format::Json),
        Some(Err(problem)) => Err(unreachable(format!("cannot fetch {shown}: {problem}"), ADDRESS_HELP)),
        None => Err(unreachable(
            format!("{shown} was not asked"),
            "its tools appear once toolcrib may contact it, without --offline for example",
        )),
    }
}

/// The next step where an address gives no registry.
pub const ADDRESS_HELP: &str = "an address has a registry.json, which `toolcrib render` writes; download other definitions, and name the file";

impl Loaded {
    /// Adds the files in their order. A file that others refer to, and that has no tools to call, is a part of theirs alone.
    fn add(&mut self, parsed: Vec<(usize, Result<ImportedFile, Box<Unread>>)>) {
        let imported = || parsed.iter().filter_map(|(_, result)| result.as_ref().ok());
        self.parts = imported().flat_map(|file| file.parts.iter().cloned()).collect();
        let mut texts = Vec::new();
        let mut shown = HashSet::new();
        for (_, result) in parsed {
            match result {
                Ok(file) => {
                    if !(file.is_bare && self.parts.contains(&file.document.file)) {
                        self.tools.extend(file.tools);
                        self.categories.extend(file.categories);
                        self.bases.extend(file.bases);
                        self.findings.extend(file.findings);
                    }
                    self.registries
                        .extend(file.registry.map(|version| (file.document.file.clone(), version)));
                    texts.extend(file.texts);
                    shown.insert(file.document.file.clone());
                    self.documents.push(file.document);
                }
                Err(unread) => {
                    self.findings.push(unread.finding);
                    self.documents.extend(unread.document);
                }
            }
        }
        texts.retain(|text: &Document| shown.insert(text.file.clone()));
        self.documents.extend(texts);
    }
}

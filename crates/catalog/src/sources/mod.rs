//! Sources of definitions: bytes in, raw tools out.
//!
//! 1. [`files`] lists the definition files of each source, in a fixed order.
//! 2. Each is read and parsed, in parallel, within limits.
//! 3. [`openapi`] reads OpenAPI documents; [`mod@collect`] finds tools in all other documents, in any container;
//!    [`formats`] tells them from other objects, and reads each in its format.
//! 4. `address` fetches registries. `mcp` lists live servers; [`listings`] turns their lists into documents like those of files,
//!    once each definition has been judged and repaired.
//! 5. Schemas get back the exact bytes of the file. One that refers to other files is bundled ([`parts::bundle_all`]); an OpenAPI document is read together with its files ([`parts::combine`]).

pub mod collect;
mod files;
mod formats;
pub mod listings;
pub mod openapi;
mod parts;

pub use collect::collect;
pub use files::{entries, roots};
pub use formats::read_native;
pub use listings::{Awaited, LIVE, Listing, Listings, live_servers};
pub use parts::PartPlaces;
use std::path::Path;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;
use rayon::prelude::*;

use crate::config::{BaseUrlFrom, Category, Server, Source, Trust, Workspace, shown_address};
use crate::sample::Sample;
use parts::{Parts, References};
use toolcrib_definition::finding::{Code, Document, Finding, Format, Place, Severity, Unread, open};
use toolcrib_definition::{Backend, CategoryPath, Definition, Schema, quoted};

/// One tool as its source gives it.
#[derive(Clone, Debug, Default)]
pub struct RawTool {
    /// The definition, in native fields.
    pub definition: Definition,
    /// The server it belongs to.
    pub server: Option<String>,
    /// Place of the tool.
    pub place: Place,
    /// Place of its name and description below that; a JSON Pointer from the root.
    pub body: String,
    /// Place of its parameters, where the source holds them unchanged.
    pub parameters: Option<String>,
    /// Places in other files, where its schemas are bundled from several.
    pub part_places: Option<Arc<PartPlaces>>,
    /// Whether some of its arguments could not be read, so that it cannot be called.
    pub lost_arguments: bool,
    /// The call that a registry has: it was made from more than the registry says.
    pub call: Option<Sample>,
    /// Settings of its source.
    pub origin: Arc<Origin>,
}

/// Settings of the source of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Trust in its definitions.
    pub trust: Trust,
    /// The `path` of the source, or of the file where no source is configured; `None` for a live server.
    pub path: Option<String>,
    /// The `server` of the source.
    pub server: Option<String>,
    /// Whether the names of its tools begin with the server.
    pub prefix: bool,
}

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
    let read = |file: &files::File<'_>| -> Result<Imported, Box<Unread>> {
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
    let mut parsed: Vec<(usize, Result<Imported, Box<Unread>>)> =
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

/// The version of a document that is a `registry.json`.
pub fn registry_version(document: &serde_json::Value) -> Option<&str> {
    document.get("registry_version")?.as_str()
}

impl Loaded {
    /// Adds the files in their order. A file that others refer to, and that has no tools to call, is a part of theirs alone.
    fn add(&mut self, parsed: Vec<(usize, Result<Imported, Box<Unread>>)>) {
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

struct Imported {
    document: Document,
    /// Whether it has no tools that could be called.
    is_bare: bool,
    registry: Option<String>,
    tools: Vec<RawTool>,
    categories: Vec<Category>,
    /// The servers with the addresses that the document names.
    bases: Vec<(String, String)>,
    findings: Vec<Finding>,
    /// The files that its definitions refer to.
    parts: BTreeSet<String>,
    /// Their texts.
    texts: Vec<Document>,
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

fn import(
    mut document: Document,
    source: &Source,
    origin: Origin,
    named: bool,
    mut references: Option<References<'_>>,
    servers: &IndexMap<String, Server>,
) -> Imported {
    let mut categories = Vec::new();
    let mut bases = Vec::new();
    let is_openapi = openapi::recognise(&document.value);
    let registry = registry_version(&document.value).map(str::to_string);
    let (mut tools, mut findings) = if is_openapi {
        let places = match &mut references {
            Some(references) => parts::combine(&mut document.value, &document.file, references),
            None => Default::default(),
        };
        let mut imported = openapi::import(&document.file, &document.value);
        imported.findings.iter_mut().for_each(|finding| places.explain(finding));
        let server = source.server.clone().or(imported.server);
        if source.base_url_from == Some(BaseUrlFrom::Document) {
            let usual = server.clone().zip(imported.base.clone());
            bases.extend(
                usual.into_iter().chain(imported.addresses.into_iter().map(|url| (url.clone(), url))),
            );
        }
        categories = imported.categories;
        // One address for all, such as that of a proxy, is the word of the operator.
        let mut addresses = servers.values().filter_map(|server| server.url.as_deref());
        let only = addresses.next().filter(|_| addresses.next().is_none());
        let configured = server.as_ref().and_then(|name| servers.get(name)?.url.as_deref()).or(only);
        let is_for_all = configured.zip(imported.base.as_deref()).is_some_and(|(url, base)| {
            let url = url.split('?').next().unwrap_or_default();
            openapi::is_address(url) && openapi::origin(url) != openapi::origin(base)
        });
        let is_called = configured.is_some() || source.base_url_from.is_some();
        let has_credential = |server: &Server| !server.headers.is_empty() || server.auth.is_some();
        let lacks_key = |name: &&String| !configured.is_some_and(|url| url.contains(&format!("{name}=")));
        if is_called && !servers.values().any(has_credential) {
            for name in imported.query_keys.iter().filter(lacks_key) {
                let base = configured.or(imported.base.as_deref()).unwrap_or("https://HOST");
                let table = format!("[server.{:?}]", server.as_deref().unwrap_or("api"));
                let message = format!("calls go without the API key `{name}`, which belongs into the query");
                let finding = Finding::new(Code::FieldInvalid, message).at(Place::new(&document.file, ""));
                let help =
                    format!("in toolcrib.toml, write under {table}: url = \"{base}?{name}=${{API_KEY}}\"");
                imported.findings.push(Finding { severity: Severity::Warning, ..finding.help(help) });
            }
        }
        let tool = |mut operation: openapi::Operation| {
            if let Some(Backend::Http(backend)) = &mut operation.definition.backend
                && is_for_all
                && backend.server.as_ref().is_some_and(|own| !servers.contains_key(own))
            {
                backend.server = None;
                operation.definition.notes.clear();
            }
            let place = Place::new(&document.file, operation.pointer);
            let place = places.place(&place.pointer).unwrap_or(place);
            RawTool {
                definition: operation.definition,
                server: server.clone(),
                body: place.pointer.clone(),
                lost_arguments: operation.lost_arguments,
                place,
                ..RawTool::default()
            }
        };
        (imported.operations.into_iter().map(tool).collect(), imported.findings)
    } else {
        collect::collect(&document.file, &document.value)
    };
    if tools.is_empty() && findings.is_empty() && !collect::is_empty_list(&document.value) {
        findings.push(unknown_format(&document, named));
    }
    take_parameters(&mut document, &mut tools);
    keep_bytes(&document, &mut tools);
    findings.append(&mut document.repairs);
    if let Some(references) = references.as_mut().filter(|_| !is_openapi) {
        parts::bundle_all(&document, &mut tools, references, &mut findings);
    }
    let category = source.category.as_deref().and_then(CategoryPath::parse);
    let origin = Arc::new(origin);
    for tool in &mut tools {
        tool.origin = Arc::clone(&origin);
        tool.server = tool.server.take().or_else(|| source.server.clone());
        if let Some(category) = category.as_ref().filter(|_| tool.definition.category.is_empty()) {
            tool.definition.category.push(category.clone());
        }
    }
    let has_schema = |tool: &RawTool| tool.parameters.is_some() || !tool.place.pointer.is_empty();
    let is_bare = !is_openapi && !tools.iter().any(has_schema);
    let texts = references.iter().flat_map(References::texts).collect();
    let parts = references.map(|references| references.files).unwrap_or_default();
    // Findings need only the text; the values, which take several times its size, are freed.
    let value = document.value.take();
    rayon::spawn(move || drop(value));
    Imported { document, is_bare, registry, tools, categories, bases, findings, parts, texts }
}

fn unknown_format(document: &Document, named: bool) -> Finding {
    let near = formats::nearest_format(&document.value).map(|(format, keys)| {
        let keys = keys.iter().map(|key| format!("`{}`", quoted(key))).collect::<Vec<_>>().join(", ");
        format!("the nearest format is {format}, by {keys}; ")
    });
    let known = "known are native definitions, MCP tools/list, OpenAI, Anthropic, Gemini, Ollama, LangChain and Bedrock tools, \
         maps of servers, OpenAPI 3 and Swagger 2";
    let mut finding = Finding::new(Code::FormatUnknown, format!("no tool definitions in {}", document.file))
        .help(near.unwrap_or_default() + known);
    if !named {
        finding.severity = Severity::Info;
    }
    finding.at(Place::new(&document.file, ""))
}

/// Moves the schemas that are in the document alone to their tools: copies would take as long as reading them.
fn take_parameters(document: &mut Document, tools: &mut [RawTool]) {
    for tool in tools.iter_mut().filter(|tool| tool.definition.parameters.is_none()) {
        let written = tool.parameters.as_ref().and_then(|pointer| document.value.pointer_mut(pointer));
        tool.definition.parameters = written.map(|value| Schema::shared_value(Arc::new(value.take())));
    }
}

/// Restores the author's bytes of the schema, which parsing has lost.
fn keep_bytes(document: &Document, tools: &mut [RawTool]) {
    let pointers: Vec<String> = tools.iter().filter_map(|tool| tool.parameters.clone()).collect();
    // A schema with a key twice is not passed on as it is.
    let slices = if document.repairs.is_empty() { document.slices(&pointers) } else { Vec::new() };
    let written: Vec<&mut RawTool> = tools.iter_mut().filter(|tool| tool.parameters.is_some()).collect();
    written.into_par_iter().zip(slices).for_each(|(tool, slice)| {
        if let (Some(schema), Some(text)) = (&tool.definition.parameters, slice) {
            tool.definition.parameters = Some(Schema::verbatim(text, schema.shared()));
        }
    });
}

//! Sources of definitions: bytes in, raw tools out.
//!
//! 1. [`files`] lists the definition files of each source, in a fixed order.
//! 2. Each is read and parsed, in parallel, within limits.
//! 3. [`openapi`] reads OpenAPI documents; [`collect`] finds tools in all other documents, in any container;
//!    [`recognise`] tells them from other objects, and [`shape`] reads each in its format.
//! 4. `mcp` lists live servers; [`listings`] turns their lists into documents like those of files.
//! 5. Schemas get back the exact bytes of the file.

mod collect;
mod files;
mod listings;
#[cfg(feature = "runtime")]
pub mod mcp;
pub mod openapi;
mod recognise;
mod shape;

pub use files::{entries, roots};
pub use listings::Listings;

use std::sync::Arc;

use rayon::prelude::*;

use crate::config::{Category, Source, Trust, Workspace};
use crate::finding::{Code, Document, Finding, Limits, Place, open, unparsed};
use crate::tool::{CategoryPath, Definition, Schema};

/// One tool as its source gives it.
#[derive(Clone, Debug)]
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
    /// Mistakes in them.
    pub findings: Vec<Finding>,
}

/// Loads all sources of a workspace; `listings` are from its live servers.
pub fn load(workspace: &Workspace, listings: &Listings, limits: &Limits) -> Loaded {
    let mut loaded = Loaded::default();
    let files = files::list(workspace, &mut loaded.findings);
    let mut parsed: Vec<(usize, Result<Imported, Unread>)> = files
        .par_iter()
        .map(|file| {
            let document = open(&file.path, &file.shown, limits).map_err(|finding| {
                let is_syntax = finding.code == Code::FileInvalid;
                let text = is_syntax.then(|| unparsed(&file.path, &file.shown, limits)).flatten();
                (Box::new(finding), text)
            });
            let path = if file.source.path.is_empty() { &file.shown } else { &file.source.path };
            let (path, server) = (Some(path.clone()), file.source.server.clone());
            let origin = Origin { trust: file.trust, path, server };
            (file.index, document.map(|document| import(document, file.source, origin, file.named)))
        })
        .collect();
    for answer in listings::answers(workspace, listings, limits) {
        loaded.findings.extend(answer.stale);
        let server = workspace.config.sources.get(answer.index).and_then(|source| source.server.clone());
        let origin = Origin { trust: Trust::Read, path: None, server };
        let imported = answer.document.map(|document| import(document, &answer.source, origin, true));
        let imported = imported.map_err(|finding| (Box::new(finding), None));
        parsed.push((answer.index, imported));
    }
    parsed.sort_by_key(|(index, _)| *index);
    for (_, result) in parsed {
        match result {
            Ok(imported) => {
                loaded.tools.extend(imported.tools);
                loaded.categories.extend(imported.categories);
                loaded.findings.extend(imported.findings);
                loaded.documents.push(imported.document);
            }
            Err((finding, text)) => {
                loaded.findings.push(*finding);
                loaded.documents.extend(text);
            }
        }
    }
    loaded
}

/// The reason why a file was not read, and its text where that can be shown.
type Unread = (Box<Finding>, Option<Document>);

struct Imported {
    document: Document,
    tools: Vec<RawTool>,
    categories: Vec<Category>,
    findings: Vec<Finding>,
}

fn import(mut document: Document, source: &Source, origin: Origin, named: bool) -> Imported {
    let mut categories = Vec::new();
    let (mut tools, mut findings) = if openapi::recognise(&document.value) {
        let imported = openapi::import(&document.file, &document.value);
        let server = imported.server;
        categories = imported.categories;
        let tool = |operation: openapi::Operation| RawTool {
            definition: operation.definition,
            server: server.clone(),
            body: operation.pointer.clone(),
            place: Place::new(&document.file, operation.pointer),
            parameters: None,
            origin: Arc::default(),
        };
        (imported.operations.into_iter().map(tool).collect(), imported.findings)
    } else {
        collect::collect(&document.file, &document.value)
    };
    if tools.is_empty() && findings.is_empty() {
        findings.push(unknown_format(&document, named));
    }
    keep_bytes(&document, &mut tools);
    let category = source.category.as_deref().and_then(CategoryPath::parse);
    let origin = Arc::new(origin);
    for tool in &mut tools {
        tool.origin = Arc::clone(&origin);
        tool.server = tool.server.take().or_else(|| source.server.clone());
        if let Some(category) = category.as_ref().filter(|_| tool.definition.category.is_empty()) {
            tool.definition.category.push(category.clone());
        }
    }
    // Findings need only the text; the values, which take several times its size, are freed.
    document.value = serde_json::Value::Null;
    Imported { document, tools, categories, findings }
}

fn unknown_format(document: &Document, named: bool) -> Finding {
    let mut finding = Finding::new(Code::FormatUnknown, format!("no tool definitions in {}", document.file)).help(
        "known are native definitions, MCP tools/list, OpenAI, Anthropic, Gemini, Ollama, LangChain and Bedrock tools, \
         maps of servers, OpenAPI 3 and Swagger 2",
    );
    if !named {
        finding.severity = crate::finding::Severity::Info;
    }
    finding.at(Place::new(&document.file, ""))
}

/// Restores the author's bytes of the schema, which parsing has lost.
fn keep_bytes(document: &Document, tools: &mut [RawTool]) {
    let pointers: Vec<String> = tools.iter().filter_map(|tool| tool.parameters.clone()).collect();
    let slices = document.slices(&pointers);
    let written = tools.iter_mut().filter(|tool| tool.parameters.is_some());
    for (tool, slice) in written.zip(slices) {
        if let (Some(schema), Some(text)) = (&tool.definition.parameters, slice) {
            tool.definition.parameters = Some(Schema::verbatim(text, schema.shared()));
        }
    }
}

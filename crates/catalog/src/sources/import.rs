//! One document as tools, whatever its format.

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexMap;
use rayon::prelude::*;

use super::parts::{self, References};
use super::raw_tool::{Origin, RawTool};
use super::{collect, formats, openapi, shape};
use crate::config::{BaseUrlFrom, Category, Server, Source};
use toolcrib_definition::document::{Document, pointer_join};
use toolcrib_definition::finding::{Code, Finding, Place, Severity};
use toolcrib_definition::{Backend, CategoryPath, Schema, quoted};

/// A document with its tools.
pub(super) struct ImportedFile {
    pub(super) document: Document,
    /// Whether it has no tools that could be called.
    pub(super) is_bare: bool,
    pub(super) registry: Option<String>,
    pub(super) tools: Vec<RawTool>,
    pub(super) categories: Vec<Category>,
    /// The servers with the addresses that the document names.
    pub(super) bases: Vec<(String, String)>,
    pub(super) findings: Vec<Finding>,
    /// The files that its definitions refer to.
    pub(super) parts: BTreeSet<String>,
    /// Their texts.
    pub(super) texts: Vec<Document>,
}

/// Imports a document. `is_named`: the user named this very file.
pub(super) fn import(
    mut document: Document,
    source: &Source,
    origin: Origin,
    is_named: bool,
    mut references: Option<References<'_>>,
    servers: &IndexMap<String, Server>,
) -> ImportedFile {
    let is_openapi = openapi::recognise(&document.value);
    let registry = registry_version(&document.value).map(str::to_string);
    let DocumentTools { mut tools, categories, bases, mut findings } = if is_openapi {
        of_openapi(&mut document, source, references.as_mut(), servers)
    } else {
        let (tools, findings) = collect::collect(&document.file, &document.value);
        DocumentTools { tools, findings, ..DocumentTools::default() }
    };
    // What a server or a program lists is whole, even if it is empty.
    let is_file = references.is_some();
    if is_file {
        findings.extend(incomplete_list(&document, is_named));
    }
    let has_none = collect::maps_no_servers(&document.value)
        || (!is_file && collect::empty_list(&document.value).is_some());
    if tools.is_empty() && findings.is_empty() && !has_none {
        findings.push(unknown_format(&document, is_named));
    }
    take_parameters(&mut document, &mut tools);
    keep_bytes(&document, &mut tools);
    findings.append(&mut document.repairs);
    if let Some(references) = &mut references
        && !is_openapi
    {
        parts::bundle_all(&document, &mut tools, references, &mut findings);
    }
    let category = source.category.as_deref().and_then(CategoryPath::parse);
    let origin = Arc::new(origin);
    for tool in &mut tools {
        tool.origin = Arc::clone(&origin);
        tool.server = tool.server.take().or_else(|| source.server.clone());
        if tool.definition.category.is_empty() {
            tool.definition.category.extend(category.clone());
        }
    }
    let has_schema = |tool: &RawTool| tool.parameters.is_some() || !tool.place.pointer.is_empty();
    let is_bare = !is_openapi && !tools.iter().any(has_schema);
    let texts = references.iter().flat_map(References::texts).collect();
    let parts = references.map(|references| references.files).unwrap_or_default();
    // Findings need only the text; the values, which take several times its size, are freed.
    let value = document.value.take();
    rayon::spawn(move || drop(value));
    ImportedFile { document, is_bare, registry, tools, categories, bases, findings, parts, texts }
}

/// What a document holds.
#[derive(Default)]
struct DocumentTools {
    tools: Vec<RawTool>,
    categories: Vec<Category>,
    bases: Vec<(String, String)>,
    findings: Vec<Finding>,
}

/// Imports an OpenAPI document with the files that it refers to.
fn of_openapi(
    document: &mut Document,
    source: &Source,
    references: Option<&mut References<'_>>,
    servers: &IndexMap<String, Server>,
) -> DocumentTools {
    let places = references.map(|references| parts::combine(&mut document.value, &document.file, references));
    let places = places.unwrap_or_default();
    let openapi::Imported { server, base, addresses, query_keys, operations, categories, mut findings } =
        openapi::import(&document.file, &mut document.value);
    findings.iter_mut().for_each(|finding| places.explain(finding));
    let server = source.server.clone().or(server);
    let mut bases = Vec::new();
    if source.base_url_from == Some(BaseUrlFrom::Document) {
        bases.extend(server.clone().zip(base.clone()));
        bases.extend(addresses.into_iter().map(|url| (url.clone(), url)));
    }
    // One address for all, such as that of a proxy, is the word of the operator.
    let all: Vec<&str> = servers.values().filter_map(|server| server.url.as_deref()).collect();
    let only = if let [only] = all[..] { Some(only) } else { None };
    let configured = server.as_ref().and_then(|name| servers.get(name)?.url.as_deref()).or(only);
    let is_for_all = configured.zip(base.as_deref()).is_some_and(|(url, base)| {
        let url = url.split('?').next().unwrap_or_default();
        openapi::is_address(url) && openapi::origin(url) != openapi::origin(base)
    });
    let is_called = configured.is_some() || source.base_url_from.is_some();
    let has_credential = |server: &Server| !server.headers.is_empty() || server.auth.is_some();
    if is_called && !servers.values().any(has_credential) {
        let base = configured.or(base.as_deref()).unwrap_or("https://HOST");
        let lacks_key = |name: &&String| !configured.is_some_and(|url| url.contains(&format!("{name}=")));
        let missing = query_keys.iter().filter(lacks_key);
        findings.extend(missing.map(|name| lacking_key(document, name, server.as_deref(), base)));
    }
    let tool = |operation: openapi::Operation| {
        let mut definition = operation.definition;
        if let Some(Backend::Http(backend)) = &mut definition.backend
            && is_for_all
            && backend.server.as_ref().is_some_and(|own| !servers.contains_key(own))
        {
            backend.server = None;
            definition.notes.clear();
        }
        let place = Place::new(&document.file, operation.pointer);
        let place = places.place(&place.pointer).unwrap_or(place);
        RawTool {
            definition,
            server: server.clone(),
            body: place.pointer.clone(),
            unread: operation.lost_arguments.then_some("some of its arguments"),
            is_assembled: true,
            place,
            ..RawTool::default()
        }
    };
    DocumentTools { tools: operations.into_iter().map(tool).collect(), categories, bases, findings }
}

/// The warning about an API key that calls need in the query, and do not have.
fn lacking_key(document: &Document, name: &str, server: Option<&str>, base: &str) -> Finding {
    let table = format!("[server.{:?}]", server.unwrap_or("api"));
    let message = format!("calls go without the API key `{name}`, which belongs into the query");
    let help = format!("in toolcrib.toml, write under {table}: url = \"{base}?{name}=${{API_KEY}}\"");
    let finding = Finding::new(Code::FieldInvalid, message).at(Place::new(&document.file, "")).help(help);
    Finding { severity: Severity::Warning, ..finding }
}

/// Reports a list without tools, or whose `nextCursor` leads to tools that the document lacks. An empty list that was only found
/// in a folder may be of anything.
fn incomplete_list(document: &Document, is_named: bool) -> Option<Finding> {
    let is_of_tools = is_named || !document.value.is_array();
    let (what, help) = if is_of_tools && let Some(pointer) = collect::empty_list(&document.value) {
        let help = "export the list again; if its tools are gone for good, remove the file";
        (("the list has no tools", pointer), help)
    } else {
        (
            ("the list has another page, which is not here", collect::next_page(&document.value)?),
            "export the list with all its pages",
        )
    };
    let (message, pointer) = what;
    Some(Finding::new(Code::ListIncomplete, message).at(Place::new(&document.file, pointer)).help(help))
}

pub(super) fn unknown_format(document: &Document, named: bool) -> Finding {
    let near = formats::nearest_format(&document.value).map(|(format, keys)| {
        let keys = keys.iter().map(|key| format!("`{}`", quoted(key))).collect::<Vec<_>>().join(", ");
        format!("the nearest format is {format}, by {keys}; ")
    });
    let known = "known are native definitions, MCP tools/list, OpenAI, Anthropic, Gemini, Ollama, LangChain and Bedrock tools, \
         maps of servers, OpenAPI 3 and Swagger 2";
    let mut finding = Finding::new(Code::FormatUnknown, format!("no tool definitions in {}", document.file))
        .help(near.unwrap_or_default() + known);
    let lost = lost_definition(&document.value, "", 0);
    if lost.is_none() && !named {
        finding.severity = Severity::Info;
    }
    let place = lost.as_ref().map_or("", |(pointer, _)| pointer);
    let finding = finding.at(Place::new(&document.file, place));
    match lost {
        Some((_, help)) => finding.help(help),
        None => finding,
    }
}

/// The place of what was meant as a definition, and what it lacks.
fn lost_definition(value: &serde_json::Value, pointer: &str, depth: usize) -> Option<(String, &'static str)> {
    /// Deepest object that is looked at.
    const DEEPEST: usize = 8;
    let below = |(key, value): (String, &serde_json::Value)| {
        lost_definition(value, &pointer_join(pointer, &key), depth + 1)
    };
    if depth >= DEEPEST {
        return None;
    }
    if let Some(items) = value.as_array() {
        return items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).find_map(below);
    }
    let object = value.as_object()?;
    if openapi::is_path_map(object) {
        let help = "an OpenAPI document has `openapi: 3.1.0`, or `swagger: \"2.0\"`, and its operations below `paths`";
        return Some((pointer.to_string(), help));
    }
    if shape::has_schema(object) && object.get("description").is_some_and(serde_json::Value::is_string) {
        let help = "give it a `name`, and put it into a list or a map with the key `tools`";
        return Some((pointer.to_string(), help));
    }
    object.iter().map(|(key, value)| (key.clone(), value)).find_map(below)
}

/// Moves the schemas that are in the document alone to their tools: copies would take as long as reading them.
pub(super) fn take_parameters(document: &mut Document, tools: &mut [RawTool]) {
    for tool in tools.iter_mut().filter(|tool| tool.definition.parameters.is_none()) {
        let written = tool.parameters.as_ref().and_then(|pointer| document.value.pointer_mut(pointer));
        tool.definition.parameters = written.map(|value| Schema::shared_value(Arc::new(value.take())));
    }
}

/// Restores the author's bytes of the schema, which parsing has lost.
pub(super) fn keep_bytes(document: &Document, tools: &mut [RawTool]) {
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

/// The version of a document that is a `registry.json`.
pub fn registry_version(document: &serde_json::Value) -> Option<&str> {
    document.get("registry_version")?.as_str()
}

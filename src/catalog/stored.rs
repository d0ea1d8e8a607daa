//! A checked catalog as the parts of a bundle, and back.
//!
//! | part | |
//! | --- | --- |
//! | 0 | the manifest, JSON |
//! | 1 | the facts of all tools, then of the contested ones, in Postcard |
//! | 2 | the findings, in Postcard |
//! | 3 | empty |
//! | 4 | the configuration, of a bundle that stands alone; else empty |
//! | 5 | the indexes of search, behind their key; else empty |
//! | from 6 | the content of one tool each, in that order, JSON |
//!
//! Variables, trust and what roles may see are decided when the catalog is used.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::audience::Contested;
use super::findings::{Counts, Findings};
use super::tool::{Digest, LazyContent, StoredContent};
use super::{Callable, Catalog, Checked, DerivedStore, Parameters, Tool, ToolArgument, ToolContent};
use crate::bundle::{Bundle, BundleError, BundleWriter};
use crate::config::{Category, Config, Server};
use crate::tool::{Definition, Example, Policy, Schema};

const MANIFEST: usize = 0;
const TOOLS: usize = 1;
const FINDINGS: usize = 2;
/// The part of the first tool's content.
const CONTENT: usize = 6;
/// Reason why a tool of a damaged bundle cannot be called.
const DAMAGED: &str = "its part of the bundle cannot be read; build the bundle again";

/// Facts of a bundle, beside its tools.
#[derive(Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of toolcrib that wrote it.
    pub toolcrib: String,
    /// The registry version.
    pub registry_version: String,
    /// Number of tools.
    pub tools: usize,
    /// Number of findings by severity.
    pub findings: Counts,
    /// The tools that only some callers get: the number of tools before each, and its claims.
    contested: Vec<(usize, Vec<String>)>,
    /// The configured categories, and those that sources describe.
    categories: Vec<Category>,
    /// Addresses of APIs that documents name, by server.
    bases: Vec<(String, String)>,
    /// The files that definitions refer to.
    parts: BTreeSet<String>,
}

impl Manifest {
    /// The manifest of a bundle.
    pub fn of(bundle: &Bundle) -> Result<Self, BundleError> {
        read(&bundle.part(MANIFEST)?)
    }
}

/// The parts of a catalog; `None` where some of it would not come back as it is.
pub fn stored(checked: &Checked) -> Option<BundleWriter> {
    let catalog = &checked.catalog;
    let contested = || catalog.contested.iter();
    let all: Vec<&Tool> =
        catalog.tools.iter().chain(contested().map(|one| &one.tool)).map(|tool| &**tool).collect();
    let manifest = Manifest {
        toolcrib: env!("CARGO_PKG_VERSION").into(),
        registry_version: catalog.version.clone(),
        tools: catalog.tools.len(),
        findings: checked.findings.counts(),
        contested: contested().map(|one| (one.position, one.claims.clone())).collect(),
        categories: catalog.config.categories.clone(),
        bases: checked.bases.clone(),
        parts: checked.parts.clone(),
    };
    let facts: Vec<(&Digest, &Tool)> = all.iter().map(|tool| (tool.digest(), *tool)).collect();
    let contents: Option<Vec<Vec<u8>>> = all.par_iter().map(|tool| content(tool)).collect();
    let mut writer = BundleWriter::default();
    writer.add(serde_json::to_vec(&manifest).ok()?);
    writer.add(postcard::to_stdvec(&facts).ok()?);
    writer.add(checked.findings.bytes().ok()?);
    writer.add(Vec::new());
    writer.add(Vec::new());
    writer.add(Vec::new());
    for content in contents? {
        writer.add(content);
    }
    Some(writer)
}

/// The catalog of a bundle, with this configuration.
pub fn restored(bundle: &Arc<Bundle>, mut config: Config) -> Result<Checked, BundleError> {
    let Manifest { tools: count, findings, contested, categories, bases, parts, .. } = Manifest::of(bundle)?;
    let facts: Vec<(Digest, Tool)> = postcard::from_bytes(&bundle.part(TOOLS)?).map_err(invalid)?;
    if facts.len() != count + contested.len() || bundle.parts() != CONTENT + facts.len() {
        return Err(BundleError::Invalid("its manifest names other tools than it has".into()));
    }
    let mut tools = facts.into_iter().enumerate().map(|(number, (digest, mut tool))| {
        tool.digest = digest.into();
        tool.content = LazyContent::stored(bundle, CONTENT + number);
        Arc::new(tool)
    });
    let all: Vec<Arc<Tool>> = tools.by_ref().take(count).collect();
    let contested = contested.into_iter().zip(tools);
    let contested =
        contested.map(|((position, claims), tool)| Contested { position, tool, claims }).collect();
    config.categories = categories;
    for (name, url) in &bases {
        let server = Server { url: Some(url.clone()), ..Server::default() };
        config.servers.entry(name.clone()).or_insert(server);
    }
    let findings = Findings::stored(bundle, FINDINGS, findings);
    let mut catalog = Catalog::of(all, contested, Arc::new(config));
    let indexes: Arc<dyn DerivedStore> = Arc::clone(bundle) as _;
    catalog.add_derived_store(indexes);
    catalog.is_stored = true;
    Ok(Checked { catalog, findings, parts, bases, ..Checked::default() })
}

fn read<'b, T: Deserialize<'b>>(part: &'b [u8]) -> Result<T, BundleError> {
    serde_json::from_slice(part).map_err(invalid)
}

fn invalid(error: impl std::fmt::Display) -> BundleError {
    BundleError::Invalid(error.to_string())
}

/// The content of a tool, as it is stored.
#[derive(Debug, Serialize, Deserialize)]
struct ContentRecord {
    description: String,
    without_arguments: Option<String>,
    long: String,
    returns: Option<String>,
    raises: Vec<String>,
    notes: Vec<String>,
    examples: Vec<Example>,
    example_texts: Vec<String>,
    policy: Option<Policy>,
    call: Option<Map<String, Value>>,
    fill_in: Vec<String>,
    set_arguments: Vec<ToolArgument>,
    /// Without its schemas, and without `mcp`.
    definition: Definition,
    mcp: Map<String, Value>,
    /// Schemas of the definition, in their authors' bytes.
    parameters: Option<Box<RawValue>>,
    result_schema: Option<Box<RawValue>>,
    provider_schema: Option<Box<RawValue>>,
    /// The canonical schema, where it is not the one of the definition.
    schema: Option<Value>,
    callable: Callable,
}

/// The stored content of a tool; `None` where it would not come back as it is.
fn content(tool: &Tool) -> Option<Vec<u8>> {
    let stored = serde_json::to_vec(&ContentRecord::of(tool)).ok()?;
    let back = ToolContent::try_from(read::<ContentRecord>(&stored).ok()?).ok()?;
    let schemas = |definition: &Definition| {
        let all = [&definition.parameters, &definition.result_schema, &definition.provider_schema];
        all.map(|schema| schema.as_ref().map(Schema::shared))
    };
    let is_same = schemas(&back.definition) == schemas(&tool.definition)
        && back.parameters.schema() == tool.parameters.schema()
        && serde_json::to_vec(&ContentRecord::of(&back)).ok()? == stored;
    is_same.then_some(stored)
}

impl ContentRecord {
    fn of(content: &ToolContent) -> Self {
        let mut definition = content.definition.clone();
        let text = |schema: Option<Schema>| schema.map(|schema| schema.raw_text().to_owned());
        let parameters = definition.parameters.take();
        let is_own = parameters.as_ref().is_none_or(|own| own.value() != content.parameters.schema());
        Self {
            description: content.description.clone(),
            without_arguments: content.without_arguments.clone(),
            long: content.long.clone(),
            returns: content.returns.clone(),
            raises: content.raises.clone(),
            notes: content.notes.clone(),
            examples: content.examples.clone(),
            example_texts: content.example_texts.clone(),
            policy: content.policy.clone(),
            call: content.call.clone(),
            fill_in: content.fill_in.clone(),
            set_arguments: content.set_arguments.clone(),
            mcp: std::mem::take(&mut definition.mcp),
            result_schema: text(definition.result_schema.take()),
            provider_schema: text(definition.provider_schema.take()),
            definition,
            parameters: text(parameters),
            schema: is_own.then(|| content.parameters.schema().clone()),
            callable: content.parameters.callable().clone(),
        }
    }
}

impl TryFrom<ContentRecord> for ToolContent {
    type Error = serde_json::Error;

    fn try_from(record: ContentRecord) -> Result<Self, Self::Error> {
        let read = |text: Box<RawValue>| {
            let value = serde_json::from_str(text.get())?;
            Ok::<_, Self::Error>(Schema::raw(text, Arc::new(value)))
        };
        let schema = |text: Option<Box<RawValue>>| text.map(read).transpose();
        let definition = Definition {
            parameters: schema(record.parameters)?,
            result_schema: schema(record.result_schema)?,
            provider_schema: schema(record.provider_schema)?,
            mcp: record.mcp,
            ..record.definition
        };
        let shared = || definition.parameters.as_ref().map(Schema::shared).unwrap_or_default();
        let canonical = record.schema.map_or_else(shared, Arc::new);
        Ok(Self {
            description: record.description,
            without_arguments: record.without_arguments,
            long: record.long,
            returns: record.returns,
            raises: record.raises,
            notes: record.notes,
            examples: record.examples,
            example_texts: record.example_texts,
            policy: record.policy,
            parameters: Parameters::stored(canonical, record.callable),
            call: record.call,
            fill_in: record.fill_in,
            definition,
            set_arguments: record.set_arguments,
        })
    }
}

impl ToolContent {
    /// The content of a tool whose part is damaged: the tool stays in lists, and its calls are refused.
    pub(super) fn unreadable() -> Self {
        Self {
            description: String::new(),
            without_arguments: None,
            long: String::new(),
            returns: None,
            raises: Vec::new(),
            notes: vec![DAMAGED.into()],
            examples: Vec::new(),
            example_texts: Vec::new(),
            policy: None,
            parameters: Parameters::withheld(DAMAGED),
            call: None,
            fill_in: Vec::new(),
            definition: Definition::default(),
            set_arguments: Vec::new(),
        }
    }
}

impl StoredContent {
    pub(super) fn read(&self) -> ToolContent {
        let part = self.bundle.part(self.part);
        let record = part.and_then(|part| read::<ContentRecord>(&part));
        record.ok().and_then(|record| record.try_into().ok()).unwrap_or_else(ToolContent::unreadable)
    }
}

//! `registry.json`: the catalog's content written down, and the version that is its hash.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value};

use super::functions::functions;
use super::names::op_parts;
use super::tool::Digest;
use super::{Callable, Catalog, Profile, ProfileTool, Tool};
use crate::config::Category;
use crate::finding::{Code, Finding, Place};
use crate::sources::RawTool;
use crate::tool::{
    CategoryPath, Definition, DescriptionMode, Effect, Example, NoSchemaMode, Policy, Schema, WhenForbidden,
};

/// One tool of `registry.json`: everything that its definition says but the backend, which may name hosts and programs.
/// `sources` reads it back.
#[derive(Debug, Serialize)]
pub struct Record<'a> {
    op: &'a str,
    tool_name: &'a str,
    safe_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    aliases: &'a [String],
    group: &'a str,
    kind: &'static str,
    effect: Effect,
    #[serde(skip_serializing_if = "Option::is_none")]
    entity: Option<&'a str>,
    action: &'a str,
    categories: &'a [CategoryPath],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tags: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    description_mode: Option<DescriptionMode>,
    short_description: &'a str,
    description: &'a str,
    callable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters_schema: Option<&'a Schema>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_schema: Option<&'a Schema>,
    examples: Vec<RecordExample<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    fill_in: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'a Policy>,
    #[serde(flatten)]
    rest: Rest<'a>,
}

/// An example of a call.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum RecordExample<'a> {
    Authored(&'a Example),
    ReadyMade { arguments: &'a Map<String, Value> },
}

/// Fields that are written as the definition has them.
#[derive(Debug, Serialize)]
struct Rest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    returns: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    safe: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_shift: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    allowed_callers: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    allowed_roles: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    when_forbidden: Option<WhenForbidden>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    capabilities: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_schema: Option<&'a Schema>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    allow_no_schema: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_schema_mode: Option<NoSchemaMode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<&'a str>,
}

impl<'a> Rest<'a> {
    fn of(definition: &'a Definition) -> Self {
        Self {
            returns: definition.returns.as_deref(),
            notes: &definition.notes,
            safe: definition.safe,
            approval: definition.approval,
            dry_run: definition.dry_run,
            context_shift: definition.context_shift.as_deref(),
            allowed_callers: &definition.allowed_callers,
            allowed_roles: &definition.allowed_roles,
            when_forbidden: definition.when_forbidden,
            cost: definition.cost,
            capabilities: &definition.capabilities,
            strict: definition.strict,
            provider_schema: definition.provider_schema.as_ref(),
            allow_no_schema: definition.allow_no_schema,
            no_schema_mode: definition.no_schema_mode,
            deprecated: definition.deprecated,
            replaced_by: definition.replaced_by.as_deref(),
        }
    }
}

impl<'a> Record<'a> {
    /// The record of a tool; `mode` is its mode in a profile.
    pub fn of(tool: &'a Tool, mode: Option<DescriptionMode>) -> Self {
        let (group, entity, action) = op_parts(&tool.op);
        let authored = tool.examples.iter().map(RecordExample::Authored);
        let ready_made = tool.call.iter().map(|arguments| RecordExample::ReadyMade { arguments });
        Self {
            op: &tool.op,
            tool_name: &tool.name,
            safe_name: &tool.safe_name,
            server: tool.server.as_deref(),
            title: tool.definition.title.as_deref(),
            aliases: &tool.aliases,
            group,
            kind: if tool.effect == Effect::Read { "read" } else { "write" },
            effect: tool.effect,
            entity,
            action,
            categories: &tool.categories,
            tags: &tool.definition.tags,
            description_mode: mode,
            short_description: &tool.short,
            description: &tool.description,
            callable: !matches!(tool.parameters.callable(), Callable::No(_)),
            parameters_schema: tool.definition.parameters.as_ref(),
            result_schema: tool.definition.result_schema.as_ref(),
            examples: if tool.examples.is_empty() { ready_made.collect() } else { authored.collect() },
            fill_in: &tool.fill_in,
            policy: tool.policy.as_ref(),
            rest: Rest::of(&tool.definition),
        }
    }
}

/// The text of `registry.json` for a profile: one tool a line, so that a change shows as a line.
pub fn registry(catalog: &Catalog, profile: &Profile<'_>) -> String {
    let lines: Vec<String> = profile.tools.par_iter().map(registry_line).collect();
    registry_of(&catalog.version, profile.name, &lines)
}

/// The same text, of lines that are there already.
pub fn registry_of<L: AsRef<str>>(version: &str, profile: Option<&str>, lines: &[L]) -> String {
    let mut text = registry_head(version, profile);
    text.reserve_exact(lines.iter().map(|line| line.as_ref().len() + 2).sum::<usize>() + 4);
    for (index, line) in lines.iter().enumerate() {
        text.push_str(if index == 0 { "" } else { ",\n" });
        text.push_str(line.as_ref());
    }
    text.push_str("\n]}\n");
    text
}

/// The text before the first tool.
pub fn registry_head(version: &str, profile: Option<&str>) -> String {
    let profile = profile.map_or("null".into(), |name| Value::from(name).to_string());
    format!("{{\"registry_version\":\"{version}\",\"profile\":{profile},\"tools\":[\n")
}

/// The line of one tool; a comma and a line break stand between two.
pub fn registry_line(entry: &ProfileTool<'_>) -> String {
    let record = Record::of(entry.tool, Some(entry.mode));
    let line = serde_json::to_string(&record).unwrap_or_default();
    if line.contains('\n') { line.replace('\n', " ") } else { line }
}

/// Hash of everything that a caller of these tools can notice: the record and the backend of each tool, in order, and
/// the configured texts of their categories.
pub(super) fn version(tools: &[&Tool], categories: &[Category]) -> String {
    let digests: Vec<&Digest> = tools.par_iter().map(|tool| tool.digest()).collect();
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"toolcrib registry 1\n");
    for digest in digests {
        hasher.update(digest);
    }
    let described = described(tools, categories);
    if !described.is_empty() {
        hasher.update(serde_json::to_string(&described).unwrap_or_default().as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_string()
}

/// The configured categories that hold one of these tools.
fn described<'c>(tools: &[&Tool], categories: &'c [Category]) -> Vec<&'c Category> {
    if categories.is_empty() {
        return Vec::new();
    }
    let paths = tools.iter().flat_map(|tool| &tool.categories);
    let held: HashSet<&str> = paths.flat_map(CategoryPath::with_parents).collect();
    let is_held = |category: &&Category| {
        CategoryPath::parse(&category.path).is_some_and(|path| held.contains(path.as_str()))
    };
    categories.iter().filter(is_held).collect()
}

impl Tool {
    /// The hash of its record and of its definition, which names its backend. Made once, since many versions need it.
    pub(super) fn digest(&self) -> &Digest {
        self.digest.get_or_init(|| {
            let content = (Record::of(self, None), &self.definition);
            let content = match self.definition.mcp.is_empty() {
                true => serde_json::to_string(&content),
                false => serde_json::to_string(&(content, &self.definition.mcp)),
            };
            *blake3::hash(content.unwrap_or_default().as_bytes()).as_bytes()
        })
    }
}

// Output of toolcrib that was fed back as a source: a payload has stubs and functions of its own, and no definitions;
// a `registry.json` has the definitions, and may stand beside those that it was made from.

/// Removes the tools of payloads, and reports each file. The list of a live server stays: it may be a toolcrib too.
pub(super) fn refuse_own_output(tools: Vec<RawTool>, findings: &mut Vec<Finding>) -> Vec<RawTool> {
    let is_of_file = |tool: &&RawTool| tool.origin.path.is_some();
    let payloads: BTreeSet<String> = tools
        .iter()
        .filter(is_of_file)
        .filter(|tool| is_function(tool) || is_of_page(tool))
        .map(|tool| tool.place.file.clone())
        .collect();
    for file in &payloads {
        let message = "this is a payload that toolcrib made: it has stubs, and no definitions to document";
        let finding = Finding::new(Code::OwnOutput, message).at(Place::new(file, ""));
        findings.push(finding.help("name the catalog that it was made from, or its registry.json"));
    }
    tools.into_iter().filter(|tool| !payloads.contains(&tool.place.file)).collect()
}

/// Removes the tools of each `registry.json` that repeats other sources, and reports each that is read.
pub(super) fn without_copies(
    mut tools: Vec<RawTool>,
    registries: &BTreeMap<String, String>,
    findings: &mut Vec<Finding>,
) -> Vec<RawTool> {
    let is_in = |file: &str, tool: &&RawTool| tool.place.file == file;
    let mut known: HashSet<String> = HashSet::new();
    if !registries.is_empty() {
        let others = tools.iter().filter(|tool| !registries.contains_key(&tool.place.file));
        known.extend(others.map(|tool| tool.definition.name.clone()));
    }
    for file in registries.keys() {
        // A name that several servers share is qualified by server in a registry.
        let own = |name: &str| name.split_once("__").map_or(name, |(_, name)| name).to_string();
        let is_known = |tool: &&RawTool| {
            known.contains(&tool.definition.name) || known.contains(&own(&tool.definition.name))
        };
        let of_file = || tools.iter().filter(|tool| is_in(file, tool));
        let (count, repeated) = (of_file().count(), of_file().filter(is_known).count());
        let message = if repeated * 2 > count {
            let others = count - repeated;
            tools.retain(|tool| !is_in(file, &tool));
            let others = if others > 0 { format!(", and {others} that only it has") } else { String::new() };
            format!(
                "this is a registry.json that toolcrib wrote; {repeated} of its tools are read from their own source, so it was left out{others}"
            )
        } else {
            known.extend(of_file().map(|tool| tool.definition.name.clone()));
            format!(
                "this is a registry.json that toolcrib wrote; its tools are read ({count}), and have no backends"
            )
        };
        findings.push(Finding::new(Code::RegistryRead, message).at(Place::new(file, "")));
    }
    tools
}

/// Whether a tool is from the payloads of a web page, which has a tool once for each provider.
fn is_of_page(tool: &RawTool) -> bool {
    tool.place
        .pointer
        .split('/')
        .nth(1)
        .is_some_and(|key| key == "openai-responses" || key == "gemini-interactions")
}

/// Whether a tool is one of our functions by name and text.
fn is_function(tool: &RawTool) -> bool {
    /// Characters that are compared: a wire may shorten or lengthen the rest.
    const COMPARED: usize = 24;
    let begins_alike = |own: &str| {
        let own: String = own.chars().take(COMPARED).collect();
        tool.definition.description.trim_start().starts_with(&own)
    };
    let own = functions().named(&tool.definition.name);
    own.is_some_and(|own| begins_alike(&own.description) || begins_alike(&own.short))
}

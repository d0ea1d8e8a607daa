//! `registry.json`: the catalog's content written down, and the version that is its hash.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rayon::prelude::*;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::names::op_parts;
use super::{Callable, Catalog, Profile, ProfileTool, Tool, functions};
use crate::config::Category;
use crate::sources::RawTool;
use toolcrib_definition::finding::{Code, Finding, Place};
use toolcrib_definition::{CategoryPath, DescriptionMode, Effect};

/// One tool of `registry.json`: everything that its definition says but the backend, which may name hosts and programs.
/// `sources` reads it back.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    tool: &'a Tool,
    mode: Option<DescriptionMode>,
}

impl<'a> Record<'a> {
    /// The record of a tool; `mode` is its mode in a profile.
    pub fn of(tool: &'a Tool, mode: Option<DescriptionMode>) -> Self {
        Self { tool, mode }
    }
}

impl Serialize for Record<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { tool, mode } = *self;
        let definition = &tool.definition;
        let (group, entity, action) = op_parts(&tool.op);
        let mut record = Fields(serializer.serialize_map(None)?);
        record.put("op", &tool.op)?;
        record.put("tool_name", &tool.name)?;
        record.put("safe_name", &tool.safe_name)?;
        record.put_some("server", &tool.server)?;
        record.put_some("title", &definition.title)?;
        record.put_any("aliases", &tool.aliases)?;
        record.put("group", group)?;
        record.put("kind", if tool.effect == Effect::Read { "read" } else { "write" })?;
        record.put("effect", &tool.effect)?;
        record.put_some("entity", &entity)?;
        record.put("action", action)?;
        record.put("categories", &tool.categories)?;
        record.put_any("tags", &definition.tags)?;
        record.put_some("description_mode", &mode)?;
        record.put("short_description", &tool.short)?;
        record.put("description", &tool.description)?;
        record.put("callable", &!matches!(tool.parameters.callable(), Callable::No(_)))?;
        record.put_some("parameters_schema", &definition.parameters)?;
        record.put_some("result_schema", &definition.result_schema)?;
        match &tool.call {
            Some(arguments) if tool.examples.is_empty() => {
                record.put("examples", &[BTreeMap::from([("arguments", arguments)])])?;
            }
            _ => record.put("examples", &tool.examples)?,
        }
        record.put_any("fill_in", &tool.fill_in)?;
        record.put_some("policy", &tool.policy)?;
        record.put_some("returns", &definition.returns)?;
        record.put_any("errors", &definition.errors)?;
        record.put_any("notes", &definition.notes)?;
        record.put_some("safe", &definition.safe)?;
        record.put_some("approval", &definition.approval)?;
        record.put_some("dry_run", &definition.dry_run)?;
        record.put_some("context_shift", &definition.context_shift)?;
        record.put_any("allowed_callers", &definition.allowed_callers)?;
        record.put_any("allowed_roles", &definition.allowed_roles)?;
        record.put_some("when_forbidden", &definition.when_forbidden)?;
        record.put_some("cost", &definition.cost)?;
        record.put_any("capabilities", &definition.capabilities)?;
        record.put_some("strict", &definition.strict)?;
        record.put_some("provider_schema", &definition.provider_schema)?;
        record.put_some("allow_no_schema", &definition.allow_no_schema.then_some(true))?;
        record.put_some("no_schema_mode", &definition.no_schema_mode)?;
        record.put_some("deprecated", &definition.deprecated)?;
        record.put_some("replaced_by", &definition.replaced_by)?;
        record.0.end()
    }
}

/// Writes the fields of a record.
struct Fields<M>(M);

impl<M: SerializeMap> Fields<M> {
    fn put(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Result<(), M::Error> {
        self.0.serialize_entry(name, value)
    }

    fn put_some(&mut self, name: &str, value: &Option<impl Serialize>) -> Result<(), M::Error> {
        value.as_ref().map_or(Ok(()), |value| self.put(name, value))
    }

    fn put_any(&mut self, name: &str, values: &[impl Serialize]) -> Result<(), M::Error> {
        if values.is_empty() { Ok(()) } else { self.put(name, values) }
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

/// The hash of the content of a tool.
pub(super) type Digest = [u8; 32];

/// The hash of the record of a tool and of its definition, which names its backend.
pub(super) fn digest(tool: &Tool) -> Digest {
    let content = (Record::of(tool, None), &tool.definition);
    let content = if tool.definition.mcp.is_empty() {
        serde_json::to_string(&content)
    } else {
        serde_json::to_string(&(content, &tool.definition.mcp))
    };
    *blake3::hash(content.unwrap_or_default().as_bytes()).as_bytes()
}

/// Hash of everything that a caller of these tools can notice: the record and the backend of each tool, in order, and
/// the configured texts of their categories.
pub(super) fn version(tools: &[&Tool], categories: &[Category]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"toolcrib registry 1\n");
    for tool in tools {
        hasher.update(&tool.digest);
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
        let count = of_file().count();
        let repeated = of_file().filter(is_known).count();
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
    /// Characters that are compared: a provider may shorten or lengthen the rest.
    const COMPARED: usize = 24;
    let begins_alike = |own: &str| {
        let own: String = own.chars().take(COMPARED).collect();
        tool.definition.description.trim_start().starts_with(&own)
    };
    let own = functions().named(&tool.definition.name);
    own.is_some_and(|own| begins_alike(&own.description) || begins_alike(&own.short))
}

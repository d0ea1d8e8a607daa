//! `registry.json`: the catalog's content written down (REG-1, REG-3), and the version that is its hash.

use rayon::prelude::*;
use serde::Serialize;

use super::op::parts;
use super::{Callable, Catalog, Profile, ProfileTool, Tool};
use crate::tool::{CategoryPath, DescriptionMode, Effect, Policy, Schema};

/// One tool of `registry.json`.
#[derive(Debug, Serialize)]
pub struct Record<'a> {
    op: &'a str,
    tool_name: &'a str,
    safe_name: &'a str,
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
    examples: Vec<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'a Policy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<&'a str>,
}

impl<'a> Record<'a> {
    /// The record of a tool; `mode` is its mode in a profile.
    pub fn of(tool: &'a Tool, mode: Option<DescriptionMode>) -> Self {
        let (group, entity, action) = parts(&tool.op);
        let authored = tool.examples.iter().filter_map(|example| serde_json::to_value(example).ok());
        let derived = tool.call.iter().map(|arguments| serde_json::json!({ "arguments": arguments }));
        Self {
            op: &tool.op,
            tool_name: &tool.name,
            safe_name: &tool.safe_name,
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
            examples: if tool.examples.is_empty() { derived.collect() } else { authored.collect() },
            policy: tool.policy.as_ref(),
            deprecated: tool.definition.deprecated,
            replaced_by: tool.definition.replaced_by.as_deref(),
        }
    }
}

/// The text of `registry.json` for a profile: one tool a line, so that a change shows as a line.
pub fn registry(catalog: &Catalog, profile: &Profile<'_>) -> String {
    let lines: Vec<String> = profile.tools.par_iter().map(registry_line).collect();
    format!("{}{}\n]}}\n", registry_head(&catalog.version, profile.name), lines.join(",\n"))
}

/// What comes before the first tool.
pub fn registry_head(version: &str, profile: Option<&str>) -> String {
    let profile = profile.map_or("null".into(), |name| serde_json::Value::from(name).to_string());
    format!("{{\"registry_version\":\"{version}\",\"profile\":{profile},\"tools\":[\n")
}

/// The line of one tool; a comma and a line break stand between two.
pub fn registry_line(entry: &ProfileTool<'_>) -> String {
    let record = Record::of(entry.tool, Some(entry.mode));
    serde_json::to_string(&record).unwrap_or_default().replace('\n', " ")
}

/// The hash of everything a caller could notice: each tool's record and what runs it, in order, and what is said of
/// categories.
pub(super) fn version(catalog: &Catalog) -> String {
    let digests: Vec<blake3::Hash> = catalog.tools.par_iter().map(|tool| digest(tool)).collect();
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"toolcrib registry 1\n");
    for digest in digests {
        hasher.update(digest.as_bytes());
    }
    if !catalog.config.categories.is_empty() {
        hasher.update(serde_json::to_string(&catalog.config.categories).unwrap_or_default().as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_string()
}

fn digest(tool: &Tool) -> blake3::Hash {
    let content = serde_json::to_string(&(Record::of(tool, None), &tool.definition)).unwrap_or_default();
    blake3::hash(content.as_bytes())
}

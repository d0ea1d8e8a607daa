//! The section of a system prompt, or of an `AGENTS.md`, that tells an agent how its tools reach it.

use std::collections::HashSet;

use indexmap::{IndexMap, IndexSet};
use tera::Context;

use super::markdown::{code, name};
use super::templates::{TemplateError, Templates};
use crate::catalog::{Profile, Tool};
use crate::config::{Deferred, Surface};
use crate::tool::{DescriptionMode, Effect, slug};

/// Most core tools named in the section; for more, the bound list is clear enough.
const MAX_CORE: usize = 20;
/// Most groups listed; the others are counted.
const MAX_GROUPS: usize = 40;
/// Names in all groups together, where each has room for two.
const NAMES: usize = 40;
/// The most names in one group.
const MAX_NAMED: usize = 12;

/// The section for one surface.
#[derive(Clone, Copy, Debug)]
pub struct PromptSection<'a> {
    /// The way the tools reach the model.
    pub surface: Surface,
    /// The schema of deferred tools on the surface `hybrid`.
    pub deferred: Deferred,
    /// The folder of the docs, as the agent sees it.
    pub folder: &'a str,
    /// Whether the rules of the discovery functions follow.
    pub discovery: bool,
}

impl PromptSection<'_> {
    /// The section for the tools of a profile, as markdown.
    pub fn render(&self, profile: &Profile<'_>, templates: &Templates) -> Result<String, TemplateError> {
        let section = match self.surface {
            Surface::Files => files_section(profile, self.folder, templates)?,
            surface => self.bound(surface, profile, templates)?,
        };
        if !self.discovery {
            return Ok(section);
        }
        let rules = templates.render("prompt/discovery.md", &Context::new())?;
        Ok(format!("{section}\n\n{}", rules.trim_end()))
    }

    fn bound(
        &self,
        surface: Surface,
        profile: &Profile<'_>,
        templates: &Templates,
    ) -> Result<String, TemplateError> {
        let deferred: Vec<&Tool> = profile
            .tools
            .iter()
            .filter(|entry| entry.mode == DescriptionMode::Deferred)
            .map(|entry| entry.tool)
            .collect();
        let (template, groups) = match surface {
            Surface::Gateway => ("prompt/gateway.md", by_op(profile)),
            // Every tool is bound in full.
            _ if deferred.is_empty() => ("prompt/full.md", Vec::new()),
            Surface::Hybrid => ("prompt/hybrid.md", Vec::new()),
            Surface::Native => ("prompt/native.md", by_first_category(&deferred, Tool::root_category)),
            Surface::Toolset => ("prompt/toolset.md", toolsets(&deferred)),
            Surface::Full | Surface::Files => ("prompt/full.md", Vec::new()),
        };
        let mut context = Context::new();
        context.insert("count", &profile.tools.len());
        context.insert("deferred", &deferred.len());
        context.insert("folder", self.folder);
        context.insert("stubs", &(self.deferred == Deferred::Stub));
        context.insert("groups", &listed(&groups));
        context.insert("op", &profile.tools.first().map(|entry| code(&entry.tool.op)));
        context.insert("writes", &writes(profile));
        templates.render(template, &context).map(|text| text.trim_end().to_string())
    }
}

/// The section for the tools of a profile whose docs are in `folder`.
pub fn files_section(
    profile: &Profile<'_>,
    folder: &str,
    templates: &Templates,
) -> Result<String, TemplateError> {
    let core: Vec<String> = profile
        .tools
        .iter()
        .filter(|entry| entry.mode == DescriptionMode::Full)
        .take(MAX_CORE + 1)
        .map(|entry| code(&entry.tool.safe_name))
        .collect();
    let named = !core.is_empty() && core.len() <= MAX_CORE;
    let mut context = Context::new();
    context.insert("count", &profile.tools.len());
    context.insert("folder", folder);
    context.insert("core", &named.then(|| core.join(", ")));
    context.insert("writes", &writes(profile));
    templates.render("prompt/files.md", &context).map(|text| text.trim_end().to_string())
}

fn writes(profile: &Profile<'_>) -> bool {
    profile.tools.iter().any(|entry| entry.tool.effect != Effect::Read)
}

/// Most groups beyond [`MAX_GROUPS`] that are named without their content.
const MAX_NAMES_ALONE: usize = 120;

/// A group of tools with its name.
struct Group {
    name: String,
    tools: usize,
    /// Its content; the first few are named.
    holds: IndexSet<String>,
}

/// Groups by the first part of the ops, as `tool_help` lists them: with their entities, else their categories, else
/// the ops.
fn by_op(profile: &Profile<'_>) -> Vec<Group> {
    let tools = || profile.tools.iter().map(|entry| entry.tool);
    let with_entities: HashSet<&str> =
        tools().map(split_op).filter(|(_, rest)| rest.contains('.')).map(|(group, _)| group).collect();
    grouped(tools().map(|tool| {
        let (group, rest) = split_op(tool);
        let category = tool.root_category();
        let what = match rest.split_once('.') {
            Some((entity, _)) => entity,
            None if with_entities.contains(group) || slug(category) == group => rest,
            None => category,
        };
        (group, what)
    }))
}

/// The group of an op, and the rest of the op.
fn split_op(tool: &Tool) -> (&str, &str) {
    tool.op.split_once('.').unwrap_or((&tool.op, &tool.op))
}

/// Groups by the first category of each tool.
fn by_first_category(tools: &[&Tool], category: fn(&Tool) -> &str) -> Vec<Group> {
    grouped(tools.iter().map(|tool| (category(tool), tool.safe_name.as_str())))
}

/// Groups by category, in the form in which each can be loaded; a category above them loads them together.
fn toolsets(tools: &[&Tool]) -> Vec<Group> {
    let groups = by_first_category(tools, Tool::category);
    if groups.len() > MAX_GROUPS { by_first_category(tools, Tool::root_category) } else { groups }
}

fn grouped<'t>(tools: impl Iterator<Item = (&'t str, &'t str)>) -> Vec<Group> {
    let mut groups: IndexMap<&str, Group> = IndexMap::new();
    for (group, what) in tools {
        let new = || Group { name: group.to_string(), tools: 0, holds: IndexSet::new() };
        let entry = groups.entry(group).or_insert_with(new);
        entry.tools += 1;
        entry.holds.insert(what.to_string());
    }
    groups.into_values().collect()
}

/// One line a group.
fn listed(groups: &[Group]) -> String {
    let room = (NAMES / groups.len().max(1)).clamp(2, MAX_NAMED);
    let line = |group: &Group| {
        let named: Vec<String> = group.holds.iter().take(room).map(|what| name(what)).collect();
        let more = if group.holds.len() > room { ", …" } else { "" };
        format!("- {} ({}): {}{more}", code(&group.name), group.tools, named.join(", "))
    };
    let mut lines: Vec<String> = groups.iter().take(MAX_GROUPS).map(line).collect();
    let rest: Vec<String> = groups.iter().skip(MAX_GROUPS).map(|group| code(&group.name)).collect();
    if !rest.is_empty() {
        let more = rest.len().saturating_sub(MAX_NAMES_ALONE);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        lines.push(format!("- also {}{more}", rest[..rest.len().min(MAX_NAMES_ALONE)].join(", ")));
    }
    lines.join("\n")
}

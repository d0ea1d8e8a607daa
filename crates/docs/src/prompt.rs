//! The section of a system prompt, or of an `AGENTS.md`, that tells an agent how its tools reach it.

use std::collections::HashSet;

use indexmap::{IndexMap, IndexSet};
use tera::Context;

use super::markdown::{code, name};
use super::templates::{TemplateError, Templates};
use toolcrib_catalog::config::{Deferred, Mode};
use toolcrib_catalog::{Catalog, Profile, Tool};
use toolcrib_definition::tokens::exact;
use toolcrib_definition::{DescriptionMode, Effect, clipped, slug};

/// Longest example of an op, in bytes, where there is no room for everything.
const MAX_OP: usize = 80;
/// Bytes of a token that no text has on average: a longer text is over its budget without being counted.
const MAX_TOKEN_BYTES: usize = 16;

/// The section for one mode.
#[derive(Clone, Copy, Debug)]
pub struct PromptSection<'a> {
    /// The way the tools reach the model.
    pub mode: Mode,
    /// The schema of deferred tools in the mode `hybrid`.
    pub deferred: Deferred,
    /// The folder of the docs, as the agent sees it.
    pub folder: &'a str,
    /// Whether the rules of the discovery functions follow.
    pub discovery: bool,
    /// The budget in tokens of o200k. Lists are cut to it; the rules are always there.
    pub tokens: usize,
}

impl PromptSection<'_> {
    /// The section for the tools of a profile, as markdown.
    pub fn render(
        &self,
        catalog: &Catalog,
        profile: &Profile<'_>,
        templates: &Templates,
    ) -> Result<String, TemplateError> {
        let (template, groups) = self.layout(profile);
        let mut context = self.context(profile);
        context.insert("groups", &listed(&groups));
        let whole = self.text(template, &context, templates)?;
        if self.fits(&whole) {
            return Ok(whole);
        }
        context.insert("op", &example(profile).filter(|op| op.len() <= MAX_OP));
        let with = |list: &str| {
            let mut context = context.clone();
            context.insert("groups", list);
            self.text(template, &context, templates)
        };
        let fits = |list: &str| Ok(self.fits(&with(list)?));
        let count = groups.len();
        let finer = ShortList::of(catalog, groups);
        let (list, is_whole) = finer.fitted(&fits)?;
        let above = self.groups_above(profile);
        if is_whole || above.is_empty() || above.len() * 2 > count {
            return with(&list);
        }
        with(&ShortList::of(catalog, above).fitted(&fits)?.0)
    }

    fn fits(&self, text: &str) -> bool {
        text.len() <= self.tokens
            || (text.len() <= self.tokens.saturating_mul(MAX_TOKEN_BYTES) && exact(text) <= self.tokens)
    }

    fn text(
        &self,
        template: &str,
        context: &Context,
        templates: &Templates,
    ) -> Result<String, TemplateError> {
        let section = templates.render(template, context)?;
        if !self.discovery {
            return Ok(section.trim_end().to_string());
        }
        let rules = templates.render("prompt/discovery.md", &Context::new())?;
        Ok(format!("{}\n\n{}", section.trim_end(), rules.trim_end()))
    }

    /// The template, and the groups that it lists.
    fn layout<'t>(&self, profile: &Profile<'t>) -> (&'static str, Vec<Group<'t>>) {
        let deferred = deferred(profile);
        match self.mode {
            Mode::Files => ("prompt/files.md", Vec::new()),
            Mode::Gateway if deferred.len() == profile.tools.len() => ("prompt/gateway.md", by_op(&deferred)),
            // Every tool is bound in full.
            _ if deferred.is_empty() => ("prompt/full.md", Vec::new()),
            Mode::Gateway => ("prompt/gateway-with-tools.md", by_op(&deferred)),
            Mode::Hybrid => ("prompt/hybrid.md", Vec::new()),
            Mode::Native => ("prompt/native.md", by_category(&deferred, Tool::root_category)),
            Mode::Full => ("prompt/full.md", Vec::new()),
        }
    }

    /// Groups that each hold several of those listed, for a list that has no room for all.
    fn groups_above<'t>(&self, profile: &Profile<'t>) -> Vec<Group<'t>> {
        match self.mode {
            Mode::Gateway => {
                let tools = deferred(profile).into_iter();
                grouped(tools.map(|tool| (tool, tool.root_category(), split_op(tool).0)))
            }
            _ => Vec::new(),
        }
    }

    fn context(&self, profile: &Profile<'_>) -> Context {
        let deferred = deferred(profile).len();
        let mut context = Context::new();
        context.insert("count", &profile.tools.len());
        context.insert("deferred", &deferred);
        context.insert("full", &(profile.tools.len() - deferred));
        context.insert("folder", self.folder);
        context.insert("stubs", &(self.deferred == Deferred::Stub));
        context.insert("op", &example(profile));
        let has_policy = |tool: &Tool| match self.mode {
            // A page repeats no rule of its text.
            Mode::Files | Mode::Hybrid => tool.definition.policy.is_some(),
            _ => tool.policy.is_some(),
        };
        context.insert("policies", &profile.tools.iter().any(|entry| has_policy(entry.tool)));
        context.insert("writes", &profile.tools.iter().any(|entry| entry.tool.effect != Effect::Read));
        context
    }
}

fn deferred<'t>(profile: &Profile<'t>) -> Vec<&'t Tool> {
    let deferred = profile.tools.iter().filter(|entry| entry.mode == DescriptionMode::Deferred);
    deferred.map(|entry| entry.tool).collect()
}

/// An op to show what ops look like.
fn example(profile: &Profile<'_>) -> Option<String> {
    deferred(profile).first().map(|tool| code(&tool.op))
}

/// Groups by the first part of the ops, as `tool_help` lists them: with their entities, else their categories, else
/// the ops.
fn by_op<'t>(tools: &[&'t Tool]) -> Vec<Group<'t>> {
    let tools = || tools.iter().copied();
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
        (tool, group, what)
    }))
}

/// The group of an op, and the rest of the op.
fn split_op(tool: &Tool) -> (&str, &str) {
    tool.op.split_once('.').unwrap_or((&tool.op, &tool.op))
}

/// Groups by a category of each tool.
fn by_category<'t>(tools: &[&'t Tool], category: fn(&Tool) -> &str) -> Vec<Group<'t>> {
    grouped(tools.iter().map(|tool| (*tool, category(tool), tool.safe_name.as_str())))
}

// The groups of tools that a section lists: all of them with some of their content, or the largest that there is room
// for.

/// Most groups listed; the others are named, or counted.
const MAX_GROUPS: usize = 40;
/// Names in all groups together, where each has room for two.
const NAMES: usize = 40;
/// The most names in one group.
const MAX_NAMED: usize = 12;
/// Most groups beyond [`MAX_GROUPS`] that are named without their content.
const MAX_NAMES_ALONE: usize = 120;
/// Groups that a short list tells the content of before it names others.
const LEADING: usize = 8;
/// The most characters of a name in a short list, and of a content.
const MAX_NAME: usize = 40;
const MAX_CONTENT: usize = 90;

/// A group of tools with its name.
struct Group<'t> {
    name: &'t str,
    tools: Vec<&'t Tool>,
    /// Its content; the first few are named.
    holds: IndexSet<&'t str>,
}

/// Groups in the order of the tools, from each tool with its group and its place in it.
fn grouped<'t>(tools: impl Iterator<Item = (&'t Tool, &'t str, &'t str)>) -> Vec<Group<'t>> {
    let mut groups: IndexMap<&str, Group<'t>> = IndexMap::new();
    for (tool, group, what) in tools {
        let entry = groups.entry(group);
        let entry = entry.or_insert_with(|| Group { name: group, tools: Vec::new(), holds: IndexSet::new() });
        entry.tools.push(tool);
        entry.holds.insert(what);
    }
    groups.into_values().collect()
}

/// One line a group.
fn listed(groups: &[Group<'_>]) -> String {
    let room = room(groups);
    let line = |group: &Group<'_>| {
        let named: Vec<String> = group.holds.iter().take(room).map(|what| name(what)).collect();
        let more = if group.holds.len() > room { ", …" } else { "" };
        format!("- {} ({}): {}{more}", code(group.name), group.tools.len(), named.join(", "))
    };
    let mut lines: Vec<String> = groups.iter().take(MAX_GROUPS).map(line).collect();
    let rest: Vec<String> = groups.iter().skip(MAX_GROUPS).map(|group| code(group.name)).collect();
    if !rest.is_empty() {
        let more = rest.len().saturating_sub(MAX_NAMES_ALONE);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        lines.push(format!("- also {}{more}", rest[..rest.len().min(MAX_NAMES_ALONE)].join(", ")));
    }
    lines.join("\n")
}

/// Names in each group.
fn room(groups: &[Group<'_>]) -> usize {
    (NAMES / groups.len().max(1)).clamp(2, MAX_NAMED)
}

/// The largest groups first: some with their content, some named, the others counted.
struct ShortList {
    /// Each group with its content, as far as a list could have room.
    lines: Vec<String>,
    names: Vec<String>,
    /// Number of tools in each group.
    tools: Vec<usize>,
}

impl ShortList {
    fn of(catalog: &Catalog, mut groups: Vec<Group<'_>>) -> Self {
        groups.sort_by_key(|group| std::cmp::Reverse(group.tools.len()));
        let room = room(&groups);
        let names = groups.iter().take(MAX_GROUPS + MAX_NAMES_ALONE);
        Self {
            lines: groups.iter().take(MAX_GROUPS).map(|group| group.line(room, catalog)).collect(),
            names: names.map(|group| code(&clipped(group.name, MAX_NAME))).collect(),
            tools: groups.iter().map(|group| group.tools.len()).collect(),
        }
    }

    /// As much of the list as fits, and whether every group is named in it.
    fn fitted<E>(&self, fits: &dyn Fn(&str) -> Result<bool, E>) -> Result<(String, bool), E> {
        let lines = most(0, LEADING.min(self.lines.len()), &|lines| fits(&self.text(lines, 0)))?;
        let names = most(0, self.names.len() - lines, &|names| fits(&self.text(lines, names)))?;
        if lines + names < self.tools.len() {
            return Ok((self.text(lines, names), false));
        }
        let all = self.tools.len();
        let lines = most(lines, self.lines.len(), &|lines| fits(&self.text(lines, all - lines)))?;
        Ok((self.text(lines, all - lines), true))
    }

    /// So many groups with their content, and so many more by name.
    fn text(&self, lines: usize, names: usize) -> String {
        let mut text: Vec<String> = self.lines[..lines].to_vec();
        let named = &self.names[lines..lines + names];
        if !named.is_empty() {
            text.push(format!("- also {}", named.join(", ")));
        }
        let rest = &self.tools[lines + names..];
        if !rest.is_empty() {
            let count = rest.len();
            let tools = rest.iter().sum::<usize>();
            text.push(if text.is_empty() {
                format!("- {count} groups with {tools} tools")
            } else {
                format!("- and {count} smaller groups with {tools} tools")
            });
        }
        text.join("\n")
    }
}

impl Group<'_> {
    /// Its content by name, or its purpose where it has more than there is room for.
    fn line(&self, room: usize, catalog: &Catalog) -> String {
        let named = || self.holds.iter().take(room).map(|what| name(&clipped(what, MAX_NAME)));
        let names = || named().collect::<Vec<_>>().join(", ");
        let content = if self.holds.len() <= room {
            names()
        } else {
            Some(catalog.purpose(self.name, &self.tools))
                .filter(|purpose| !purpose.is_empty())
                .map_or_else(|| names() + ", …", |purpose| name(&clipped(&purpose, MAX_CONTENT)))
        };
        format!("- {} ({}): {content}", code(&clipped(self.name, MAX_NAME)), self.tools.len())
    }
}

/// The largest number from `least` on for which it holds; `least` itself is not asked.
fn most<E>(least: usize, most: usize, holds: &dyn Fn(usize) -> Result<bool, E>) -> Result<usize, E> {
    let mut known = least;
    let mut limit = most;
    while known < limit {
        let middle = known + (limit - known).div_ceil(2);
        if holds(middle)? { known = middle } else { limit = middle - 1 }
    }
    Ok(known)
}

//! The section of a system prompt, or of an `AGENTS.md`, that tells an agent how its tools reach it.

mod groups;

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::DOCS;
use crate::markdown::code;
use crate::templates::{TemplateError, Templates};
use groups::{Group, ShortList, grouped, listed};
use toolcrib_catalog::config::{Deferred, Mode, Payload};
use toolcrib_catalog::{Catalog, Profile, Tool};
use toolcrib_definition::tokens::token_count;
use toolcrib_definition::{DescriptionMode, Effect, slug};

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
    /// Whether the folder has the docs, so that the agent can read them without a function.
    pub has_pages: bool,
    /// Whether the rules of the discovery functions follow.
    pub discovery: bool,
    /// The budget in tokens of o200k. Lists are cut to it; the rules are always there.
    pub tokens: usize,
}

impl PromptSection<'_> {
    /// The section of a mode for a reader of the pages, as a catalog is configured.
    pub fn of(mode: Mode, configured: Payload) -> Self {
        let Payload { deferred, discovery, prompt_tokens: tokens, .. } = configured;
        Self { mode, deferred, folder: DOCS, has_pages: true, discovery, tokens }
    }

    /// The section for the tools of a profile, as markdown.
    pub fn render(
        &self,
        catalog: &Catalog,
        profile: &Profile<'_>,
        templates: &Templates,
    ) -> Result<String, TemplateError> {
        let (template, groups) = self.layout(profile);
        let mut values = self.values(profile);
        values["groups"] = listed(&groups).into();
        let whole = self.text(template, &values, templates)?;
        if self.fits(&whole) {
            return Ok(whole);
        }
        values["op"] = example(profile).filter(|op| op.len() <= MAX_OP).into();
        let with = |list: &str| {
            let mut values = values.clone();
            values["groups"] = list.into();
            self.text(template, &values, templates)
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
            || (text.len() <= self.tokens.saturating_mul(MAX_TOKEN_BYTES) && token_count(text) <= self.tokens)
    }

    fn text(&self, template: &str, values: &Value, templates: &Templates) -> Result<String, TemplateError> {
        let section = templates.render(template, values)?;
        if !self.discovery {
            return Ok(section.trim_end().to_string());
        }
        let rules = templates.render("prompt/discovery.md", &json!({}))?;
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

    fn values(&self, profile: &Profile<'_>) -> Value {
        let deferred = deferred(profile).len();
        let has_policy = |tool: &Tool| match self.mode {
            // A page repeats no rule of its text.
            Mode::Files | Mode::Hybrid => tool.texts.written.policy.is_some(),
            _ => tool.texts.policy.is_some(),
        };
        json!({
            "count": profile.tools.len(),
            "deferred": deferred,
            "full": profile.tools.len() - deferred,
            "folder": self.folder,
            "has_pages": self.has_pages,
            "stubs": self.deferred == Deferred::Stub,
            "op": example(profile),
            "policies": profile.tools.iter().any(|entry| has_policy(entry.tool)),
            "writes": profile.tools.iter().any(|entry| entry.tool.rules.effect != Effect::Read),
        })
    }
}

fn deferred<'t>(profile: &Profile<'t>) -> Vec<&'t Tool> {
    let deferred = profile.tools.iter().filter(|entry| entry.mode == DescriptionMode::Deferred);
    deferred.map(|entry| entry.tool).collect()
}

/// An op to show what ops look like.
fn example(profile: &Profile<'_>) -> Option<String> {
    deferred(profile).first().map(|tool| code(&tool.names.op))
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
    tool.names.op.split_once('.').unwrap_or((&tool.names.op, &tool.names.op))
}

/// Groups by a category of each tool.
fn by_category<'t>(tools: &[&'t Tool], category: fn(&Tool) -> &str) -> Vec<Group<'t>> {
    grouped(tools.iter().map(|tool| (*tool, category(tool), tool.names.safe.as_str())))
}

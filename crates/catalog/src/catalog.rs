//! All tools, checked, with their configuration applied.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::audience::{Contested, uncontested};
use crate::config::Config;
use crate::findings::severity::configure_severities;
use crate::names::lookup;
use crate::registry::version::version;
use crate::tool::Tool;
use toolcrib_definition::finding::{Finding, nearest};
use toolcrib_definition::secret::SecretPolicy;
use toolcrib_definition::{Effect, clean_line, is_respelled, words};

/// The longest unknown name, in bytes, whose words are compared.
const LONGEST_NAME: usize = 200;

/// All tools, checked, with their configuration applied.
#[derive(Debug, Default)]
pub struct Catalog {
    /// The tools, in the order of their sources.
    pub tools: Vec<Arc<Tool>>,
    /// The configuration that was applied.
    pub config: Arc<Config>,
    /// The hash of all content.
    pub version: String,
    /// Whether all input could be read. Otherwise a missing tool may exist in input that was not read.
    pub complete: bool,
    /// The positions of the tools with each name.
    by_name: HashMap<String, Vec<usize>>,
    /// Tools for callers who see no other tool that shares one of their names.
    contested: Vec<Contested>,
}

/// Result of looking up a name.
#[derive(Debug)]
pub enum Resolved<'a> {
    /// One tool.
    Tool(&'a Tool),
    /// Several tools have this name; these are their canonical names.
    Ambiguous(Vec<&'a Tool>),
    /// No tool has this name; these names are nearest.
    Unknown(Vec<&'a str>),
}

impl Catalog {
    /// Applies configured severities and ignores.
    pub fn configure(&self, findings: &mut Vec<Finding>) {
        configure_severities(&self.config.lint, |name| self.named(name), findings);
    }

    /// The title: that of the configuration, else the name of the one server (of an OpenAPI document, its title).
    pub fn title(&self) -> Option<String> {
        let configured = self.config.title.as_deref().map(clean_line).filter(|title| !title.is_empty());
        let mut servers = self.tools.iter().map(|tool| tool.server.as_deref());
        let first = servers.next().flatten();
        let server = if servers.all(|server| server == first) { first } else { None };
        configured.or_else(|| server.map(clean_line).filter(|name| !name.is_empty()))
    }

    /// The secrets policy for calls of its tools.
    pub fn secrets(&self) -> SecretPolicy<'_> {
        SecretPolicy::new(&self.config.state.redact)
    }

    /// The tool with this canonical name.
    pub fn named(&self, name: &str) -> Option<&Tool> {
        self.position(name).map(|index| &*self.tools[index])
    }

    /// The one tool with this name, be it canonical name, op, safe name or alias. Unlike [`Catalog::resolve`] this
    /// takes no longer in a large catalog.
    pub fn find(&self, name: &str) -> Option<&Tool> {
        self.unique_position(name).map(|index| &*self.tools[index])
    }

    /// Positions of the tools with this name.
    fn with_name(&self, name: &str) -> Option<&[usize]> {
        self.by_name.get(name).map(Vec::as_slice)
    }

    /// Position of the tool with this canonical name in [`Catalog::tools`].
    pub fn position(&self, name: &str) -> Option<usize> {
        self.unique_position(name).filter(|&index| self.tools[index].name == name)
    }

    /// Position of the only tool with this name; looks for no near names.
    pub fn unique_position(&self, name: &str) -> Option<usize> {
        match self.with_name(name) {
            Some([index]) => Some(*index),
            _ => None,
        }
    }

    /// The one tool whose op or canonical name is this name in another case, or with other separators.
    pub fn respelled(&self, name: &str) -> Option<&Tool> {
        let is_it = |tool: &&Arc<Tool>| is_respelled(name, &tool.op) || is_respelled(name, &tool.name);
        let mut like = self.tools.iter().filter(is_it);
        let tool = like.next()?;
        like.next().is_none().then_some(tool)
    }

    /// A catalog of these tools.
    pub(crate) fn of(tools: Vec<Arc<Tool>>, contested: Vec<Contested>, config: Arc<Config>) -> Self {
        let all = tools.iter().chain(contested.iter().map(|contested| &contested.tool));
        let version = version(&all.map(|tool| &**tool).collect::<Vec<_>>(), &config.categories);
        let by_name = lookup(&tools);
        Self { tools, config, version, complete: true, by_name, contested }
    }

    /// The tools that a caller may see, in the order of their sources. Tools that contest a name are
    /// left out where the caller sees several of them.
    pub fn seen_by(&self, sees: impl Fn(&Tool) -> bool) -> Vec<&Arc<Tool>> {
        let contested = self.contested.iter().filter(|contested| sees(&contested.tool)).collect();
        let mut contested = uncontested(contested).into_iter().peekable();
        let mut seen = Vec::with_capacity(self.tools.len());
        for position in 0..=self.tools.len() {
            while let Some(next) = contested.next_if(|contested| contested.position == position) {
                seen.push(&next.tool);
            }
            seen.extend(self.tools.get(position).filter(|tool| sees(tool)));
        }
        seen
    }

    /// The same catalog with only these of its tools, or with redacted ones. The version is the hash of the tools
    /// that remain.
    pub fn with_tools(&self, tools: Vec<Arc<Tool>>) -> Self {
        Self { complete: self.complete, ..Self::of(tools, Vec::new(), Arc::clone(&self.config)) }
    }

    /// Looks up a canonical name, op, safe name or alias. An exact canonical name always wins.
    pub fn resolve(&self, name: &str) -> Resolved<'_> {
        match self.with_name(name) {
            Some([index]) => Resolved::Tool(&self.tools[*index]),
            Some(several) => Resolved::Ambiguous(several.iter().map(|&index| &*self.tools[index]).collect()),
            None => Resolved::Unknown(self.near(name)),
        }
    }

    /// Names of tools near an unknown one, best first, at most three: those with its words, then those with nearly its letters.
    /// The name of a read is near to reads alone.
    fn near(&self, name: &str) -> Vec<&str> {
        let is_read = Effect::of_name(name) == Effect::Read;
        let tools = || self.tools.iter().filter(|tool| !is_read || tool.effect == Effect::Read);
        let set = |name: &str| -> BTreeSet<String> { words(name).into_iter().collect() };
        let wanted = if name.len() > LONGEST_NAME { BTreeSet::new() } else { set(name) };
        let has = |all: &BTreeSet<String>, some: &BTreeSet<String>| some.len() > 1 && some.is_subset(all);
        let differing = |tool: &Tool| {
            let known = set(&tool.name);
            let own = set(tool.name.rsplit("__").next().unwrap_or_default());
            let is_alike = has(&known, &wanted) || has(&wanted, &own);
            is_alike.then(|| known.symmetric_difference(&wanted).count())
        };
        let mut near: Vec<(usize, &str)> =
            tools().filter_map(|tool| Some((differing(tool)?, tool.name.as_str()))).collect();
        near.sort_unstable();
        let mut near: Vec<&str> = near.into_iter().map(|(_, name)| name).collect();
        let names = tools().flat_map(|tool| [tool.name.as_str(), tool.op.as_str()]);
        for name in nearest(name, names) {
            let tool = self.find(name).map_or(name, |tool| &tool.name);
            if !near.iter().any(|known| self.find(known).is_some_and(|known| known.name == tool)) {
                near.push(name);
            }
        }
        near.truncate(3);
        near
    }
}

//! All tools, checked, with their configuration applied.

use std::collections::HashMap;
use std::sync::Arc;

use crate::audience::{Contested, uncontested};
use crate::config::Config;
use crate::findings::severity::configure_severities;
use crate::names::{ServerNames, lookup};
use crate::registry::version::version;
use crate::tool::Tool;
use toolcrib_definition::finding::Finding;
use toolcrib_definition::secret::SecretPolicy;
use toolcrib_definition::{clean_line, is_respelled};

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
    pub(crate) by_name: HashMap<String, Vec<usize>>,
    servers: ServerNames,
    /// Tools for callers who see no other tool that shares one of their names.
    contested: Vec<Contested>,
}

impl Catalog {
    /// Applies configured severities and ignores.
    pub fn configure(&self, findings: &mut Vec<Finding>) {
        configure_severities(&self.config.lint, |name| self.named(name), findings);
    }

    /// The title: that of the configuration, else the name of the one server (of an OpenAPI document, its title).
    pub fn title(&self) -> Option<String> {
        let configured = self.config.title.as_deref().map(clean_line).filter(|title| !title.is_empty());
        let mut servers = self.tools.iter().map(|tool| tool.origin.server.as_deref());
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

    /// Position of the tool with this canonical name in [`Catalog::tools`].
    pub fn position(&self, name: &str) -> Option<usize> {
        self.unique_position(name).filter(|&index| self.tools[index].names.canonical == name)
    }

    /// Position of the only tool with this name; looks for no near names.
    pub fn unique_position(&self, name: &str) -> Option<usize> {
        match self.by_name.get(name).map(Vec::as_slice) {
            Some([index]) => Some(*index),
            _ => None,
        }
    }

    /// The one tool whose op or canonical name is this name in another case, or with other separators.
    pub fn respelled(&self, name: &str) -> Option<&Tool> {
        let is_it = |tool: &&Arc<Tool>| {
            (is_respelled(name, &tool.names.op) || is_respelled(name, &tool.names.canonical))
                && self.servers.leads_to(name, tool)
        };
        let mut like = self.tools.iter().filter(is_it);
        let tool = like.next()?;
        like.next().is_none().then_some(tool)
    }

    /// A catalog of these tools.
    pub(crate) fn of(tools: Vec<Arc<Tool>>, contested: Vec<Contested>, config: Arc<Config>) -> Self {
        let all = tools.iter().chain(contested.iter().map(|contested| &contested.tool));
        let version = version(&all.map(|tool| &**tool).collect::<Vec<_>>(), &config.categories);
        let servers = ServerNames::of(&config, tools.iter().filter_map(|tool| tool.origin.server.as_deref()));
        let by_name = lookup(&tools, &servers);
        Self { tools, config, version, complete: true, by_name, servers, contested }
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
}

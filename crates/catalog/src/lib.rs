//! Raw tools in, one checked catalog out; immutable once built.
//!
//! 1. [`names`] makes canonical names unique: tools of several servers that share one are qualified.
//! 2. Each tool is built by itself, in parallel ([`build`]): overlays are applied, programs that the operator does
//!    not trust are removed ([`trust`]), text is cleaned, docstrings are taken apart ([`docstring`]), missing fields
//!    are derived ([`short`], [`policy`], [`names`], [`sample`]), and its schema is repaired and compiled once
//!    ([`schema`]).
//! 3. [`structure`] derives categories and ops where the source names none.
//! 4. [`names`] maps safe names, and settles ops and aliases between tools with the same audience; [`audience`] makes
//!    sure that no name depends on a tool that some of its callers cannot see. [`steps`] settles the effects of tools that
//!    call others.
//! 5. [`lint`] looks at tools and at pairs of them, once all findings are asked for; the configuration sets their
//!    severities ([`findings`]).
//! 6. [`mod@registry`] writes the content down and hashes it: the registry version.
//! 7. [`profile`] selects the tools of one kind of agent; [`tree`] is the tree of their categories, and [`trust`]
//!    the form of a tool for callers who may see but not call it.

pub mod arguments;
mod audience;
mod build;
pub mod config;
mod docstring;
mod findings;
mod lint;
mod names;
mod policy;
mod profile;
mod registry;
mod repair;
mod sample;
mod schema;
mod short;
pub mod sources;
mod steps;
mod structure;
mod tree;
mod trust;
mod validation_cost;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::config::{Config, Facts, Server, Workspace};
use crate::sources::{Awaited, Listings, Loaded, load};
use toolcrib_definition::finding::{Code, Finding, Place, Severity, nearest};
use toolcrib_definition::secret::SecretPolicy;
use toolcrib_definition::{
    CategoryPath, Definition, Effect, Example, NoSchemaMode, Policy, WhenForbidden, clean_line, is_respelled,
    words,
};

pub use build::{ToolArgument, functions};
use findings::Unlinted;
pub use findings::{Findings, UnresolvedName};
pub use profile::{Profile, ProfileTool, UnknownProfile};
pub use registry::{Record, registry, registry_head, registry_line, registry_of};
pub use schema::{Callable, Parameters, result_fits};
pub use tree::{CategoryNode, CategoryTree, by_category};

/// The category of tools that have nothing in common with others.
const LEFT_OVER: &str = "General";

/// One checked tool.
#[derive(Debug)]
pub struct Tool {
    /// Canonical name, unique in the catalog.
    pub name: String,
    /// The name of its doc file and of the function that providers see.
    pub safe_name: String,
    /// The dotted name in the gateway, unique in the catalog.
    pub op: String,
    /// Other names that resolve to it and to no other tool.
    pub aliases: Vec<String>,
    /// Its categories; never empty.
    pub categories: Vec<CategoryPath>,
    /// When to use the tool, in one line within the cap; never empty.
    pub short: String,
    /// Strongest change that a call may make.
    pub effect: Effect,
    /// The server it belongs to.
    pub server: Option<String>,
    /// Place of the definition; the file is relative to the catalog.
    pub place: Place,
    /// Text that the operator has to write before the program of the definition is run; `None` when nothing was
    /// removed.
    pub withheld: Option<String>,
    /// The whole description, cleaned.
    pub description: String,
    /// The description without its text about arguments, when the schema says the same of each.
    pub without_arguments: Option<String>,
    /// The description without the parts that have fields of their own: arguments, returns, examples.
    pub long: String,
    /// Description of the result, in words.
    pub returns: Option<String>,
    /// Errors that a call may end in, in the author's words.
    pub raises: Vec<String>,
    /// Behaviour worth knowing.
    pub notes: Vec<String>,
    /// Examples that fit the schema.
    pub examples: Vec<Example>,
    /// Examples that the author wrote as text.
    pub example_texts: Vec<String>,
    /// When to use it and when not to.
    pub policy: Option<Policy>,
    /// The schema of its arguments, checked.
    pub parameters: Parameters,
    /// Arguments of a complete, valid call; `None` when none could be made.
    pub call: Option<Map<String, Value>>,
    /// Pointers to the values of that call that are invented.
    pub fill_in: Vec<String>,
    /// The definition as its author wrote it, with overlays applied, without a program that it may not name.
    pub definition: Definition,
    /// Arguments whose values the operator sets.
    pub set_arguments: Vec<ToolArgument>,
    /// The hash of its content.
    digest: registry::Digest,
}

/// The longest unknown name, in bytes, whose words are compared.
const LONGEST_NAME: usize = 200;

impl Tool {
    /// The name by which people know it: the one that a client lists for a live server's tool, and the op of any other.
    pub fn shown_name(&self) -> &str {
        if self.place.file.starts_with("mcp:") { &self.name } else { &self.op }
    }

    /// Whether callers without such a role see that the tool exists.
    pub fn is_visible_to_all(&self) -> bool {
        self.definition.when_forbidden == Some(WhenForbidden::Visible)
    }

    /// Whether a person approves each call: the author wants that, or calls cannot be checked otherwise.
    pub fn wants_approval(&self) -> bool {
        let is_unchecked = Callable::Unchecked(NoSchemaMode::HumanApproval);
        self.definition.approval == Some(true) || *self.parameters.callable() == is_unchecked
    }

    /// The reason why it cannot be called, if it cannot.
    pub fn not_callable(&self) -> Option<&str> {
        match self.parameters.callable() {
            Callable::No(reason) => Some(reason),
            _ => None,
        }
    }

    /// The facts that selectors match.
    pub fn facts(&self) -> Facts<'_> {
        Facts {
            name: &self.definition.name,
            canonical: &self.name,
            categories: &self.categories,
            tags: &self.definition.tags,
            source: &self.place.file,
            server: self.server.as_deref(),
            effect: self.effect,
        }
    }

    /// A finding about the tool, at its definition.
    fn finding(&self, code: Code, message: impl Into<String>) -> Finding {
        Finding::new(code, message).tool(&self.name).at(self.place.clone())
    }
}

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
    contested: Vec<audience::Contested>,
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

/// A catalog with all findings about it.
#[derive(Debug, Default)]
pub struct Checked {
    /// The catalog of all input that could be read.
    pub catalog: Catalog,
    /// Findings, located, with configured severities.
    pub findings: Findings,
    /// The files, for excerpts.
    pub documents: Vec<toolcrib_definition::finding::Document>,
    /// The files that definitions refer to, also those that could not be read; relative to the catalog.
    pub parts: BTreeSet<String>,
    /// The registry version in each `registry.json` that was read.
    pub registries: BTreeMap<String, String>,
    /// The live servers that have not answered yet, and may do so soon.
    pub awaited: Option<Awaited>,
}

impl Checked {
    /// Number of findings of this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.count(severity)
    }

    /// Whether some of the input is missing from the catalog.
    pub fn lost_input(&self) -> bool {
        self.findings.errors().any(|finding| finding.code.loses_input())
    }
}

/// Reads, builds and checks the catalog of a workspace. Live servers that it names are not contacted.
pub fn open(workspace: Workspace) -> Checked {
    open_with(workspace, &Listings::default())
}

/// Reads, builds and checks the catalog of a workspace, with these listings of its live servers.
pub fn open_with(mut workspace: Workspace, listings: &Listings) -> Checked {
    let Loaded { tools, categories, mut documents, parts, registries, bases, findings } =
        load(&workspace, listings);
    documents.extend(workspace.document.take());
    for (name, url) in bases {
        let server = Server { url: Some(url), ..Server::default() };
        workspace.config.servers.entry(name).or_insert(server);
    }
    let mut all = std::mem::take(&mut workspace.findings);
    all.extend(findings);
    let tools = registry::refuse_own_output(tools, &mut all);
    let tools = registry::without_copies(tools, &registries, &mut all);
    let (catalog, lint) = build::build(workspace, tools, categories, &mut all);
    let findings = Findings::unlinted(Unlinted {
        findings: all,
        lint,
        config: Arc::clone(&catalog.config),
        documents: documents.clone(),
        parts: parts.clone(),
    });
    let awaited = listings.awaited().cloned();
    let mut checked = Checked { catalog, findings, documents, parts, registries, awaited };
    checked.catalog.complete = !checked.lost_input();
    checked
}

impl Catalog {
    /// Applies configured severities and ignores.
    pub fn configure(&self, findings: &mut Vec<Finding>) {
        findings::configure_severities(&self.config.lint, |name| self.named(name), findings);
    }

    /// The title: that of the configuration, else the name of the one server (of an OpenAPI document, its title).
    pub fn title(&self) -> Option<String> {
        let configured = self.config.title.as_deref().map(clean_line).filter(|title| !title.is_empty());
        let mut servers = self.tools.iter().map(|tool| tool.server.as_deref());
        let first = servers.next().flatten();
        let server = first.filter(|_| servers.all(|server| server == first));
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
        like.next().filter(|_| like.next().is_none()).map(|tool| &**tool)
    }

    /// A catalog of these tools.
    fn of(tools: Vec<Arc<Tool>>, contested: Vec<audience::Contested>, config: Arc<Config>) -> Self {
        let all = tools.iter().chain(contested.iter().map(|contested| &contested.tool));
        let version = registry::version(&all.map(|tool| &**tool).collect::<Vec<_>>(), &config.categories);
        let by_name = names::lookup(&tools);
        Self { tools, config, version, complete: true, by_name, contested }
    }

    /// The tools that a caller may see, in the order of their sources. Tools that contest a name are
    /// left out where the caller sees several of them.
    pub fn seen_by(&self, sees: impl Fn(&Tool) -> bool) -> Vec<&Arc<Tool>> {
        let contested = self.contested.iter().filter(|contested| sees(&contested.tool)).collect();
        let mut contested = audience::uncontested(contested).into_iter().peekable();
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

//! Raw tools in, one checked catalog out; immutable once built.
//!
//! 1. [`names`] makes canonical names unique: tools of several servers that share one are qualified.
//! 2. Each tool is built by itself, in parallel ([`build`]): overlays are applied, what the operator does not trust is
//!    taken from it ([`trust`]), text is cleaned, docstrings are
//!    taken apart ([`docstring`]), what is missing is derived ([`short`], [`policy`], [`op`], [`sample`]), and its
//!    schema is repaired and compiled once ([`schema`]).
//! 3. [`names`] maps safe names, and settles ops and aliases between tools that the same callers see; [`audience`] sees to
//!    it that no name depends on a tool that some of its callers cannot see.
//! 4. [`lint`] looks at tools and at pairs of them.
//! 5. [`registry`] writes the content down and hashes it: the registry version.
//! 6. [`profile`] picks what one kind of agent gets; [`tree`] is the tree of their categories, and [`redacted`] what is
//!    left of a tool for those who may know of it but not use it.

mod audience;
mod build;
mod docstring;
mod functions;
mod lint;
mod names;
mod op;
mod policy;
mod profile;
mod redacted;
mod registry;
mod repair;
mod sample;
mod schema;
mod short;
mod tree;
mod trust;
mod unresolved;
mod validation_cost;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::config::{Config, Workspace};
use crate::finding::{Code, Finding, Limits, Place, Severity, locate, nearest};
use crate::secret::Policy as Secrets;
use crate::sources::mcp::Listings;
use crate::sources::{Loaded, load};
use crate::tool::{CategoryPath, Definition, Effect, Example, Policy};

pub use functions::functions;
pub use profile::{Profile, ProfileTool};
pub use registry::{Record, registry, registry_head, registry_line};
pub use schema::{Callable, Parameters};
pub use tree::{CategoryNode, CategoryTree, by_category};
pub use unresolved::UnresolvedName;

/// One checked tool: its definition, and everything that follows from it.
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
    /// Where it hangs; never empty.
    pub categories: Vec<CategoryPath>,
    /// "When would I use this?", within the cap; never empty.
    pub short: String,
    /// The whole description, cleaned.
    pub description: String,
    /// The description without what it says of arguments, when the schema says the same of each.
    pub without_arguments: Option<String>,
    /// The description without what is told elsewhere: arguments, returns, examples.
    pub long: String,
    /// What a call returns, in words.
    pub returns: Option<String>,
    /// What can go wrong, in the author's words.
    pub raises: Vec<String>,
    /// Behaviour worth knowing.
    pub notes: Vec<String>,
    /// Examples that fit the schema.
    pub examples: Vec<Example>,
    /// Examples that the author wrote as text.
    pub example_texts: Vec<String>,
    /// When to use it and when not to.
    pub policy: Option<Policy>,
    /// What a call may change.
    pub effect: Effect,
    /// The schema of its arguments, checked.
    pub parameters: Parameters,
    /// Arguments of a complete, valid call, unless none could be made.
    pub call: Option<serde_json::Map<String, serde_json::Value>>,
    /// As its author wrote it, overlays applied, without a program that it may not name.
    pub definition: Definition,
    /// What the operator has to write before the program is run that its definition names; none when nothing was taken
    /// from it.
    pub withheld: Option<String>,
    /// The server it belongs to.
    pub server: Option<String>,
    /// Where it is written, the file relative to the catalog.
    pub place: Place,
    /// The hash of its content.
    digest: OnceLock<blake3::Hash>,
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
    /// Whether all input could be read; otherwise that a tool is not here proves nothing.
    pub complete: bool,
    by_name: HashMap<String, Vec<usize>>,
    /// Tools that are here only for callers who do not see the others of their names.
    contested: Vec<audience::Contested>,
}

/// What a name means.
#[derive(Debug)]
pub enum Resolved<'a> {
    /// One tool.
    Tool(&'a Tool),
    /// Several tools go by this name; say which.
    Ambiguous(Vec<&'a Tool>),
    /// None; these names are nearest.
    Unknown(Vec<&'a str>),
}

/// A catalog with all that was found on the way.
#[derive(Debug, Default)]
pub struct Checked {
    /// The catalog of what could be read.
    pub catalog: Catalog,
    /// Findings, located, with configured severities.
    pub findings: Vec<Finding>,
    /// The files, for snippets.
    pub documents: Vec<crate::finding::Document>,
}

impl Checked {
    /// How many findings have this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// Whether something the user gave is missing from the catalog.
    pub fn lost_input(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error && finding.code.loses_input())
    }
}

/// Reads, builds and checks the catalog of a workspace. Live servers that it names are not contacted.
pub fn open(workspace: Workspace) -> Checked {
    open_with(workspace, &Listings::default())
}

/// Reads, builds and checks the catalog of a workspace, of whose live servers these are the listings.
pub fn open_with(mut workspace: Workspace, listings: &Listings) -> Checked {
    let Loaded { tools, mut documents, findings } = load(&workspace, listings, &Limits::default());
    documents.extend(workspace.document.take());
    let mut all = std::mem::take(&mut workspace.findings);
    all.extend(findings);
    let catalog = build::build(workspace, tools, &mut all);
    catalog.configure(&mut all);
    locate(&documents, &mut all);
    let mut checked = Checked { catalog, findings: all, documents };
    checked.catalog.complete = !checked.lost_input();
    checked
}

impl Tool {
    /// What selectors look at.
    pub fn facts(&self) -> crate::config::Facts<'_> {
        crate::config::Facts {
            name: &self.definition.name,
            canonical: &self.name,
            categories: &self.categories,
            tags: &self.definition.tags,
            source: &self.place.file,
            server: self.server.as_deref(),
            effect: self.effect,
        }
    }
}

impl Catalog {
    /// Applies configured severities and ignores.
    pub fn configure(&self, findings: &mut Vec<Finding>) {
        use crate::config::LintLevel;
        let lint = &self.config.lint;
        for finding in findings.iter_mut() {
            finding.severity = match lint.severity.get(finding.code.as_str()) {
                Some(LintLevel::Error) => Severity::Error,
                Some(LintLevel::Warning) => Severity::Warning,
                Some(LintLevel::Info) => Severity::Info,
                _ => finding.severity,
            };
        }
        let off = |code: Code| lint.severity.get(code.as_str()) == Some(&LintLevel::Off);
        let ignored = |finding: &Finding| {
            let tool = finding.tool.as_deref().and_then(|name| self.named(name));
            lint.ignore.iter().filter(|rule| rule.code == finding.code.as_str()).any(|rule| {
                rule.tools.is_empty() || tool.is_some_and(|tool| rule.tools.contains(&tool.facts()))
            })
        };
        findings.retain(|finding| !off(finding.code) && !ignored(finding));
    }

    /// What is secret in calls of its tools.
    pub fn secrets(&self) -> Secrets<'_> {
        Secrets::new(&self.config.state.redact)
    }

    /// The tool with this canonical name.
    pub fn named(&self, name: &str) -> Option<&Tool> {
        self.position(name).map(|index| &*self.tools[index])
    }

    /// The one tool that goes by a name, be it canonical name, op, safe name or alias. Unlike [`Catalog::resolve`] this
    /// takes no longer in a large catalog.
    pub fn find(&self, name: &str) -> Option<&Tool> {
        self.named(name).or_else(|| match self.by_name.get(name).map(Vec::as_slice) {
            Some([index]) => Some(&*self.tools[*index]),
            _ => None,
        })
    }

    /// Where the tool with this canonical name stands in [`Catalog::tools`].
    pub fn position(&self, name: &str) -> Option<usize> {
        self.by_name.get(name)?.iter().copied().find(|&index| self.tools[index].name == name)
    }

    /// The place of the tool that goes by this name, if it is the only one. Looks for no others.
    pub fn unique_position(&self, name: &str) -> Option<usize> {
        match self.by_name.get(name).map(Vec::as_slice) {
            Some([index]) => Some(*index),
            _ => self.named(name).and_then(|tool| self.position(&tool.name)),
        }
    }

    /// A catalog of these tools.
    fn of(tools: Vec<Arc<Tool>>, contested: Vec<audience::Contested>, config: Arc<Config>) -> Self {
        let by_name = names::lookup(&tools);
        let all = tools.iter().chain(contested.iter().map(|contested| &contested.tool));
        let version = registry::version(&all.map(|tool| &**tool).collect::<Vec<_>>(), &config.categories);
        Self { tools, config, version, complete: true, by_name, contested }
    }

    /// The tools of somebody who sees these, in the order of their sources. Who sees several of the tools that contest a
    /// name has none of them.
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

    /// The same catalog with only these of its tools, or with less of each. The version is that of what is left.
    pub fn with_tools(&self, tools: Vec<Arc<Tool>>) -> Self {
        Self { complete: self.complete, ..Self::of(tools, Vec::new(), Arc::clone(&self.config)) }
    }

    /// What a canonical name, op, safe name or alias means. An exact canonical name always wins.
    pub fn resolve(&self, name: &str) -> Resolved<'_> {
        if let Some(tool) = self.named(name) {
            return Resolved::Tool(tool);
        }
        match self.by_name.get(name).map(Vec::as_slice) {
            Some([index]) => Resolved::Tool(&self.tools[*index]),
            Some(several) => Resolved::Ambiguous(several.iter().map(|&index| &*self.tools[index]).collect()),
            None => Resolved::Unknown(nearest(
                name,
                self.tools.iter().flat_map(|tool| [tool.name.as_str(), tool.op.as_str()]),
            )),
        }
    }
}

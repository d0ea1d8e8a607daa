//! What one kind of caller may see of a catalog. To that caller nothing else exists.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::{discovery, tool_help};
use crate::catalog::{Catalog, CategoryTree, Profile, ProfileTool, Resolved, Tool};
use crate::exec::EVERY_ROLE;
use crate::render::{Doc, Docs, TemplateError, Templates};
use crate::search::semantic::{self, VectorSlot};
use crate::search::{Index, IndexEntry};
use crate::tool::{DescriptionMode, WhenForbidden};

/// A catalog restricted to a profile and to the roles of a caller, with its docs. Docs are made when they are first
/// read, and kept; reading takes no lock.
#[derive(Debug)]
pub struct CatalogView {
    catalog: Catalog,
    profile: Option<String>,
    modes: Vec<DescriptionMode>,
    /// The tools of which this caller may know no more than that they are there.
    forbidden: Vec<bool>,
    templates: Arc<Templates>,
    pages: Vec<OnceLock<Result<DocPage, TemplateError>>>,
    index: OnceLock<Result<Vec<IndexPage>, TemplateError>>,
    search: OnceLock<Index>,
    vector_slot: OnceLock<Arc<VectorSlot>>,
    tree: OnceLock<CategoryTree>,
    categories: OnceLock<Index>,
    /// Whether any tool's result can change what a session is about.
    shifts: bool,
    /// Who waits for those waits here, not on a thread.
    index_build: tokio::sync::Mutex<()>,
    expanded: Vec<OnceLock<Bytes>>,
    definition_tokens: OnceLock<u64>,
    help: tool_help::HelpCache,
}

/// The doc of one tool.
#[derive(Clone, Debug)]
pub struct DocPage {
    /// What `tools/NAME.md` holds.
    pub markdown: Bytes,
    /// The doc version.
    pub version: String,
    /// The receipt.
    pub receipt: String,
}

/// A page of the index.
#[derive(Clone, Debug)]
pub struct IndexPage {
    /// Below the folder of docs: `README.md`, `categories/NAME.md`.
    pub path: String,
    /// What it is called; markdown.
    pub title: String,
    /// What the file holds.
    pub markdown: Bytes,
}

impl CatalogView {
    /// What callers with these `roles` see of a profile; `None` stands for every role. The error says which profiles
    /// there are.
    pub fn new(
        catalog: &Catalog,
        profile: Option<&str>,
        roles: Option<&[String]>,
        templates: Arc<Templates>,
    ) -> Result<Self, String> {
        let mode = catalog.modes(profile)?;
        let roles = roles.filter(|roles| !roles.iter().any(|role| role == EVERY_ROLE));
        let may_use = |tool: &Tool| {
            let allowed = &tool.definition.allowed_roles;
            allowed.is_empty() || roles.is_none_or(|roles| roles.iter().any(|role| allowed.contains(role)))
        };
        let is_visible = |tool: &Tool| tool.definition.when_forbidden == Some(WhenForbidden::Visible);
        let mut seen = catalog.seen_by(|tool| may_use(tool) || is_visible(tool));
        seen.retain(|tool| mode(tool).is_some());
        let modes: Vec<DescriptionMode> = seen.iter().filter_map(|tool| mode(tool)).collect();
        let forbidden: Vec<bool> = seen.iter().map(|tool| !may_use(tool)).collect();
        let shown = |(tool, forbidden): (&Arc<Tool>, &bool)| match forbidden {
            true => Arc::new(tool.redacted()),
            false => Arc::clone(tool),
        };
        let catalog = catalog.with_tools(seen.into_iter().zip(&forbidden).map(shown).collect());
        let pages = catalog.tools.iter().map(|_| OnceLock::new()).collect();
        let expanded = catalog.tools.iter().map(|_| OnceLock::new()).collect();
        let help = tool_help::HelpCache::of(catalog.tools.len());
        let profile = profile.map(ToString::to_string);
        let (index, search, meaning) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (tree, categories) = (OnceLock::new(), OnceLock::new());
        let shifts = catalog.tools.iter().any(|tool| tool.definition.context_shift.is_some());
        Ok(Self {
            profile,
            shifts,
            modes,
            forbidden,
            templates,
            pages,
            expanded,
            help,
            catalog,
            index,
            search,
            vector_slot: meaning,
            tree,
            categories,
            index_build: tokio::sync::Mutex::default(),
            definition_tokens: OnceLock::new(),
        })
    }

    /// Whether the caller may know of the tool at this place that it is there, and no more.
    pub fn is_forbidden(&self, index: usize) -> bool {
        self.forbidden.get(index).copied().unwrap_or(false)
    }

    /// Whether there is any such tool.
    pub fn has_forbidden(&self) -> bool {
        self.forbidden.contains(&true)
    }

    /// Whether any tool's result can change what a session is about.
    pub fn has_context_shifts(&self) -> bool {
        self.shifts
    }

    /// The tools that exist for this caller.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The registry version of what this caller sees.
    pub fn version(&self) -> &str {
        &self.catalog.version
    }

    /// Different whenever docs or lists say something else.
    pub fn content(&self) -> String {
        format!("{} {}", self.catalog.version, self.templates.hash())
    }

    /// Whether all that was made of the other catalog view holds for this one, where both have the same configuration.
    pub fn is_like(&self, other: &Self) -> bool {
        let written = |view: &Self| {
            let tools = view.catalog.tools.iter();
            tools
                .map(|tool| (tool.place.file.clone(), tool.server.clone(), tool.withheld.clone()))
                .collect::<Vec<_>>()
        };
        self.content() == other.content() && written(self) == written(other)
    }

    /// How much of the tool at this place is bound.
    pub fn mode(&self, index: usize) -> Option<DescriptionMode> {
        self.modes.get(index).copied()
    }

    /// The templates of its docs.
    pub fn templates(&self) -> &Templates {
        &self.templates
    }

    /// The profile, as render and provider want it. Takes time that grows with the catalog.
    pub fn profile(&self) -> Profile<'_> {
        let tools = self.catalog.tools.iter().zip(&self.modes);
        let name = self.profile.as_deref();
        Profile {
            name,
            description: name
                .and_then(|name| self.catalog.config.profiles.get(name))
                .and_then(|profile| profile.description.as_deref()),
            tools: tools.map(|(tool, &mode)| ProfileTool { tool, mode }).collect(),
            picked: false,
        }
    }

    /// The doc of the tool at this place of [`Catalog::tools`].
    pub fn page(&self, index: usize) -> Option<&Result<DocPage, TemplateError>> {
        let (tool, page) = (self.catalog.tools.get(index)?, self.pages.get(index)?);
        Some(page.get_or_init(|| {
            let doc = Doc::of(tool, &self.catalog);
            let markdown = doc.render(&self.templates, &self.catalog.version)?;
            let (version, receipt) = (doc.version().to_string(), doc.receipt().to_string());
            Ok(DocPage { markdown: Bytes::from(markdown), version, receipt })
        }))
    }

    /// The text of the doc at this place, for who reads all of them once: it is not kept. None for a tool that the
    /// caller may not use.
    pub fn markdown(&self, index: usize) -> Option<String> {
        if self.is_forbidden(index) {
            return None;
        }
        if let Some(kept) = self.pages.get(index)?.get() {
            return kept.as_ref().ok().map(|page| String::from_utf8_lossy(&page.markdown).into_owned());
        }
        let doc = Doc::of(self.catalog.tools.get(index)?, &self.catalog);
        doc.render(&self.templates, &self.catalog.version).ok()
    }

    /// The profile's name.
    pub fn profile_name(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    /// The index: `README.md`, then the pages that it is split into where there are many tools.
    pub fn index(&self) -> &Result<Vec<IndexPage>, TemplateError> {
        self.index.get_or_init(|| {
            let docs = Docs::new(&self.catalog, self.profile(), &self.templates);
            let page = |path: &str, title: &str, markdown: Result<String, TemplateError>| {
                Ok(IndexPage { path: path.into(), title: title.into(), markdown: Bytes::from(markdown?) })
            };
            let first = std::iter::once(page("README.md", "Tools", docs.index()));
            first.chain(docs.index_pages().map(|(path, title, text)| page(path, title, text))).collect()
        })
    }

    /// The words of its tools, entries in the order of [`Catalog::tools`]. Each catalog view has an index of its own: words of
    /// tools that a caller may not see would show in what is found. Made when it is first asked for.
    pub fn search(&self) -> &Index {
        self.search.get_or_init(|| {
            let entries: Vec<IndexEntry> =
                self.catalog.tools.iter().map(|tool| IndexEntry::from(&**tool)).collect();
            self.index_of(&entries)
        })
    }

    /// An index as the configuration wants it.
    fn index_of(&self, entries: &[IndexEntry]) -> Index {
        Index::configured(entries, &self.catalog.config.search)
    }

    /// The place for the vectors of its tools, in the order of [`Catalog::tools`].
    pub fn vector_slot(&self) -> &Arc<VectorSlot> {
        self.vector_slot.get_or_init(|| {
            Arc::new(VectorSlot::new(self.catalog.tools.iter().map(|tool| semantic::text(tool)).collect()))
        })
    }

    /// The tree of its categories. Made when it is first asked for.
    pub fn tree(&self) -> &CategoryTree {
        self.tree.get_or_init(|| CategoryTree::of(&self.catalog))
    }

    /// The words of its categories, entries in the order of [`CategoryTree::nodes`]. Made when it is first asked for.
    pub(super) fn categories(&self) -> &Index {
        self.categories.get_or_init(|| self.index_of(&discovery::entries(&self.catalog, self.tree())))
    }

    /// Makes what searches need, which takes time that grows with the catalog; at once where that is done.
    pub fn build_indexes(&self) {
        self.tree();
        self.search();
        self.categories();
    }

    /// Whether what searches need is there.
    pub fn is_indexed(&self) -> bool {
        self.tree.get().is_some() && self.search.get().is_some() && self.categories.get().is_some()
    }

    /// Waits until what searches need is there. It is made on a thread of its own, so that those that wait beside this
    /// one go on.
    pub async fn wait_for_indexes(self: &Arc<Self>) {
        if self.is_indexed() {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let _turn = self.index_build.lock().await;
        if !self.is_indexed() {
            let view = Arc::clone(self);
            // What breaks there breaks again where it is used, and is told there.
            let _ = runtime.spawn_blocking(move || view.build_indexes()).await;
        }
    }

    /// What is kept of the answers of `expand_tool`, by the place of the tool.
    pub(super) fn expanded(&self, index: usize) -> Option<&OnceLock<Bytes>> {
        self.expanded.get(index)
    }

    /// About how many tokens the definitions of all its tools take, with four bytes to a token.
    pub(super) fn definition_tokens(&self) -> u64 {
        *self.definition_tokens.get_or_init(|| {
            let schema =
                |tool: &Tool| tool.definition.parameters.as_ref().map_or(0, |schema| schema.text().len());
            let bytes = |tool: &Tool| tool.name.len() + tool.description.len() + schema(tool);
            self.catalog.tools.iter().map(|tool| bytes(tool) as u64).sum::<u64>() / 4
        })
    }

    /// What is kept of the answers of `tool_help`, and the groups that it tells of.
    pub(super) fn help(&self) -> &tool_help::HelpCache {
        &self.help
    }

    /// The place of the tool that a name means: its canonical name, op, safe name or alias.
    pub fn resolve(&self, name: &str) -> Result<usize, Resolved<'_>> {
        match self.catalog.resolve(name) {
            Resolved::Tool(tool) => self.catalog.position(&tool.name).ok_or(Resolved::Unknown(Vec::new())),
            other => Err(other),
        }
    }
}

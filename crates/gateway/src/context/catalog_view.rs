//! The part of a catalog that one kind of caller may see. For that caller nothing else exists.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;
use rayon::prelude::*;
use serde_json::{Map, Value};

use super::agent_skills::ServedSkill;
use crate::caller::EVERY_ROLE;
use crate::tool_error::ToolError;
use toolcrib_catalog::{
    Catalog, CategoryNode, CategoryTree, Profile, ProfileTool, Resolved, Tool, UnknownProfile,
};
use toolcrib_definition::DescriptionMode;
use toolcrib_definition::guard::locked;
use toolcrib_render::help::{EffectFilter, Groups, HelpOptions};
use toolcrib_render::{Around, Doc, Docs, TemplateError, Templates};
use toolcrib_search::semantic::VectorSlot;
use toolcrib_search::{Field, Index, IndexEntry, semantic};

/// A catalog restricted to a profile and to the roles of a caller, with its docs. Docs are made when they are first
/// read, and cached.
#[derive(Debug)]
pub struct CatalogView {
    catalog: Catalog,
    profile: Option<String>,
    modes: Vec<DescriptionMode>,
    /// The tools that this caller may see but not call.
    forbidden: Vec<bool>,
    templates: Arc<Templates>,
    /// The doc of each tool, in the order of [`Catalog::tools`].
    pages: Vec<OnceLock<Result<DocPage, TemplateError>>>,
    /// Whether the result of any tool can change the context of a session.
    shifts: bool,
    derived: Derived,
}

/// What is made of a view at its first use.
#[derive(Debug, Default)]
struct Derived {
    index: OnceLock<Result<Vec<IndexPage>, TemplateError>>,
    skills: OnceLock<Result<Vec<ServedSkill>, TemplateError>>,
    vector_slot: OnceLock<Arc<VectorSlot>>,
    tree: OnceLock<CategoryTree>,
    /// The search indexes of its tools and of its categories.
    searchable: OnceLock<Index>,
    searchable_categories: OnceLock<Index>,
    /// Callers who wait for the indexes wait here, not on a thread.
    index_build: tokio::sync::Mutex<()>,
    /// The groups of its help.
    groups: OnceLock<Groups>,
    /// The answers of help, by target and options.
    help: Mutex<HelpAnswers>,
}

type HelpAnswers = HashMap<(HelpTarget, HelpOptions), Arc<Map<String, Value>>>;

/// The doc of one tool.
#[derive(Clone, Debug)]
pub struct DocPage {
    /// Content of `tools/NAME.md`.
    pub markdown: Bytes,
    /// The doc version.
    pub version: String,
    pub receipt: String,
}

#[derive(Clone, Debug)]
pub struct IndexPage {
    /// Below the folder of docs: `README.md`, `categories/NAME.md`.
    pub path: String,
    /// Title; markdown.
    pub title: String,
    /// Content of the file.
    pub markdown: Bytes,
}

impl CatalogView {
    /// The catalog view of callers with these `roles` on a profile; `None` stands for every role.
    pub fn new(
        catalog: &Catalog,
        profile: Option<&str>,
        roles: Option<&[String]>,
        templates: Arc<Templates>,
    ) -> Result<Self, UnknownProfile> {
        let mode = catalog.modes(profile)?;
        let roles = roles.filter(|roles| !roles.iter().any(|role| role == EVERY_ROLE));
        let may_use = |tool: &Tool| {
            let allowed = &tool.rules.roles;
            allowed.is_empty() || roles.is_none_or(|roles| roles.iter().any(|role| allowed.contains(role)))
        };
        let seen =
            catalog.seen_by(|tool| (may_use(tool) || tool.is_visible_to_all()) && mode(tool).is_some());
        let modes: Vec<DescriptionMode> = seen.iter().filter_map(|tool| mode(tool)).collect();
        let forbidden: Vec<bool> = seen.iter().map(|tool| !may_use(tool)).collect();
        let shown = |(tool, forbidden): (&Arc<Tool>, &bool)| {
            if *forbidden { Arc::new(tool.redacted()) } else { Arc::clone(tool) }
        };
        let catalog = catalog.with_tools(seen.into_iter().zip(&forbidden).map(shown).collect());
        Ok(Self {
            profile: profile.map(ToString::to_string),
            shifts: catalog.tools.iter().any(|tool| tool.rules.context_shift.is_some()),
            modes,
            forbidden,
            templates,
            pages: catalog.tools.iter().map(|_| OnceLock::new()).collect(),
            catalog,
            derived: Derived::default(),
        })
    }

    /// Whether the caller may see the tool at this position but not call it.
    pub fn is_forbidden(&self, index: usize) -> bool {
        self.forbidden.get(index).copied().unwrap_or(false)
    }

    /// Whether the result of any tool can change the context of a session.
    pub fn has_context_shifts(&self) -> bool {
        self.shifts
    }

    /// The tools that exist for this caller.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The registry version of this catalog view.
    pub fn version(&self) -> &str {
        &self.catalog.version
    }

    /// A hash that changes when docs or lists change.
    pub fn content(&self) -> String {
        format!("{} {}", self.catalog.version, self.templates.hash())
    }

    /// Whether everything made from the other catalog view holds for this one, where both have the same
    /// configuration.
    pub fn is_like(&self, other: &Self) -> bool {
        let written = |view: &Self| {
            let tools = view.catalog.tools.iter();
            let of_tool = |Tool { origin, rules, .. }: &Tool| {
                (origin.place.file.clone(), origin.server.clone(), rules.withheld.clone())
            };
            tools.map(|tool| of_tool(tool)).collect::<Vec<_>>()
        };
        self.profile == other.profile && self.content() == other.content() && written(self) == written(other)
    }

    /// Description mode of the tool at this position.
    pub fn mode(&self, index: usize) -> Option<DescriptionMode> {
        self.modes.get(index).copied()
    }

    /// The templates of its docs.
    pub fn templates(&self) -> &Templates {
        &self.templates
    }

    /// The profile, as render and provider take it. The time for it grows with the catalog.
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

    /// The same without the tools that the caller may see and not call.
    pub fn usable_profile(&self) -> Profile<'_> {
        let mut profile = self.profile();
        let mut forbidden = self.forbidden.iter();
        profile.tools.retain(|_| !forbidden.next().copied().unwrap_or(false));
        profile
    }

    /// The doc of the tool at this position in [`Catalog::tools`].
    pub fn page(&self, index: usize) -> Option<&Result<DocPage, TemplateError>> {
        let tool = self.catalog.tools.get(index)?;
        let page = self.pages.get(index)?;
        Some(page.get_or_init(|| {
            let doc = Doc::of(tool, &self.catalog);
            let markdown = doc.render(&self.templates, &self.catalog.version, Around::FUNCTIONS)?;
            Ok(DocPage { markdown: Bytes::from(markdown), version: doc.doc_version, receipt: doc.receipt })
        }))
    }

    /// The profile's name.
    pub fn profile_name(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    /// The index: `README.md`, then the pages that it is split into where there are many tools.
    pub fn index(&self) -> &Result<Vec<IndexPage>, TemplateError> {
        self.derived.index.get_or_init(|| {
            let docs = Docs::new(&self.catalog, self.profile(), &self.templates);
            let page = |path: &str, title: &str, markdown: Result<String, TemplateError>| {
                Ok(IndexPage { path: path.into(), title: title.into(), markdown: Bytes::from(markdown?) })
            };
            let first = std::iter::once(page("README.md", "Tools", docs.index()));
            first.chain(docs.index_pages().map(|(path, title, text)| page(path, title, text))).collect()
        })
    }

    /// Its tools as Agent Skills. Made at their first use.
    pub fn skills(&self) -> &Result<Vec<ServedSkill>, TemplateError> {
        self.derived
            .skills
            .get_or_init(|| ServedSkill::all(&self.catalog, &self.usable_profile(), &self.templates))
    }

    /// The search index of its tools, entries in the order of [`Catalog::tools`]. Each catalog view has its own
    /// index: words of tools that a caller may not see would affect the hits. Made at its first use.
    pub fn search(&self) -> &Index {
        self.derived.searchable.get_or_init(|| {
            let entries: Vec<IndexEntry> =
                self.catalog.tools.par_iter().map(|tool| IndexEntry::from(&**tool)).collect();
            Index::configured(&entries, &self.catalog.config.search)
        })
    }

    /// The slot for the vectors of its tools, in the order of [`Catalog::tools`].
    pub fn vector_slot(&self) -> &Arc<VectorSlot> {
        self.derived.vector_slot.get_or_init(|| {
            Arc::new(VectorSlot::new(
                self.catalog.tools.iter().map(|tool| semantic::tool_text(tool)).collect(),
            ))
        })
    }

    /// The tree of its categories. Made at its first use.
    pub fn tree(&self) -> &CategoryTree {
        self.derived.tree.get_or_init(|| CategoryTree::of(&self.catalog))
    }

    /// The search index of its categories, entries in the order of [`CategoryTree::nodes`]. Made at its first use.
    pub(crate) fn categories(&self) -> &Index {
        self.derived.searchable_categories.get_or_init(|| {
            Index::configured(&category_entries(&self.catalog, self.tree()), &self.catalog.config.search)
        })
    }

    /// Builds the search indexes, which takes time that grows with the catalog; at once where they are there.
    pub fn build_indexes(&self) {
        self.search();
        self.categories();
    }

    /// Whether the search indexes are built.
    pub fn is_indexed(&self) -> bool {
        self.derived.searchable.get().is_some() && self.derived.searchable_categories.get().is_some()
    }

    /// Waits until the search indexes are built, on a separate thread, so that other requests of this thread go on.
    pub async fn wait_for_indexes(self: &Arc<Self>) {
        if self.is_indexed() {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let _turn = self.derived.index_build.lock().await;
        if !self.is_indexed() {
            let view = Arc::clone(self);
            // A failure there happens again where the index is used, and is reported there.
            let _ = runtime.spawn_blocking(move || view.build_indexes()).await;
        }
    }

    /// The groups of its help. Made at their first use.
    pub(crate) fn groups(&self) -> &Groups {
        self.derived.groups.get_or_init(|| Groups::of(&self.catalog, self.tree()))
    }

    /// The help on a target. Made at its first use, and then kept, except where a caller chooses the text of the target.
    pub(crate) fn help(
        &self,
        target: &HelpTarget,
        wanted: HelpOptions,
        make: impl FnOnce() -> Result<Map<String, Value>, ToolError>,
    ) -> Result<Arc<Map<String, Value>>, ToolError> {
        if !matches!(target, HelpTarget::Op(_) | HelpTarget::Group(..)) {
            return make().map(Arc::new);
        }
        let key = (target.clone(), wanted);
        if let Some(kept) = locked(&self.derived.help).get(&key) {
            return Ok(Arc::clone(kept));
        }
        let made = Arc::new(make()?);
        locked(&self.derived.help).insert(key, Arc::clone(&made));
        Ok(made)
    }

    /// Position of the tool with this canonical name, op, safe name or alias.
    pub fn resolve(&self, name: &str) -> Result<usize, Resolved<'_>> {
        match self.catalog.resolve(name) {
            Resolved::Tool(Tool { names, .. }) => {
                self.catalog.position(&names.canonical).ok_or(Resolved::Unknown(Vec::new()))
            }
            other => Err(other),
        }
    }
}

/// Most tools of a category whose words are in its index entry.
const MAX_TOOLS: usize = 300;

/// Index entries of the categories, in the order of the tree.
pub(super) fn category_entries(catalog: &Catalog, tree: &CategoryTree) -> Vec<IndexEntry> {
    let entry = |node: &CategoryNode| {
        let mut texts = vec![
            (Field::Name, node.name.clone()),
            (Field::Alias, node.path.clone()),
            (Field::Short, node.summary.clone()),
        ];
        texts.extend(node.tags.iter().map(|tag| (Field::Label, tag.clone())));
        for tool in node.tools.iter().take(MAX_TOOLS).map(|&tool| &catalog.tools[tool]) {
            texts.push((Field::Parameter, tool.names.canonical.clone()));
            texts.push((Field::Long, tool.texts.short.clone()));
        }
        IndexEntry { exact: vec![node.path.clone()], texts, ..IndexEntry::default() }
    };
    tree.nodes().iter().map(entry).collect()
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum HelpTarget {
    /// The tool at this position of the catalog.
    Op(usize),
    /// The group at this position of the groups, or a part of it.
    Group(usize, EffectFilter),
    /// Ops with a common beginning.
    Beginning(String),
    /// The function of toolcrib with this name.
    Function(&'static str),
    /// The events of the caller's session.
    Session,
}

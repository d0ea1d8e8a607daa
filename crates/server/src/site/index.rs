//! Data shared by all pages, gathered once for a catalog: the listed tools, the category tree, the file paths.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use indexmap::IndexMap;

use toolcrib_catalog::{Catalog, CategoryNode, CategoryTree, Profile, Tool};
use toolcrib_definition::{clean_line, safe_names};
use toolcrib_providers::report::Report;
use toolcrib_render::{TemplateError, segment_title};

/// Most entries on a page of a category.
const ENTRIES_A_PART: usize = 200;

/// One address of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// The home page is the page of the root category.
    Category {
        category: usize,
        part: usize,
    },
    Profiles,
    Profile(usize),
    Tool(usize),
    Payloads(usize),
    Findings,
    Search,
    Missing,
    SearchIndex,
}

/// The category that holds all others; its page is the home page.
pub(super) const ROOT: usize = 0;

/// The home page.
pub(super) const HOME: Address = Address::Category { category: ROOT, part: 0 };

/// The shared data of a site. Borrows nothing from the catalog, but holds positions in it.
#[derive(Debug)]
pub struct SiteIndex {
    /// Positions in the catalog, in alphabetical order of names.
    pub(super) tools: Vec<usize>,
    /// The content of each path.
    pub(super) addresses: IndexMap<String, Address>,
    pub(super) tree: CategoryTree,
    /// The pages of the categories, in the order of the tree.
    pub(super) categories: Vec<CategoryPages>,
    pub(super) profiles: Vec<ProfileEntry>,
    /// The profile of the site; `None` for the whole catalog.
    pub(super) scope: Option<String>,
    /// The report on all profiles.
    pub(super) overview: OnceLock<Result<ProfileReports, TemplateError>>,
}

/// The pages of a category. The pages of the root are the home page.
#[derive(Debug)]
pub(super) struct CategoryPages {
    pub(super) title: String,
    /// The path of the first page, without an extension.
    stem: String,
    /// The categories and the tools directly in the category, in alphabetical order.
    pub(super) entries: Vec<Entry>,
}

/// An entry in the list of a category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Category(usize),
    /// A tool, by its position on the site.
    Tool(usize),
}

/// A profile that has a page.
#[derive(Debug)]
pub(super) struct ProfileEntry {
    pub(super) name: String,
    /// The name of its page, without an extension.
    pub(super) file: String,
    pub(super) measured: OnceLock<Result<ProfileReports, TemplateError>>,
}

impl Entry {
    /// The category, if the entry is a category.
    pub(super) fn category(&self) -> Option<usize> {
        match self {
            Entry::Category(node) => Some(*node),
            Entry::Tool(_) => None,
        }
    }

    /// The position of the tool on the site, if the entry is a tool.
    pub(super) fn tool(&self) -> Option<usize> {
        match self {
            Entry::Category(_) => None,
            Entry::Tool(shown) => Some(*shown),
        }
    }
}

impl CategoryPages {
    /// The number of pages.
    pub(super) fn parts(&self) -> usize {
        self.entries.len().div_ceil(ENTRIES_A_PART).max(1)
    }

    /// The entries on each page.
    pub(super) fn chunks(&self) -> impl Iterator<Item = &[Entry]> {
        self.entries.chunks(ENTRIES_A_PART)
    }

    /// The path of one page.
    pub(super) fn path(&self, part: usize) -> String {
        match part {
            0 => format!("{}.html", self.stem),
            _ => format!("{}.{}.html", self.stem, part + 1),
        }
    }

    /// The tools directly in the category, by their positions on the site.
    pub(super) fn tools(&self) -> impl Iterator<Item = usize> {
        self.entries.iter().filter_map(Entry::tool)
    }
}

impl SiteIndex {
    /// Gathers the shared data of the pages of a profile, or of the whole catalog.
    pub fn new(catalog: &Catalog, profile: &Profile<'_>) -> Self {
        let chosen: BTreeSet<*const Tool> =
            profile.tools.iter().map(|entry| std::ptr::from_ref(entry.tool)).collect();
        let mut tools: Vec<usize> = (0..catalog.tools.len())
            .filter(|&place| chosen.contains(&std::ptr::from_ref(&catalog.tools[place])))
            .collect();
        tools.sort_by_cached_key(|&place| {
            let name = &catalog.tools[place].names.canonical;
            (name.to_lowercase(), name.clone())
        });
        let mut in_order = tools.clone();
        in_order.sort_unstable();
        let tree = CategoryTree::of_tools(catalog, in_order);
        let categories = category_pages(&tree, &tools);
        let profiles = profiles(catalog, profile);
        let shown: Vec<&Tool> = tools.iter().map(|&place| &*catalog.tools[place]).collect();
        Self {
            addresses: addresses(&profiles, &categories, &shown),
            profiles,
            scope: profile.name.map(str::to_string),
            tools,
            tree,
            categories,
            overview: OnceLock::new(),
        }
    }

    /// Position in `tools` of the tool with this safe name.
    pub(super) fn tool_file(&self, safe_name: &str) -> Option<usize> {
        match self.addresses.get(&format!("tools/{safe_name}.html"))? {
            Address::Tool(shown) => Some(*shown),
            _ => None,
        }
    }

    /// The categories of a tool.
    pub(super) fn categories_of(&self, tool: usize) -> &[usize] {
        self.tree.places(self.tools[tool])
    }

    /// A category and its ancestors, beginning directly below the root.
    pub(super) fn path_from_root(&self, category: usize) -> Vec<usize> {
        let mut lineage: Vec<usize> = std::iter::once(category)
            .chain(self.tree.ancestors(category))
            .filter(|&node| node != ROOT)
            .collect();
        lineage.reverse();
        lineage
    }

    /// The titles of a category and its ancestors, on one line.
    pub(super) fn titles(&self, category: usize) -> String {
        let titles =
            self.path_from_root(category).into_iter().map(|node| self.categories[node].title.as_str());
        titles.collect::<Vec<_>>().join(" / ")
    }
}

/// The path of the schemas and payloads of a tool.
pub(super) fn payloads_path(tool: &Tool) -> String {
    format!("payloads/{}.json", tool.names.safe)
}

/// The content of each path, from the root of the site.
fn addresses(
    profiles: &[ProfileEntry],
    categories: &[CategoryPages],
    tools: &[&Tool],
) -> IndexMap<String, Address> {
    let mut addresses = IndexMap::from(
        [
            ("profiles.html", Address::Profiles),
            ("findings.html", Address::Findings),
            ("search.html", Address::Search),
            ("404.html", Address::Missing),
            ("search-index.js", Address::SearchIndex),
        ]
        .map(|(path, address)| (path.to_string(), address)),
    );
    for (index, profile) in profiles.iter().enumerate() {
        addresses.insert(format!("profiles/{}.html", profile.file), Address::Profile(index));
    }
    for (category, pages) in categories.iter().enumerate() {
        addresses
            .extend((0..pages.parts()).map(|part| (pages.path(part), Address::Category { category, part })));
    }
    for (shown, tool) in tools.iter().enumerate() {
        addresses.insert(format!("tools/{}.html", tool.names.safe), Address::Tool(shown));
        addresses.insert(payloads_path(tool), Address::Payloads(shown));
    }
    addresses
}

fn profiles(catalog: &Catalog, shown: &Profile<'_>) -> Vec<ProfileEntry> {
    let is_shown = |name: &&String| shown.name.is_none_or(|only| only == name.as_str());
    let names: Vec<&String> = catalog.config.profiles.keys().filter(is_shown).collect();
    let entry = |(name, file): (&&String, String)| ProfileEntry {
        name: name.to_string(),
        file,
        measured: OnceLock::new(),
    };
    names.iter().zip(safe_names(&names)).map(entry).collect()
}

fn category_pages(tree: &CategoryTree, tools: &[usize]) -> Vec<CategoryPages> {
    let mut own: Vec<Vec<Entry>> = vec![Vec::new(); tree.nodes().len()];
    for (shown, &place) in tools.iter().enumerate() {
        tree.places(place).iter().for_each(|&node| own[node].push(Entry::Tool(shown)));
    }
    let paths: Vec<&str> = tree.nodes().iter().skip(1).map(|node| node.path.as_str()).collect();
    let files = safe_names(&paths).into_iter().map(|file| format!("categories/{file}"));
    let stems = std::iter::once("index".to_string()).chain(files);
    let pages = |((node, stem), tools): ((&CategoryNode, String), Vec<Entry>)| CategoryPages {
        title: clean_line(&segment_title(&node.name)),
        stem,
        entries: node.children.iter().copied().map(Entry::Category).chain(tools).collect(),
    };
    tree.nodes().iter().zip(stems).zip(own).map(pages).collect()
}

/// The slow parts of a page about profiles, which are computed once.
#[derive(Debug)]
pub(super) struct ProfileReports {
    pub(super) report: Report,
    /// The full tools in catalog order, at most as many as a page lists; likewise the deferred ones.
    pub(super) full: Vec<usize>,
    pub(super) deferred: Vec<usize>,
}

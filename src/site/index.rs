//! Data shared by all pages, gathered once for a catalog: the listed tools, the tree of categories, names of files.

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use super::profile_reports::ProfileReports;
use super::search_index::SearchIndex;
use crate::catalog::{Catalog, Profile};
use crate::render::segment_title;
use crate::tool::{clean_line, safe_names};

/// Most tools on a page of a category.
pub(super) const TOOLS_A_PART: usize = 200;
/// Most levels of the tree; the rest of a category path becomes one segment, since paths are untrusted.
const MAX_DEPTH: usize = 8;

/// The shared data of a site. It borrows nothing: it holds positions in the catalog that it was made for.
#[derive(Debug)]
pub struct SiteIndex {
    /// Positions in the catalog, in alphabetical order of names.
    tools: Vec<usize>,
    /// Positions in `tools`, in the order of safe names.
    by_file: Vec<usize>,
    categories: Vec<Category>,
    category_files: HashMap<String, usize>,
    /// The categories of each tool.
    tool_categories: Vec<Vec<usize>>,
    profiles: Vec<ProfileEntry>,
    scope: Option<String>,
    search: OnceLock<SearchIndex>,
    overview: OnceLock<ProfileReports>,
}

/// A node of the tree.
#[derive(Debug)]
pub(super) struct Category {
    /// Its own name.
    pub(super) title: String,
    /// The name of its page, without an extension.
    pub(super) file: String,
    pub(super) parent: Option<usize>,
    /// In alphabetical order.
    pub(super) children: Vec<usize>,
    /// The tools directly in it, in alphabetical order.
    pub(super) tools: Vec<usize>,
    /// Number of tools in it and below it.
    pub(super) total: usize,
}

/// A profile that has a page.
#[derive(Debug)]
pub(super) struct ProfileEntry {
    pub(super) name: String,
    /// The name of its page, without an extension.
    pub(super) file: String,
    pub(super) measured: OnceLock<ProfileReports>,
}

impl Category {
    /// Number of its pages.
    pub(super) fn parts(&self) -> usize {
        self.tools.len().div_ceil(TOOLS_A_PART).max(1)
    }

    /// The path of one of its pages.
    pub(super) fn path(&self, part: usize) -> String {
        match part {
            0 => format!("categories/{}.html", self.file),
            _ => format!("categories/{}.{}.html", self.file, part + 1),
        }
    }
}

impl SiteIndex {
    /// Gathers the shared data of the pages of a profile, or of the whole catalog.
    pub fn new(catalog: &Catalog, profile: &Profile<'_>) -> Self {
        let chosen: BTreeSet<*const crate::catalog::Tool> =
            profile.tools.iter().map(|entry| std::ptr::from_ref(entry.tool)).collect();
        let mut tools: Vec<usize> = (0..catalog.tools.len())
            .filter(|&place| chosen.contains(&std::ptr::from_ref(&catalog.tools[place])))
            .collect();
        tools.sort_by_cached_key(|&place| {
            let name = &catalog.tools[place].name;
            (name.to_lowercase(), name.clone())
        });
        let safe_name = |shown: &usize| catalog.tools[tools[*shown]].safe_name.as_str();
        let mut by_file: Vec<usize> = (0..tools.len()).collect();
        by_file.sort_by(|a, b| safe_name(a).cmp(safe_name(b)));
        let (categories, tool_categories) = CategoryBuilder::build(catalog, &tools);
        let category_files =
            categories.iter().enumerate().map(|(index, node)| (node.file.clone(), index)).collect();
        Self {
            profiles: profiles(catalog, profile),
            scope: profile.name.map(str::to_string),
            tools,
            by_file,
            categories,
            category_files,
            tool_categories,
            search: OnceLock::new(),
            overview: OnceLock::new(),
        }
    }

    /// Positions of the listed tools in the catalog.
    pub(super) fn tools(&self) -> &[usize] {
        &self.tools
    }

    /// The tool whose page has this name, in the order of `tools`.
    pub(super) fn tool_file(&self, catalog: &Catalog, file: &str) -> Option<usize> {
        let safe_name = |shown: &usize| catalog.tools[self.tools[*shown]].safe_name.as_str();
        let found = self.by_file.binary_search_by(|shown| safe_name(shown).cmp(file)).ok()?;
        Some(self.by_file[found])
    }

    pub(super) fn categories(&self) -> &[Category] {
        &self.categories
    }

    /// The category whose page has this name.
    pub(super) fn category_file(&self, file: &str) -> Option<usize> {
        self.category_files.get(file).copied()
    }

    /// The categories of a tool.
    pub(super) fn categories_of(&self, tool: usize) -> &[usize] {
        &self.tool_categories[tool]
    }

    /// A category and its ancestors, from the root on.
    pub(super) fn path_from_root(&self, category: usize) -> Vec<usize> {
        let above = |&category: &usize| self.categories[category].parent;
        let mut lineage: Vec<usize> = std::iter::successors(Some(category), above).collect();
        lineage.reverse();
        lineage
    }

    /// The titles of a category and its ancestors, on one line.
    pub(super) fn titles(&self, category: usize) -> String {
        let titles =
            self.path_from_root(category).into_iter().map(|node| self.categories[node].title.as_str());
        titles.collect::<Vec<_>>().join(" / ")
    }

    /// The categories at the root, in alphabetical order.
    pub(super) fn roots(&self) -> impl Iterator<Item = usize> {
        (0..self.categories.len()).filter(|&category| self.categories[category].parent.is_none())
    }

    pub(super) fn profiles(&self) -> &[ProfileEntry] {
        &self.profiles
    }

    /// The profile of the site; `None` for the whole catalog.
    pub(super) fn scope(&self) -> Option<&str> {
        self.scope.as_deref()
    }

    /// The slot for the report on profiles.
    pub(super) fn overview(&self) -> &OnceLock<ProfileReports> {
        &self.overview
    }

    /// The index of the search; made at the first search.
    pub(super) fn search(&self, catalog: &Catalog) -> &SearchIndex {
        self.search.get_or_init(|| {
            let category = |shown: usize| self.categories_of(shown).first().map(|&first| self.titles(first));
            let tools = self.tools.iter().enumerate();
            SearchIndex::new(
                tools.map(|(shown, &place)| (&*catalog.tools[place], category(shown).unwrap_or_default())),
            )
        })
    }
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

/// Makes the tree.
#[derive(Default)]
struct CategoryBuilder {
    nodes: Vec<Category>,
    by_path: HashMap<String, usize>,
    paths: Vec<String>,
}

impl CategoryBuilder {
    fn build(catalog: &Catalog, tools: &[usize]) -> (Vec<Category>, Vec<Vec<usize>>) {
        let mut tree = CategoryBuilder::default();
        let mut tool_categories = Vec::with_capacity(tools.len());
        for (shown, &place) in tools.iter().enumerate() {
            let mut own: Vec<usize> = Vec::new();
            for path in &catalog.tools[place].categories {
                let node = tree.node(path.as_str());
                if !own.contains(&node) {
                    own.push(node);
                    tree.nodes[node].tools.push(shown);
                }
            }
            let above = |&node: &usize| std::iter::successors(Some(node), |&node| tree.nodes[node].parent);
            let all: BTreeSet<usize> = own.iter().flat_map(above).collect();
            all.into_iter().for_each(|node| tree.nodes[node].total += 1);
            tool_categories.push(own);
        }
        (tree.sorted(&mut tool_categories), tool_categories)
    }

    /// The node of a path; it and its ancestors are made if they are missing.
    fn node(&mut self, path: &str) -> usize {
        if let Some(&node) = self.by_path.get(path) {
            return node;
        }
        let mut parent = None;
        let mut end = 0;
        for depth in 1..=MAX_DEPTH {
            let rest = &path[end..];
            let start = end + usize::from(end > 0);
            end = match rest[usize::from(end > 0)..].find('/').filter(|_| depth < MAX_DEPTH) {
                Some(at) => start + at,
                None => path.len(),
            };
            let node = match self.by_path.get(&path[..end]) {
                Some(&node) => node,
                None => self.add(&path[..end], &path[start..end], parent),
            };
            parent = Some(node);
            if end == path.len() {
                return node;
            }
        }
        parent.unwrap_or_default()
    }

    fn add(&mut self, path: &str, segment: &str, parent: Option<usize>) -> usize {
        let node = self.nodes.len();
        self.by_path.insert(path.to_string(), node);
        self.paths.push(path.to_string());
        self.nodes.push(Category {
            title: clean_line(&segment_title(segment)),
            file: String::new(),
            parent,
            children: Vec::new(),
            tools: Vec::new(),
            total: 0,
        });
        node
    }

    /// The nodes in alphabetical order, with children and file names.
    fn sorted(self, tool_categories: &mut [Vec<usize>]) -> Vec<Category> {
        let CategoryBuilder { mut nodes, paths, .. } = self;
        for (node, file) in nodes.iter_mut().zip(safe_names(&paths)) {
            node.file = file;
        }
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by_cached_key(|&node| (nodes[node].title.to_lowercase(), paths[node].clone()));
        let mut place = vec![0; nodes.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
        let mut old: Vec<Option<Category>> = nodes.into_iter().map(Some).collect();
        let mut nodes: Vec<Category> = order.iter().filter_map(|&node| old[node].take()).collect();
        for node in &mut nodes {
            node.parent = node.parent.map(|parent| place[parent]);
        }
        for child in 0..nodes.len() {
            if let Some(parent) = nodes[child].parent {
                nodes[parent].children.push(child);
            }
        }
        for own in tool_categories {
            own.iter_mut().for_each(|node| *node = place[*node]);
        }
        nodes
    }
}

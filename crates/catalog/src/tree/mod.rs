//! The tree of categories. A tool may be in several categories, once in each.

use std::collections::HashMap;

use indexmap::IndexMap;

use crate::catalog::Catalog;
use crate::config::Category;
use crate::tool::{LEFT_OVER, Tool};
use toolcrib_definition::finding::{Code, Finding, Place, nearest};
use toolcrib_definition::grammar::counted;
use toolcrib_definition::{CategoryPath, clean_line, clipped};

/// Levels of the tree. A tool that is filed deeper stands at the last level.
const MAX_DEPTH: usize = 16;
/// The most characters of a purpose.
const MAX_PURPOSE: usize = 300;
/// The most characters of a tag.
const MAX_TAG: usize = 60;
/// Most tags that a category gets from its tools.
const MAX_TAGS: usize = 5;

/// The categories of a catalog's tools. Nodes and tools are known by their positions.
#[derive(Debug, Default)]
pub struct CategoryTree {
    nodes: Vec<CategoryNode>,
    by_path: HashMap<String, usize>,
    by_folded_path: HashMap<String, Vec<usize>>,
    places: Vec<Vec<usize>>,
}

/// One category; the first is the root, which holds all others.
#[derive(Debug, Default)]
pub struct CategoryNode {
    /// The segments joined by `/`; empty at the root.
    pub path: String,
    /// The last segment.
    pub name: String,
    /// Its content, in one line: the purpose, with the number of its tools unless an author wrote it.
    pub summary: String,
    /// The purpose in words; empty where the names of its tools say none.
    pub purpose: String,
    /// Labels.
    pub tags: Vec<String>,
    /// The parent category; none at the root.
    pub parent: Option<usize>,
    /// Categories directly in it, by name.
    pub children: Vec<usize>,
    /// Tools directly in it, by op.
    pub tools: Vec<usize>,
    /// All tools in it and below it, each once, in the order of the catalog.
    pub descendant_tools: Vec<usize>,
}

impl CategoryNode {
    /// The path, segment by segment.
    pub fn segments(&self) -> Vec<&str> {
        self.path.split('/').filter(|segment| !segment.is_empty()).collect()
    }
}

impl CategoryTree {
    /// The tree of a catalog.
    pub fn of(catalog: &Catalog) -> Self {
        Self::of_tools(catalog, 0..catalog.tools.len())
    }

    /// The tree of some tools of a catalog, known by their positions, in the order of the catalog.
    pub fn of_tools(catalog: &Catalog, tools: impl IntoIterator<Item = usize>) -> Self {
        let mut tree = Self { nodes: vec![CategoryNode::default()], ..Self::default() };
        tree.by_path.insert(String::new(), 0);
        tree.places.resize(catalog.tools.len(), Vec::new());
        for index in tools {
            let categories = catalog.tools[index].labels.categories.iter();
            let mut hangs: Vec<usize> = categories.map(|path| tree.insert_path(path)).collect();
            hangs.sort_unstable();
            hangs.dedup();
            for &node in &hangs {
                tree.add_tool(index, node);
            }
            tree.places[index] = hangs;
        }
        for (index, node) in tree.nodes.iter().enumerate() {
            tree.by_folded_path.entry(node.path.to_lowercase()).or_default().push(index);
        }
        tree.sort(catalog);
        tree.describe(catalog);
        tree
    }

    /// All nodes, the root first.
    pub fn nodes(&self) -> &[CategoryNode] {
        &self.nodes
    }

    /// The node at this place.
    pub fn node(&self, index: usize) -> &CategoryNode {
        &self.nodes[index]
    }

    /// The nodes of a tool.
    pub fn places(&self, tool: usize) -> &[usize] {
        self.places.get(tool).map_or(&[], Vec::as_slice)
    }

    /// The node with this path, in any letter case if that leaves one.
    pub fn find(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied().or_else(|| match self.by_folded_path.get(&path.to_lowercase())?[..] {
            [only] => Some(only),
            _ => None,
        })
    }

    /// Whether a node is another one, or an ancestor of it.
    pub fn holds(&self, above: usize, below: usize) -> bool {
        above == below || self.ancestors(below).any(|node| node == above)
    }

    /// The ancestors of a node, nearest first, with the root last.
    pub fn ancestors(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.nodes[node].parent, |&above| self.nodes[above].parent)
    }

    fn insert_path(&mut self, path: &CategoryPath) -> usize {
        let mut above = 0;
        for segment in path.segments().take(MAX_DEPTH) {
            let parent = &self.nodes[above].path;
            let path = if parent.is_empty() { segment.to_string() } else { format!("{parent}/{segment}") };
            above = match self.by_path.get(&path) {
                Some(&known) => known,
                None => {
                    let index = self.nodes.len();
                    let name = segment.to_string();
                    let parent = Some(above);
                    let node = CategoryNode { path: path.clone(), name, parent, ..CategoryNode::default() };
                    self.nodes[above].children.push(index);
                    self.nodes.push(node);
                    self.by_path.insert(path, index);
                    index
                }
            };
        }
        above
    }

    fn add_tool(&mut self, tool: usize, node: usize) {
        self.nodes[node].tools.push(tool);
        let mut at = Some(node);
        while let Some(node) = at.map(|at| &mut self.nodes[at]) {
            if node.descendant_tools.last() != Some(&tool) {
                node.descendant_tools.push(tool);
            }
            at = node.parent;
        }
    }

    fn sort(&mut self, catalog: &Catalog) {
        let keys: Vec<(String, String)> =
            self.nodes.iter().map(|node| (node.name.to_lowercase(), node.name.clone())).collect();
        for node in &mut self.nodes {
            node.children.sort_by(|&one, &other| keys[one].cmp(&keys[other]));
            node.tools
                .sort_by(|&one, &other| catalog.tools[one].names.op.cmp(&catalog.tools[other].names.op));
        }
    }

    fn describe(&mut self, catalog: &Catalog) {
        for node in &mut self.nodes {
            let tools: Vec<&Tool> = node.descendant_tools.iter().map(|&tool| &*catalog.tools[tool]).collect();
            let said = catalog.configured_category(&node.path);
            let tags = said.into_iter().flat_map(|category| &category.tags);
            let tags: Vec<String> = tags.filter_map(|tag| tag_of(tag)).collect();
            node.tags = if tags.is_empty() { usual_tags(node, catalog) } else { tags };
            node.purpose = clipped(&catalog.purpose(&node.path, &tools), MAX_PURPOSE).into_owned();
            let is_authored = said.and_then(|said| said.summary.as_deref()).map(clean_line);
            node.summary = if is_authored.is_some_and(|text| !text.is_empty()) {
                node.purpose.clone()
            } else {
                counted_tools(tools.len(), &node.purpose)
            };
        }
    }
}

/// `3 tools: list, put; objects`.
fn counted_tools(tools: usize, purpose: &str) -> String {
    let colon = if purpose.is_empty() { "" } else { ": " };
    format!("{}{colon}{purpose}", counted(tools, "tool"))
}

/// The tags that the tools of a category have most often, the more frequent first.
fn usual_tags(node: &CategoryNode, catalog: &Catalog) -> Vec<String> {
    let mut counts: IndexMap<&str, usize> = IndexMap::new();
    for tag in node.descendant_tools.iter().flat_map(|&tool| &catalog.tools[tool].labels.tags) {
        *counts.entry(tag).or_default() += 1;
    }
    counts.sort_by(|_, one, _, other| other.cmp(one));
    counts.keys().filter_map(|tag| tag_of(tag)).take(MAX_TAGS).collect()
}

/// A tag in the form that lists show.
fn tag_of(tag: &str) -> Option<String> {
    Some(clipped(&clean_line(tag), MAX_TAG).into_owned()).filter(|tag| !tag.is_empty())
}

/// Tools by category, both in the order in which they appear. A tool is in each category that it names.
pub fn by_category<'t, T: Copy>(
    tools: impl IntoIterator<Item = (&'t Tool, T)>,
) -> IndexMap<&'t CategoryPath, Vec<T>> {
    let mut categories: IndexMap<&CategoryPath, Vec<T>> = IndexMap::new();
    for (tool, entry) in tools {
        for category in &tool.labels.categories {
            categories.entry(category).or_default().push(entry);
        }
    }
    categories
}

impl Tool {
    /// The path of its first category; empty where it has none.
    pub fn category(&self) -> &str {
        self.labels.categories.first().map_or("", CategoryPath::as_str)
    }

    /// Whether its category was derived, and is not that of tools that are left over.
    pub fn has_derived_category(&self) -> bool {
        self.labels.is_category_derived && self.root_category() != LEFT_OVER
    }

    /// The root of its first category; empty where it has none.
    pub fn root_category(&self) -> &str {
        self.labels.categories.first().map_or("", CategoryPath::root)
    }

    /// Its tags, in the form that lists show.
    pub fn tags(&self) -> Vec<String> {
        self.labels.tags.iter().filter_map(|tag| tag_of(tag)).collect()
    }
}

/// Reports the `[[category]]` entries, which come first, for categories that do not exist.
pub(crate) fn check(catalog: &Catalog, configured: usize, findings: &mut Vec<Finding>) {
    let described = &catalog.config.categories[..configured];
    if described.is_empty() {
        return;
    }
    let tree = CategoryTree::of(catalog);
    let known = |category: &Category| {
        let path = CategoryPath::parse(&category.path)?;
        tree.by_path.get(path.as_str()).copied()
    };
    for (index, category) in described.iter().enumerate() {
        let node = known(category);
        let (message, help) = match node {
            Some(_) if described[..index].iter().any(|above| known(above) == node) => {
                let message = format!("the category \"{}\" is described above already", category.path);
                (message, "keep one of the two; this one is not used".to_string())
            }
            Some(_) => continue,
            None => {
                let near = nearest(&category.path, tree.nodes.iter().map(|node| node.path.as_str()));
                let help = near.first().map(|near| format!("did you mean \"{near}\"?"));
                let message = format!("no tool is in the category \"{}\"", category.path);
                (message, help.unwrap_or_else(|| "correct its `path`, or remove it".into()))
            }
        };
        let place = Place::new("toolcrib.toml", format!("/category/{index}/path"));
        findings.push(Finding::new(Code::CategoryUnused, message).at(place).help(help));
    }
}

#[cfg(test)]
mod tests;

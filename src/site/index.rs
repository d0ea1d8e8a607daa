//! Data shared by all pages, gathered once for a catalog: the listed tools, the tree of categories, paths of files.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use indexmap::IndexMap;
use serde::Serialize;

use super::frame::{clipped, shown_name};
use super::{Address, Site, payloads_path};
use crate::catalog::{Catalog, CategoryNode, CategoryTree, Profile, Tool};
use crate::render::{TemplateError, segment_title};
use crate::report::{self, Options, Report, ReportError};
use crate::tool::{DescriptionMode, clean_line, safe_names};

/// The category that holds all others; its page is the home page.
pub(super) const ROOT: usize = 0;
/// Most entries on a page of a category.
const ENTRIES_A_PART: usize = 200;

/// The shared data of a site. It borrows nothing: it holds positions in the catalog that it was made for.
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
    search: OnceLock<SearchIndex>,
    /// The report on all profiles.
    pub(super) overview: OnceLock<ProfileReports>,
}

/// The pages of a category; those of the root are the home page.
#[derive(Debug)]
pub(super) struct CategoryPages {
    pub(super) title: String,
    /// The path of the first one, without an extension.
    stem: String,
    /// The categories and the tools directly in it, in alphabetical order.
    pub(super) entries: Vec<Entry>,
}

/// An entry in the list of a category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Category(usize),
    /// By its position on the site.
    Tool(usize),
}

/// A profile that has a page.
#[derive(Debug)]
pub(super) struct ProfileEntry {
    pub(super) name: String,
    /// The name of its page, without an extension.
    pub(super) file: String,
    pub(super) measured: OnceLock<ProfileReports>,
}

impl Entry {
    /// The category, if it is one.
    pub(super) fn category(&self) -> Option<usize> {
        match self {
            Entry::Category(node) => Some(*node),
            Entry::Tool(_) => None,
        }
    }

    /// The position of the tool on the site, if it is one.
    pub(super) fn tool(&self) -> Option<usize> {
        match self {
            Entry::Category(_) => None,
            Entry::Tool(shown) => Some(*shown),
        }
    }
}

impl CategoryPages {
    /// Number of them.
    pub(super) fn parts(&self) -> usize {
        self.entries.len().div_ceil(ENTRIES_A_PART).max(1)
    }

    /// The entries on each of them.
    pub(super) fn chunks(&self) -> impl Iterator<Item = &[Entry]> {
        self.entries.chunks(ENTRIES_A_PART)
    }

    /// The path of one of them.
    pub(super) fn path(&self, part: usize) -> String {
        match part {
            0 => format!("{}.html", self.stem),
            _ => format!("{}.{}.html", self.stem, part + 1),
        }
    }

    /// The tools directly in it, by their positions on the site.
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
            let name = &catalog.tools[place].name;
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
            search: OnceLock::new(),
            overview: OnceLock::new(),
        }
    }

    /// The tool of this safe name, in the order of `tools`.
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

    /// A category and its ancestors, from the first below the root on.
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
        addresses.insert(format!("tools/{}.html", tool.safe_name), Address::Tool(shown));
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

/// Most tools of a profile on its page.
pub(super) const MAX_TOOLS: usize = 200;

/// The slow parts of a page about profiles, which are computed once.
#[derive(Debug)]
pub(super) struct ProfileReports {
    report: Result<Report, TemplateError>,
    /// The tools, in the order of the catalog, as many as a page lists.
    pub(super) full: Vec<usize>,
    pub(super) deferred: Vec<usize>,
}

impl ProfileReports {
    pub(super) fn of(site: &Site<'_>, profile: Option<&str>) -> Self {
        let options = Options { profile, mode: None, payload: site.catalog.config.payload, budget: None };
        let report = report::report(site.catalog, site.templates, options).map_err(|error| match error {
            ReportError::Template(error) => error,
            ReportError::Profile(error) => {
                TemplateError { name: "site/profile.html".into(), problem: error.to_string(), missing: None }
            }
        });
        let tools = site.catalog.profile(profile).map(|profile| profile.tools).unwrap_or_default();
        let of = |mode| {
            let chosen = tools.iter().filter(|entry| entry.mode == mode).take(MAX_TOOLS);
            chosen.filter_map(|entry| site.index.tool_file(&entry.tool.safe_name)).collect()
        };
        let (full, deferred) = (of(DescriptionMode::Full), of(DescriptionMode::Deferred));
        Self { report, full, deferred }
    }

    pub(super) fn report(&self) -> Result<&Report, TemplateError> {
        self.report.as_ref().map_err(Clone::clone)
    }
}

// Search over names, short texts and parameters. The script `assets/site.js` has the same rules, so that a query
// gives the same list in both.

/// Most tools on the page.
const MAX_FOUND: usize = 50;
/// Most characters of a query that are read.
pub(super) const MAX_QUERY: usize = 200;
const MAX_WORDS: usize = 12;
/// Most parameters of a tool that are searched, and most characters of them together.
const MAX_PARAMETERS: usize = 40;
const MAX_TEXT: usize = 400;

/// The index of the search: one line per tool, in the order of the site.
#[derive(Debug)]
pub(super) struct SearchIndex {
    lines: Vec<Line>,
}

/// One tool as it is listed, with its words in lower case.
#[derive(Debug)]
struct Line {
    shown: SearchRow,
    name: String,
    short: String,
    more: String,
}

/// The data of a tool for the script: name, file if it differs, short text, category, effect, further words.
#[derive(Debug, Serialize)]
struct SearchRow(String, String, String, String, &'static str, String);

impl SearchIndex {
    /// An index of these tools, each with the titles of its category.
    pub(super) fn new<'a>(tools: impl Iterator<Item = (&'a Tool, String)>) -> Self {
        Self { lines: tools.map(|(tool, category)| Line::of(tool, &category)).collect() }
    }

    /// The best tools for a query, best first, by their positions in the site; and their number.
    pub(super) fn find(&self, query: &str) -> (Vec<usize>, usize) {
        let words = words(&clipped(query, MAX_QUERY));
        let list: Vec<&str> = words.split_whitespace().take(MAX_WORDS).collect();
        let whole = list.concat();
        let mut found: Vec<(u32, usize)> = self
            .lines
            .iter()
            .enumerate()
            .filter_map(|(index, line)| Some((line.score(&list, &whole)?, index)))
            .collect();
        found.sort_by_key(|&(score, index)| (std::cmp::Reverse(score), index));
        let count = found.len();
        (found.into_iter().take(MAX_FOUND).map(|(_, index)| index).collect(), count)
    }

    /// The script that gives all lines to the search box. A script and not JSON, so that pages opened as files can load it.
    pub(super) fn script(&self, version: &str) -> String {
        let lines: Vec<String> =
            self.lines.iter().map(|line| serde_json::to_string(&line.shown).unwrap_or_default()).collect();
        format!("window.toolcribIndex={{version:\"{version}\",tools:[\n{}\n]}}\n", lines.join(",\n"))
    }
}

impl Line {
    fn of(tool: &Tool, category: &str) -> Self {
        let properties = tool.parameters.schema().get("properties").and_then(|list| list.as_object());
        let names = properties.into_iter().flatten().map(|(name, _)| name.as_str()).take(MAX_PARAMETERS);
        let also = tool.aliases.iter().map(String::as_str).chain([tool.op.as_str()]);
        let also = also.chain(tool.definition.tags.iter().map(String::as_str)).chain(names);
        let more = clipped(&clean_line(&also.collect::<Vec<_>>().join(" ")), MAX_TEXT);
        let name = shown_name(&tool.name, &tool.safe_name);
        let file = if name == tool.safe_name { String::new() } else { tool.safe_name.clone() };
        let short = clipped(&clean_line(&tool.short), MAX_TEXT);
        let category = clipped(category, 80);
        Self {
            name: words(&name),
            short: words(&short),
            more: words(&format!("{category} {more}")),
            shown: SearchRow(name, file, short, category, tool.effect.as_str(), more),
        }
    }

    /// Score of a tool: every word must be found somewhere.
    fn score(&self, list: &[&str], whole: &str) -> Option<u32> {
        if whole.is_empty() {
            return None;
        }
        let name = self.name.replace(' ', "");
        let mut score = match name.strip_prefix(whole) {
            Some("") => 1000,
            Some(_) => 400,
            None => 0,
        };
        let is_named = score > 0;
        for word in list {
            let best = place(&self.name, word, [60, 40, 25])
                .max(place(&self.short, word, [12, 8, 0]))
                .max(place(&self.more, word, [6, 4, 0]));
            if best == 0 && !is_named {
                return None;
            }
            score += best;
        }
        Some(score)
    }
}

/// Score of a word in a text: as a whole word, as the beginning of one, or within one.
fn place(text: &str, word: &str, [whole, beginning, within]: [u32; 3]) -> u32 {
    let mut best = 0;
    for (at, _) in text.match_indices(word) {
        let begins = text[..at].ends_with(' ');
        let ends = text[at + word.len()..].starts_with(' ');
        best = best.max(match (begins, ends) {
            (true, true) => return whole,
            (true, false) => beginning,
            _ => within,
        });
    }
    best
}

/// The words of a text in lower case, each between spaces.
fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(' ');
    for c in text.to_lowercase().chars() {
        if c.is_alphanumeric() {
            out.push(c);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    if !out.ends_with(' ') {
        out.push(' ');
    }
    out
}

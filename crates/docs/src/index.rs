//! The index: one line per tool under its category. With many tools, an index of category pages, laid out so that no
//! page exceeds the configured budget. And `llms.txt`, the same list for readers of a site.

use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;
use tera::Context;

use super::markdown::{inline, name};
use super::templates::{TemplateError, Templates};
use toolcrib_catalog::{Catalog, Profile, Tool, by_category};
use toolcrib_definition::grammar::counted;
use toolcrib_definition::tokens::estimate;
use toolcrib_definition::{clipped, slug};

/// Most characters of a name in an index line, which has several names.
const MAX_NAME: usize = 60;

/// The laid-out index and its pages.
#[derive(Debug)]
pub(super) struct DocIndex {
    note: String,
    sections: String,
    pages: Vec<CategoryPage>,
}

/// A page below `categories/`.
#[derive(Debug)]
pub(super) struct CategoryPage {
    pub(super) path: String,
    heading: String,
    lines: String,
}

/// A category and the lines of its tools.
#[derive(Clone)]
struct Section {
    path: String,
    /// The path as markdown.
    title: String,
    purpose: String,
    lines: Vec<Line>,
}

/// A link to a tool or a page.
#[derive(Clone, Default)]
struct Line {
    /// The link text and the text after the link, both Markdown.
    label: String,
    about: String,
    /// The linked file, in its folder.
    file: String,
    is_page: bool,
    /// In tokens.
    size: usize,
    /// The first and last name that it leads to.
    first: String,
    last: String,
    tools: usize,
    /// The first segment of the categories that it leads to, if all have the same.
    root: String,
    /// Titles of the categories that it leads to, as Markdown.
    names: Vec<String>,
}

impl Line {
    fn new(label: String, file: String, about: String) -> Self {
        let size = estimate(&label) + estimate(&about) + estimate(&file) + 8;
        Self { label, about, file, size, tools: 1, ..Self::default() }
    }

    /// The first title that it leads to.
    fn starts(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    /// The last title that it leads to.
    fn ends(&self) -> &str {
        self.names.last().map_or("", String::as_str)
    }

    /// The line on a page below `categories/`, or on the index.
    fn markdown(&self, on_page: bool) -> String {
        let up = match (self.is_page, on_page) {
            (true, false) => "categories/",
            (false, true) => "../",
            _ => "",
        };
        format!("- **[{}]({up}{})** - {}", self.label, self.file, self.about)
    }
}

fn joined(lines: &[Line], on_page: bool) -> String {
    lines.iter().map(|line| line.markdown(on_page)).collect::<Vec<_>>().join("\n")
}

impl DocIndex {
    /// Lays out the index of a profile.
    pub(super) fn lay_out(catalog: &Catalog, profile: &Profile<'_>) -> Self {
        let sections = sections(catalog, profile);
        let total = profile.tools.len();
        let render = &catalog.config.render;
        if total <= render.index_tools {
            let sections: Vec<String> = sections.iter().map(|section| section.markdown(false)).collect();
            let none =
                "No tools are documented: no tools are defined, or their definitions could not be read.";
            let note = if total == 0 { none } else { "" };
            return Self { note: note.into(), sections: sections.join("\n\n"), pages: Vec::new() };
        }
        let mut layout = Layout::new(render.page_tokens.max(200));
        let entries = layout.lay_out(sections);
        let note = format!(
            "{total} tools, listed by category on the pages below; each tool has its own file in this folder."
        );
        Self { note, sections: joined(&entries, false), pages: layout.pages }
    }

    pub(super) fn pages(&self) -> &[CategoryPage] {
        &self.pages
    }

    pub(super) fn readme(
        &self,
        templates: &Templates,
        registry_version: &str,
    ) -> Result<String, TemplateError> {
        let mut context = Context::new();
        context.insert("note", &self.note);
        context.insert("sections", &self.sections);
        context.insert("registry_version", registry_version);
        templates.render("docs/index.md", &context)
    }
}

impl CategoryPage {
    pub(super) fn heading(&self) -> &str {
        &self.heading
    }

    pub(super) fn render(
        &self,
        templates: &Templates,
        registry_version: &str,
    ) -> Result<String, TemplateError> {
        let mut context = Context::new();
        context.insert("heading", &self.heading);
        context.insert("lines", &self.lines);
        context.insert("registry_version", registry_version);
        templates.render("docs/page.md", &context)
    }
}

impl Section {
    fn markdown(&self, on_page: bool) -> String {
        format!("### {} Tools\n{}", self.title, joined(&self.lines, on_page))
    }
}

/// The categories in alphabetical order. A tool in several categories is listed in its first.
fn sections(catalog: &Catalog, profile: &Profile<'_>) -> Vec<Section> {
    let lines: Vec<Line> = profile.tools.par_iter().map(|entry| tool_line(entry.tool)).collect();
    type Members<'t> = (Vec<&'t Tool>, Vec<Line>);
    let mut categories: BTreeMap<(String, &str), Members<'_>> = BTreeMap::new();
    for (entry, line) in profile.tools.iter().zip(lines) {
        let path = entry.tool.category();
        let (tools, lines) = categories.entry((path.to_lowercase(), path)).or_default();
        tools.push(entry.tool);
        lines.push(line);
    }
    let section = |((_, path), (tools, lines)): ((String, &str), Members<'_>)| Section {
        path: String::from(path),
        title: title(path),
        purpose: catalog.purpose(path, &tools),
        lines,
    };
    let categories: Vec<_> = categories.into_iter().collect();
    categories.into_par_iter().map(section).collect()
}

fn tool_line(tool: &Tool) -> Line {
    let mut line = Line::new(name(&tool.name), format!("{}.md", tool.safe_name), inline(&tool.short));
    line.first.clone_from(&tool.name);
    line.last.clone_from(&tool.name);
    line
}

/// `workspace` reads `Workspace`, `Storage/Buckets` reads `Storage / Buckets`.
fn title(path: &str) -> String {
    let segments = path.split('/').map(|segment| clipped(&segment_title(segment), MAX_NAME).into_owned());
    name(&segments.collect::<Vec<_>>().join(" / "))
}

/// A segment of a category path as a heading: with a capital, unless it has any.
pub fn segment_title(segment: &str) -> String {
    let mut chars = segment.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let plain = segment.chars().all(|c| c.is_lowercase() || c == ' ');
    if plain { format!("{first}{}", chars.as_str()) } else { segment.to_string() }
}

// Pages of a large index. Small categories share a page, and no page exceeds the budget.

/// Fewest tools of a category with its own page: the first of these numbers with which the index fits is used.
const OWN_PAGE: [usize; 4] = [3, 6, 10, 16];
/// Most category names in the line of a page.
const NAMES: usize = 14;
/// Approximate tokens of the line of a page with several categories.
const LINE: usize = 45;
/// Approximate tokens of a line that leads to several pages.
const GROUP_LINE: usize = 100;
/// Tokens of a heading on a page with several categories.
const HEADING: usize = 8;

/// The pages of an index, and the lines that lead to them.
struct Layout {
    budget: usize,
    pages: Vec<CategoryPage>,
    /// File names of pages, in lower case.
    taken: HashSet<String>,
}

/// Categories of one page.
#[derive(Default)]
struct Pack {
    sections: Vec<Section>,
    size: usize,
}

impl Layout {
    fn new(budget: usize) -> Self {
        Self { budget, pages: Vec::new(), taken: HashSet::new() }
    }

    /// Lays out all pages, and returns the lines of the index, which fit the budget.
    fn lay_out(&mut self, sections: Vec<Section>) -> Vec<Line> {
        let lines = |own: usize| sections.iter().filter(|section| section.lines.len() >= own).count() * LINE;
        let mut entries = Vec::new();
        for own in OWN_PAGE {
            if own == OWN_PAGE[OWN_PAGE.len() - 1] || lines(own) <= self.budget {
                *self = Self::new(self.budget);
                entries = self.category_pages(&sections, own);
                if size(&entries) <= self.budget {
                    break;
                }
            }
        }
        if size(&entries) > self.budget && roots(&entries) * LINE <= self.budget {
            entries = self.pages_of_roots(entries);
        }
        // A single line cannot get shorter.
        while size(&entries) > self.budget && entries.len() > 1 {
            entries = self.group(entries, false);
        }
        entries
    }

    /// A page for each category with at least `own_page` tools, and shared pages for consecutive smaller ones.
    fn category_pages(&mut self, sections: &[Section], own_page: usize) -> Vec<Line> {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for section in sections {
            *counts.entry(root(&section.path)).or_default() += 1;
        }
        // A root with several categories shares pages with no other root.
        let family = |path: &str| Some(root(path)).filter(|root| counts[root] > 1);
        let (mut entries, mut pack) = (Vec::new(), Pack::default());
        for section in sections {
            let size = size(&section.lines);
            if pack.sections.last().is_some_and(|last| family(&last.path) != family(&section.path)) {
                entries.extend(self.packed(std::mem::take(&mut pack)));
            }
            if section.lines.len() >= own_page || size > self.budget {
                entries.extend(self.packed(std::mem::take(&mut pack)));
                entries.extend(self.own_pages(section.clone()));
                continue;
            }
            if pack.size + size + HEADING > self.budget {
                entries.extend(self.packed(std::mem::take(&mut pack)));
            }
            pack.size += size + HEADING;
            pack.sections.push(section.clone());
        }
        entries.extend(self.packed(pack));
        entries
    }

    /// The page of one category, or several pages by tool name if it is too long for one.
    fn own_pages(&mut self, section: Section) -> Vec<Line> {
        let Section { path, title, purpose, mut lines } = section;
        if size(&lines) > self.budget {
            lines.sort_by_cached_key(|line| line.first.to_lowercase());
        }
        let chunks = chunked(lines, self.budget);
        let is_one = chunks.len() == 1;
        let mut entries = Vec::new();
        for chunk in chunks {
            let (first, last) = ends(&chunk);
            let (label, stem, about) = match is_one {
                true => (title.clone(), path.clone(), inline(&purpose)),
                false => {
                    let range = format!(
                        "{} to {}",
                        name(&clipped(&first, MAX_NAME)),
                        name(&clipped(&last, MAX_NAME))
                    );
                    (format!("{title}: {range}"), format!("{path} {first}"), String::new())
                }
            };
            let tools = chunk.len();
            let about = if about.is_empty() {
                counted(tools, "tool")
            } else {
                format!("{}: {about}", counted(tools, "tool"))
            };
            let behind =
                Line { first, last, tools, root: root(&path), names: vec![title.clone()], ..Line::default() };
            entries.push(self.page(&stem, label, about, joined(&chunk, true), behind));
        }
        entries
    }

    /// One page for several small categories.
    fn packed(&mut self, pack: Pack) -> Vec<Line> {
        let mut sections = pack.sections;
        if sections.len() < 2 {
            return sections.pop().map(|section| self.own_pages(section)).unwrap_or_default();
        }
        let titles: Vec<String> = sections.iter().map(|section| section.title.clone()).collect();
        let (from, to) = (titles[0].clone(), titles[titles.len() - 1].clone());
        let shared = shared(&from, &to);
        let names: Vec<String> = titles.iter().map(|title| below(title, shared).to_string()).collect();
        let label = range(&from, &to);
        let tools = sections.iter().map(|section| section.lines.len()).sum();
        let about = format!("{}: {}", counted(tools, "tool"), listed(&names));
        let roots: HashSet<String> = sections.iter().map(|section| root(&section.path)).collect();
        let root = if roots.len() == 1 { root(&sections[0].path) } else { String::new() };
        let text: Vec<String> = sections.iter().map(|section| section.markdown(true)).collect();
        let behind = Line { first: from, last: to, tools, root, names: titles, ..Line::default() };
        vec![self.page(&label.clone(), label, about, text.join("\n\n"), behind)]
    }

    /// A page for each root with several pages.
    fn pages_of_roots(&mut self, entries: Vec<Line>) -> Vec<Line> {
        let mut above: Vec<Line> = Vec::new();
        let mut entries = entries.into_iter().peekable();
        while let Some(entry) = entries.next() {
            let mut of_root = vec![entry];
            while let Some(next) =
                entries.next_if(|next| !next.root.is_empty() && next.root == of_root[0].root)
            {
                of_root.push(next);
            }
            match of_root.len() {
                1 => above.append(&mut of_root),
                _ => above.extend(self.group(of_root, true)),
            }
        }
        above
    }

    /// Moves consecutive lines to pages, and returns the lines that lead there: at most half as many, plus one. A root
    /// gets as few pages as possible; otherwise there are as many as one page has room to list, so that each is short.
    fn group(&mut self, entries: Vec<Line>, is_root: bool) -> Vec<Line> {
        let most = (self.budget / GROUP_LINE).max(2);
        let budget = if is_root { self.budget } else { self.budget.min(size(&entries).div_ceil(most)) };
        let chunks = chunked(entries, budget);
        let is_whole = is_root && chunks.len() == 1;
        let mut lines = Vec::new();
        for mut chunk in chunks {
            if chunk.len() == 1 {
                lines.append(&mut chunk);
                continue;
            }
            let (first, last) = ends(&chunk);
            let root = chunk[0].root.clone();
            let label = if is_whole {
                name(&clipped(&root, MAX_NAME))
            } else {
                range(chunk[0].starts(), chunk[chunk.len() - 1].ends())
            };
            let tools = chunk.iter().map(|line| line.tools).sum();
            let mut names: Vec<String> = chunk.iter().flat_map(|line| line.names.iter().cloned()).collect();
            names.dedup();
            let about = format!("{}: {}", counted(tools, "tool"), listed(&below_root(&names, &label)));
            let stem = format!("{} {label}", if is_whole { "all" } else { "from" });
            let root = if is_root { root } else { String::new() };
            let behind = Line { first, last, tools, root, names, ..Line::default() };
            lines.push(self.page(&stem, label, about, joined(&chunk, true), behind));
        }
        lines
    }

    /// Adds a page. Returns the line that leads to it, with the names and the count of `behind`.
    fn page(&mut self, stem: &str, label: String, about: String, lines: String, behind: Line) -> Line {
        let file = self.file(stem);
        let heading = format!("{label} Tools");
        self.pages.push(CategoryPage { path: format!("categories/{file}"), heading, lines });
        let Line { label, about, file, size, .. } = Line::new(label, file, about);
        Line { label, about, file, size, is_page: true, ..behind }
    }

    /// A file name that no other page has.
    fn file(&mut self, stem: &str) -> String {
        /// Most characters of a file name without its extension, so that paths fit on every system.
        const MAX: usize = 80;
        let slug = slug(stem);
        let stem = slug.char_indices().nth(MAX).map_or(slug.as_str(), |(end, _)| &slug[..end]);
        let stem = if stem.is_empty() { "tools" } else { stem };
        let mut file = format!("{stem}.md");
        let mut count = 2;
        while !self.taken.insert(file.to_lowercase()) {
            file = format!("{stem}_{count}.md");
            count += 1;
        }
        file
    }
}

fn size(lines: &[Line]) -> usize {
    lines.iter().map(|line| line.size).sum()
}

fn ends(lines: &[Line]) -> (String, String) {
    let first = lines.first().map(|line| line.first.clone()).unwrap_or_default();
    (first, lines.last().map(|line| line.last.clone()).unwrap_or_default())
}

fn root(path: &str) -> String {
    path.split('/').next().unwrap_or_default().to_string()
}

/// Number of lines if each root has a single line.
fn roots(entries: &[Line]) -> usize {
    let differs = |pair: &&[Line]| pair[0].root.is_empty() || pair[0].root != pair[1].root;
    1 + entries.windows(2).filter(differs).count()
}

/// Separator between the titles of nested categories.
const BETWEEN: &str = " / ";

/// The common parent title of two titles, with its separator; empty without a common parent. The first title may be the
/// parent of the other.
fn shared<'t>(one: &str, other: &'t str) -> &'t str {
    if other.strip_prefix(one).is_some_and(|rest| rest.starts_with(BETWEEN)) {
        return &other[..one.len() + BETWEEN.len()];
    }
    let equal = one.split_inclusive(BETWEEN).zip(other.split_inclusive(BETWEEN));
    let equal = equal.take_while(|(one, other)| one == other && one.ends_with(BETWEEN));
    &other[..equal.map(|(part, _)| part.len()).sum()]
}

fn below<'t>(title: &'t str, shared: &str) -> &'t str {
    title.strip_prefix(shared).unwrap_or(title)
}

/// The names without the title above them, and without that title itself.
fn below_root(names: &[String], root: &str) -> Vec<String> {
    let below = |name: &String| match name.strip_prefix(root) {
        Some("") => None,
        Some(rest) => Some(rest.strip_prefix(BETWEEN).unwrap_or(name).to_string()),
        None => Some(name.clone()),
    };
    names.iter().filter_map(below).collect()
}

/// `Zia: IP to Locations`.
fn range(from: &str, to: &str) -> String {
    let shared = shared(from, to);
    match shared.strip_suffix(BETWEEN) {
        Some(above) if above == from => format!("{above} to {}", below(to, shared)),
        Some(above) => format!("{above}: {} to {}", below(from, shared), below(to, shared)),
        None => format!("{from} to {to}"),
    }
}

fn listed(names: &[String]) -> String {
    let rest = names.len().saturating_sub(NAMES);
    let shown = names[..names.len() - rest].join(", ");
    if rest == 0 { shown } else { format!("{shown} and {rest} more") }
}

/// Splits lines into chunks of about equal size, each of at most `budget` tokens, but at least two lines, so that each
/// layer has fewer lines.
fn chunked(lines: Vec<Line>, budget: usize) -> Vec<Vec<Line>> {
    let total = size(&lines);
    let budget = budget.min(total.div_ceil(total.div_ceil(budget.max(1)).max(1)) + budget / 8);
    let mut chunks: Vec<Vec<Line>> = Vec::new();
    let mut used = 0;
    for line in lines {
        let size = line.size;
        match chunks.last_mut() {
            Some(chunk) if chunk.len() < 2 || used + size <= budget => {
                used += size;
                chunk.push(line);
            }
            _ => {
                used = size;
                chunks.push(vec![line]);
            }
        }
    }
    chunks
}

// `llms.txt` (llmstxt.org): a link and a line for each tool, below its category.

/// `llms.txt` of a profile.
pub fn llms_txt(catalog: &Catalog, profile: &Profile<'_>) -> String {
    let tools: Vec<&Tool> = profile.tools.iter().map(|entry| entry.tool).collect();
    let title = catalog.title().or(profile.name.map(str::to_string)).unwrap_or_else(|| "Tools".into());
    let summary = profile
        .description
        .map(inline)
        .unwrap_or_else(|| format!("{}, each with documentation of its own.", counted(tools.len(), "tool")));
    let mut out = format!(
        "# {}\n\n> {summary}\n\nRead the documentation of a tool before its first call. The index is \
         [tools/README.md](tools/README.md). Registry version: {}.\n",
        inline(&title),
        catalog.version
    );
    for (category, tools) in by_category(tools.into_iter().map(|tool| (tool, tool))) {
        out += &format!("\n## {}\n\n", inline(&category.as_str().replace('/', " / ")));
        for tool in tools {
            let (name, short) = (name(&tool.name), inline(&tool.short));
            out += &format!("- [{name}](tools/{}.md): {short}\n", tool.safe_name);
        }
    }
    out
}

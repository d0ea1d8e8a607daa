//! Pages of a large index. Small categories share a page, and no page exceeds the budget.

use std::collections::{HashMap, HashSet};

use super::lines::{CategoryPage, Line, MAX_NAME, Section, joined};
use crate::markdown::{inline, name};
use toolcrib_definition::grammar::counted;
use toolcrib_definition::{clipped, slug};

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
pub(super) struct Layout {
    budget: usize,
    pub(super) pages: Vec<CategoryPage>,
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
    pub(super) fn new(budget: usize) -> Self {
        Self { budget, pages: Vec::new(), taken: HashSet::new() }
    }

    /// Lays out all pages, and returns the lines of the index, which fit the budget.
    pub(super) fn lay_out(&mut self, sections: Vec<Section>) -> Vec<Line> {
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
        let mut entries = Vec::new();
        let mut pack = Pack::default();
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
            let (label, stem, about) = if is_one {
                (title.clone(), path.clone(), inline(&purpose))
            } else {
                let range =
                    format!("{} to {}", name(&clipped(&first, MAX_NAME)), name(&clipped(&last, MAX_NAME)));
                (format!("{title}: {range}"), format!("{path} {first}"), String::new())
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
        let from = titles[0].clone();
        let to = titles[titles.len() - 1].clone();
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

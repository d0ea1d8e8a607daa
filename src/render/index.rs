//! The index: one line per tool under its category. With many tools, an index of category pages, laid out so that no
//! page exceeds the configured budget.

use std::collections::HashSet;

use indexmap::IndexSet;
use rayon::prelude::*;
use tera::Context;

use super::markdown::{inline, name};
use super::templates::{TemplateError, Templates};
use crate::catalog::{Catalog, Profile, Tool, by_category};
use crate::tokens::estimate;
use crate::tool::{CategoryPath, safe_names};

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

/// A section of a page: a title and the lines under it.
struct Section {
    title: String,
    lines: Vec<Line>,
}

/// A link with its description, and the first and last name behind it.
struct Line {
    /// The link's text and what follows the link, both markdown.
    label: String,
    about: String,
    /// The file linked, in its folder.
    file: String,
    is_page: bool,
    /// In tokens.
    size: usize,
    first: String,
    last: String,
    tools: usize,
}

impl Line {
    fn new(label: String, file: String, about: String) -> Self {
        let size = estimate(&label) + estimate(&about) + estimate(&file) + 8;
        Self { label, about, file, is_page: false, size, first: String::new(), last: String::new(), tools: 1 }
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
        let sections = sections(profile);
        let total = profile.tools.len();
        let render = &catalog.config.render;
        if total <= render.index_tools {
            let sections: Vec<String> = sections.iter().map(Section::markdown).collect();
            return Self { note: String::new(), sections: sections.join("\n\n"), pages: Vec::new() };
        }
        let mut layout =
            Layout { budget: render.page_tokens.max(200), pages: Vec::new(), taken: HashSet::new() };
        let mut entries = layout.category_pages(sections);
        while entries.iter().map(|entry| entry.size).sum::<usize>() > layout.budget {
            entries = layout.pages_of_pages(entries);
        }
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
    fn markdown(&self) -> String {
        format!("### {} Tools\n{}", self.title, joined(&self.lines, false))
    }
}

fn sections(profile: &Profile<'_>) -> Vec<Section> {
    let mut sections = by_category(profile.tools.iter().map(|entry| (entry.tool, entry.tool)));
    // Categories of one root stay together, roots in the order of their first tools.
    let roots: IndexSet<&str> = sections.keys().map(|path| path.root()).collect();
    sections.sort_by_key(|path, _| roots.get_index_of(path.root()));
    let section = |(path, tools): (&CategoryPath, Vec<&Tool>)| Section {
        title: title(path.as_str()),
        lines: tools.into_par_iter().map(tool_line).collect(),
    };
    sections.into_iter().map(section).collect()
}

fn tool_line(tool: &Tool) -> Line {
    let mut line = Line::new(name(&tool.name), format!("{}.md", tool.safe_name), inline(&tool.short));
    line.first.clone_from(&tool.name);
    line.last.clone_from(&tool.name);
    line
}

/// `workspace` reads `Workspace`, `Storage/Buckets` reads `Storage / Buckets`.
fn title(path: &str) -> String {
    inline(&path.split('/').map(segment_title).collect::<Vec<_>>().join(" / "))
}

/// A segment of a category path as a heading: with a capital, unless it has any.
pub(crate) fn segment_title(segment: &str) -> String {
    let mut chars = segment.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let plain = segment.chars().all(|c| c.is_lowercase() || c == ' ');
    if plain { format!("{first}{}", chars.as_str()) } else { segment.to_string() }
}

struct Layout {
    budget: usize,
    pages: Vec<CategoryPage>,
    /// File names of pages, in lower case.
    taken: HashSet<String>,
}

impl Layout {
    /// One page per category, several where it is too long for one. Returns a line for each page.
    fn category_pages(&mut self, sections: Vec<Section>) -> Vec<Line> {
        let titles: Vec<String> = sections.iter().map(|section| section.title.clone()).collect();
        let mut entries = Vec::new();
        for (section, stem) in sections.into_iter().zip(safe_names(&titles)) {
            let mut lines = section.lines;
            if lines.iter().map(|line| line.size).sum::<usize>() > self.budget {
                // In alphabetical order, the first and last name of a page show its range.
                lines.sort_by_cached_key(|line| line.first.to_lowercase());
            }
            entries.extend(self.write(&section.title, &stem, lines));
        }
        entries
    }

    /// Groups page lines into pages of their own, for catalogs with very many pages.
    fn pages_of_pages(&mut self, entries: Vec<Line>) -> Vec<Line> {
        let stem = format!("index-{}", self.pages.len());
        self.write("Tools", &stem, entries)
    }

    fn write(&mut self, title: &str, stem: &str, lines: Vec<Line>) -> Vec<Line> {
        let chunks = chunked(lines, self.budget);
        let several = chunks.len() > 1;
        let mut entries = Vec::with_capacity(chunks.len());
        for (index, chunk) in chunks.into_iter().enumerate() {
            let part = if several { format!(" {}", index + 1) } else { String::new() };
            let file = self.file(&format!("{stem}{}", part.replace(' ', "-")));
            let first = chunk.first().map(|line| line.first.clone()).unwrap_or_default();
            let last = chunk.last().map(|line| line.last.clone()).unwrap_or_default();
            let tools: usize = chunk.iter().map(|line| line.tools).sum();
            let range =
                if first == last { name(&first) } else { format!("{} … {}", name(&first), name(&last)) };
            let plural = if tools == 1 { "" } else { "s" };
            self.pages.push(CategoryPage {
                path: format!("categories/{file}"),
                heading: format!("{title}{part} Tools"),
                lines: joined(&chunk, true),
            });
            let line = Line::new(format!("{title}{part}"), file, format!("{tools} tool{plural}: {range}"));
            entries.push(Line { is_page: true, first, last, tools, ..line });
        }
        entries
    }

    /// A file name that no other page has, whatever its category is called.
    fn file(&mut self, stem: &str) -> String {
        let mut file = format!("{stem}.md");
        let mut count = 2;
        while !self.taken.insert(file.to_ascii_lowercase()) {
            file = format!("{stem}_{count}.md");
            count += 1;
        }
        file
    }
}

/// Consecutive lines in chunks of at most `budget` tokens, two lines at the least so that layers always shrink.
fn chunked(lines: Vec<Line>, budget: usize) -> Vec<Vec<Line>> {
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

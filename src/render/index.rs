//! The index: one line a tool under its category. Beyond a number of tools, an index of category pages, laid out so
//! that no page is longer than the configured budget.

use indexmap::{IndexMap, IndexSet};
use rayon::prelude::*;
use tera::Context;

use super::markdown::{inline, name};
use super::templates::{TemplateError, Templates};
use crate::catalog::{Catalog, Profile, Tool};
use crate::tokens::estimate;
use crate::tool::SafeNames;

/// The laid-out index and its pages.
#[derive(Debug)]
pub(super) struct Index {
    note: String,
    sections: String,
    pages: Vec<Page>,
}

/// A page below `categories/`.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) path: String,
    heading: String,
    lines: String,
}

/// A part of a page: a title and the lines under it.
struct Section {
    title: String,
    lines: Vec<Line>,
}

/// One line, and the names that tell what is behind it.
struct Line {
    text: String,
    /// In tokens.
    size: usize,
    first: String,
    last: String,
    tools: usize,
}

impl Index {
    /// Lays out the index of a profile.
    pub(super) fn lay_out(catalog: &Catalog, profile: &Profile<'_>) -> Self {
        let sections = by_category(profile);
        let total = profile.tools.len();
        let render = &catalog.config.render;
        if total <= render.index_tools {
            let sections: Vec<String> = sections.iter().map(Section::markdown).collect();
            return Self { note: String::new(), sections: sections.join("\n\n"), pages: Vec::new() };
        }
        let mut layout = Layout { budget: render.page_tokens.max(200), pages: Vec::new() };
        let mut entries = layout.category_pages(sections);
        while entries.iter().map(|entry| entry.size).sum::<usize>() > layout.budget {
            entries = layout.pages_of_pages(entries);
        }
        let note = format!(
            "{total} tools, listed by category on the pages below; each tool has its own file in this folder."
        );
        let lines: Vec<String> =
            entries.into_iter().map(|entry| entry.text.replace("](", "](categories/")).collect();
        Self { note, sections: lines.join("\n"), pages: layout.pages }
    }

    pub(super) fn pages(&self) -> &[Page] {
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

impl Page {
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
        let lines: Vec<&str> = self.lines.iter().map(|line| line.text.as_str()).collect();
        format!("### {} Tools\n{}", self.title, lines.join("\n"))
    }
}

fn by_category(profile: &Profile<'_>) -> Vec<Section> {
    let mut sections: IndexMap<&str, Vec<&Tool>> = IndexMap::new();
    for entry in &profile.tools {
        for category in &entry.tool.categories {
            sections.entry(category.as_str()).or_default().push(entry.tool);
        }
    }
    // Categories of one root stay together, roots in the order in which they appear.
    let roots: IndexSet<String> = sections.keys().map(|path| root(path).to_string()).collect();
    sections.sort_by_key(|path, _| roots.get_index_of(root(path)));
    let section = |(path, tools): (&str, Vec<&Tool>)| Section {
        title: title(path),
        lines: tools.into_par_iter().map(tool_line).collect(),
    };
    sections.into_iter().map(section).collect()
}

fn root(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

fn tool_line(tool: &Tool) -> Line {
    let title = name(&tool.name);
    let text = format!("- **[{title}]({}.md)** - {}", tool.safe_name, inline(&tool.short));
    Line { size: estimate(&text), text, first: tool.name.clone(), last: tool.name.clone(), tools: 1 }
}

/// `workspace` reads `Workspace`, `Storage/Buckets` reads `Storage / Buckets`.
fn title(path: &str) -> String {
    let segments = path.split('/').map(|segment| {
        let mut chars = segment.chars();
        let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
        let plain = segment.chars().all(|c| c.is_lowercase() || c == ' ');
        if plain { format!("{first}{}", chars.as_str()) } else { segment.to_string() }
    });
    inline(&segments.collect::<Vec<_>>().join(" / "))
}

struct Layout {
    budget: usize,
    pages: Vec<Page>,
}

impl Layout {
    /// One page a category, several where it is too long for one. Returns a line for each page.
    fn category_pages(&mut self, sections: Vec<Section>) -> Vec<Line> {
        let titles: Vec<String> = sections.iter().map(|section| section.title.clone()).collect();
        let stems = SafeNames::of(&titles);
        let mut entries = Vec::new();
        for (index, section) in sections.into_iter().enumerate() {
            let mut lines = section.lines;
            if lines.iter().map(|line| line.size).sum::<usize>() > self.budget {
                // In alphabetical order, a page's first and last name tell what is on it.
                lines.sort_by_cached_key(|line| line.first.to_lowercase());
            }
            entries.extend(self.write(&section.title, stems.get(index), lines, "../"));
        }
        entries
    }

    /// Groups page lines into pages of their own, for catalogs with very many pages.
    fn pages_of_pages(&mut self, entries: Vec<Line>) -> Vec<Line> {
        let stem = format!("index-{}", self.pages.len());
        self.write("Tools", &stem, entries, "")
    }

    fn write(&mut self, title: &str, stem: &str, lines: Vec<Line>, up: &str) -> Vec<Line> {
        let chunks = chunked(lines, self.budget);
        let several = chunks.len() > 1;
        let mut entries = Vec::with_capacity(chunks.len());
        for (index, chunk) in chunks.into_iter().enumerate() {
            let file = if several { format!("{stem}-{}.md", index + 1) } else { format!("{stem}.md") };
            let first = chunk.first().map(|line| line.first.clone()).unwrap_or_default();
            let last = chunk.last().map(|line| line.last.clone()).unwrap_or_default();
            let tools: usize = chunk.iter().map(|line| line.tools).sum();
            let range =
                if first == last { name(&first) } else { format!("{} … {}", name(&first), name(&last)) };
            let part = if several { format!(" {}", index + 1) } else { String::new() };
            let plural = if tools == 1 { "" } else { "s" };
            let text = format!("- **[{title}{part}]({file})** - {tools} tool{plural}: {range}");
            let lines: Vec<String> =
                chunk.into_iter().map(|line| line.text.replacen("](", &format!("]({up}"), 1)).collect();
            self.pages.push(Page {
                path: format!("categories/{file}"),
                heading: format!("{title}{part} Tools"),
                lines: lines.join("\n"),
            });
            entries.push(Line { size: estimate(&text), text, first, last, tools });
        }
        entries
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

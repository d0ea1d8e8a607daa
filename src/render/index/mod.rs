//! The index: one line per tool under its category. With many tools, an index of category pages, laid out so that no
//! page exceeds the configured budget.

mod layout;

use std::collections::BTreeMap;

use rayon::prelude::*;
use tera::Context;

use self::layout::Layout;
use super::markdown::{inline, name};
use super::templates::{TemplateError, Templates};
use crate::catalog::{Catalog, Profile, Tool};
use crate::tokens::estimate;
use crate::tool::clipped;

/// Most characters of a name in a line: a line of the index has several.
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
    /// The link's text and what follows the link, both markdown.
    label: String,
    about: String,
    /// The file linked, in its folder.
    file: String,
    is_page: bool,
    /// In tokens.
    size: usize,
    /// The first and last name behind it.
    first: String,
    last: String,
    tools: usize,
    /// The first segment of the categories behind it, where all have the same.
    root: String,
    /// Titles of the categories behind it, as markdown.
    names: Vec<String>,
}

impl Line {
    fn new(label: String, file: String, about: String) -> Self {
        let size = estimate(&label) + estimate(&about) + estimate(&file) + 8;
        Self { label, about, file, size, tools: 1, ..Self::default() }
    }

    /// The first title behind it.
    fn starts(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    /// The last title behind it.
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
            let none = "No tools are documented: there are none, or their definitions could not be read.";
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

/// The categories in alphabetical order. A tool of several is listed in its first.
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
    inline(&segments.collect::<Vec<_>>().join(" / "))
}

/// A segment of a category path as a heading: with a capital, unless it has any.
pub(crate) fn segment_title(segment: &str) -> String {
    let mut chars = segment.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let plain = segment.chars().all(|c| c.is_lowercase() || c == ' ');
    if plain { format!("{first}{}", chars.as_str()) } else { segment.to_string() }
}

//! What an index consists of: lines, the sections of categories, and pages.

use serde_json::json;

use crate::markdown::name;
use crate::templates::{TemplateError, Templates};
use toolcrib_definition::clipped;
use toolcrib_definition::tokens::token_count;

/// Most characters of a name in an index line, which has several names.
pub(super) const MAX_NAME: usize = 60;

/// A page below `categories/`.
#[derive(Debug)]
pub(crate) struct CategoryPage {
    pub(crate) path: String,
    pub(crate) heading: String,
    pub(super) lines: String,
}

/// A category and the lines of its tools.
#[derive(Clone)]
pub(super) struct Section {
    pub(super) path: String,
    /// The path as markdown.
    pub(super) title: String,
    pub(super) purpose: String,
    pub(super) lines: Vec<Line>,
}

/// A link to a tool or a page.
#[derive(Clone, Default)]
pub(super) struct Line {
    /// The link text and the text after the link, both Markdown.
    pub(super) label: String,
    pub(super) about: String,
    /// The linked file, in its folder.
    pub(super) file: String,
    pub(super) is_page: bool,
    /// In tokens.
    pub(super) size: usize,
    /// The first and last name that it leads to.
    pub(super) first: String,
    pub(super) last: String,
    pub(super) tools: usize,
    /// The first segment of the categories that it leads to, if all have the same.
    pub(super) root: String,
    /// Titles of the categories that it leads to, as Markdown.
    pub(super) names: Vec<String>,
}

impl Line {
    pub(super) fn new(label: String, file: String, about: String) -> Self {
        let size = token_count(&label) + token_count(&about) + token_count(&file) + 8;
        Self { label, about, file, size, tools: 1, ..Self::default() }
    }

    /// The first title that it leads to.
    pub(super) fn starts(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    /// The last title that it leads to.
    pub(super) fn ends(&self) -> &str {
        self.names.last().map_or("", String::as_str)
    }

    /// The line on a page below `categories/`, or on the index.
    pub(super) fn markdown(&self, on_page: bool) -> String {
        let up = match (self.is_page, on_page) {
            (true, false) => "categories/",
            (false, true) => "../",
            _ => "",
        };
        format!("- **[{}]({up}{})** - {}", self.label, self.file, self.about)
    }
}

pub(super) fn joined(lines: &[Line], on_page: bool) -> String {
    lines.iter().map(|line| line.markdown(on_page)).collect::<Vec<_>>().join("\n")
}

impl CategoryPage {
    pub(crate) fn render(
        &self,
        templates: &Templates,
        registry_version: &str,
    ) -> Result<String, TemplateError> {
        let Self { heading, lines, .. } = self;
        let values = json!({ "heading": heading, "lines": lines, "registry_version": registry_version });
        templates.render("docs/page.md", &values)
    }
}

impl Section {
    pub(super) fn markdown(&self, on_page: bool) -> String {
        format!("### {} Tools\n{}", self.title, joined(&self.lines, on_page))
    }
}

/// `workspace` reads `Workspace`, `Storage/Buckets` reads `Storage / Buckets`.
pub(super) fn title(path: &str) -> String {
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

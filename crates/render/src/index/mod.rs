//! The index: one line per tool under its category. With many tools, an index of category pages, laid out so that no
//! page exceeds the configured budget ([`layout`]).

mod layout;
mod lines;

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::json;

use crate::markdown::{inline, name};
use crate::templates::{TemplateError, Templates};
use layout::Layout;
use lines::{Line, Section, joined, title};
use toolcrib_catalog::{Catalog, Profile, Tool};

pub(super) use lines::CategoryPage;
pub use lines::segment_title;

/// The laid-out index and its pages.
#[derive(Debug)]
pub(super) struct DocIndex {
    note: String,
    sections: String,
    pages: Vec<CategoryPage>,
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
        let Self { note, sections, .. } = self;
        let values = json!({ "note": note, "sections": sections, "registry_version": registry_version });
        templates.render("docs/index.md", &values)
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
    let mut line =
        Line::new(name(&tool.names.canonical), format!("{}.md", tool.names.safe), inline(&tool.texts.short));
    line.first.clone_from(&tool.names.canonical);
    line.last.clone_from(&tool.names.canonical);
    line
}

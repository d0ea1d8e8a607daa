//! `llms.txt` and `llms-full.txt` (llmstxt.org): the list of tools by category, and all pages in one file.

use super::markdown::{inline, name};
use toolcrib_catalog::{Catalog, Profile, ProfileTool, by_category};
use toolcrib_definition::grammar::counted;

/// The layout of both files. Tools are positions in [`Catalog::tools`].
#[derive(Debug)]
pub struct Llms {
    head: String,
    /// The tools below the title of each category.
    categories: Vec<(String, Vec<usize>)>,
    tools: Vec<usize>,
}

impl Llms {
    /// Lays out a profile.
    pub fn lay_out(catalog: &Catalog, profile: &Profile<'_>) -> Self {
        let place = |entry: &ProfileTool<'_>| catalog.position(&entry.tool.name);
        let tools: Vec<usize> = profile.tools.iter().filter_map(place).collect();
        let categories = by_category(tools.iter().map(|&index| (&*catalog.tools[index], index)));
        let categories = categories
            .into_iter()
            .map(|(category, tools)| (inline(&category.as_str().replace('/', " / ")), tools.to_vec()))
            .collect();
        let title = catalog.title().or(profile.name.map(str::to_string)).unwrap_or_else(|| "Tools".into());
        let count = tools.len();
        let summary = profile
            .description
            .map(inline)
            .unwrap_or_else(|| format!("{}, each with documentation of its own.", counted(count, "tool")));
        let head = format!(
            "# {}\n\n> {summary}\n\nRead the documentation of a tool before its first call. The index is \
             [tools/README.md](tools/README.md). Registry version: {}.\n",
            inline(&title),
            catalog.version
        );
        Self { head, categories, tools }
    }

    /// `llms.txt`: a link and a line for each tool, below its category.
    pub fn brief(&self, catalog: &Catalog) -> String {
        let mut out = self.head.clone();
        for (title, tools) in &self.categories {
            out += &format!("\n## {title}\n\n");
            for tool in tools.iter().filter_map(|&index| catalog.tools.get(index)) {
                let name = name(&tool.name);
                let short = inline(&tool.short);
                out += &format!("- [{name}](tools/{}.md): {short}\n", tool.safe_name);
            }
        }
        out
    }

    /// `llms-full.txt`: the pages of all tools; `doc` makes the page of the tool at a position.
    pub fn full(&self, doc: impl Fn(usize) -> Option<String>) -> String {
        let docs = self.tools.iter().filter_map(|&index| doc(index));
        let docs = docs.map(|doc| format!("\n---\n\n{}\n", doc.trim_end()));
        std::iter::once(self.head.clone()).chain(docs).collect()
    }
}

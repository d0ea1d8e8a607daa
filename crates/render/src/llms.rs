//! `llms.txt` (llmstxt.org): a link and a line for each tool, below its category.

use crate::markdown::{inline, name};
use toolcrib_catalog::{Catalog, Profile, Tool, by_category};
use toolcrib_definition::grammar::counted;

/// `llms.txt` of a profile. Its links begin with `root`: an address with a slash at its end, or nothing.
pub fn llms_txt(catalog: &Catalog, profile: &Profile<'_>, root: &str) -> String {
    let tools: Vec<&Tool> = profile.tools.iter().map(|entry| entry.tool).collect();
    let title = catalog.title().or(profile.name.map(str::to_string)).unwrap_or_else(|| "Tools".into());
    let summary = profile
        .description
        .map(inline)
        .unwrap_or_else(|| format!("{}, each with documentation of its own.", counted(tools.len(), "tool")));
    let mut out = format!(
        "# {}\n\n> {summary}\n\nRead the documentation of a tool before its first call. The index is \
         [tools/README.md]({root}tools/README.md). Registry version: {}.\n",
        inline(&title),
        catalog.version
    );
    for (category, tools) in by_category(tools.into_iter().map(|tool| (tool, tool))) {
        out += &format!("\n## {}\n\n", inline(&category.as_str().replace('/', " / ")));
        for tool in tools {
            let name = name(&tool.names.canonical);
            let short = inline(&tool.texts.short);
            out += &format!("- [{name}]({root}tools/{}.md): {short}\n", tool.names.safe);
        }
    }
    out
}

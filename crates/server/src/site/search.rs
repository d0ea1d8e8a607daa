//! Search: its page, the same values for a script, and the script that searches pages without a server.

use serde_json::{Value, json};

use super::categories::{entry, sentence};
use super::context::{Page, Site};
use super::frame::{AT_ROOT, Frame};
use super::index::{ROOT, SiteIndex};
use super::text::{clipped, inline_html, shown_name};
use toolcrib_catalog::Catalog;
use toolcrib_definition::clean_line;
use toolcrib_gateway::functions::QueryHits;
use toolcrib_render::TemplateError;
use toolcrib_search::Verdict;

/// Most characters of a query that are read.
pub(crate) const MAX_QUERY: usize = 200;
/// Most characters of a short description in the script.
const MAX_TEXT: usize = 400;

impl SiteIndex {
    /// The script with the listed tools: name, file, short text and effect. Pages opened as files can load a script, but not JSON.
    pub(super) fn search_script(&self, catalog: &Catalog) -> String {
        let row = |&place: &usize| {
            let tool = &catalog.tools[place];
            let name = shown_name(&tool.names.canonical, &tool.names.safe);
            let short = clipped(&clean_line(&tool.texts.short), MAX_TEXT);
            json!([name, tool.names.safe, short, tool.rules.effect.as_str()]).to_string()
        };
        let rows = self.tools.iter().map(row).collect::<Vec<_>>();
        format!("window.toolcribTools=[\n{}\n]\n", rows.join(",\n"))
    }
}

/// Most categories to look into where no tool fits.
const MAX_HINTS: usize = 12;

impl Site<'_> {
    /// The values of a search: the hits of `tool_search` with links. Where nothing fits and the search names no category, the
    /// first ones are linked.
    pub fn results(&self, hits: &QueryHits) -> Value {
        let tools = hits.hits.iter().filter_map(|hit| {
            let mut listed = entry(self, self.tool_named(&hit.tool.names.canonical)?, "");
            listed["reason"] = clean_line(&hit.hit.reason).into();
            listed["confidence"] = ((hit.confidence() * 100.0).round() as u8).into();
            Some(listed)
        });
        let nodes = self.index.tree.nodes();
        let named = hits.categories.iter();
        let named = named.filter_map(|hint| nodes.iter().position(|node| hint.path == node.segments()));
        let mut hints: Vec<usize> = named.collect();
        if hints.is_empty() && matches!(hits.verdict, Verdict::NoMatch | Verdict::UnknownLanguage) {
            hints.extend(self.index.tree.node(ROOT).children.iter().take(MAX_HINTS));
        }
        let category = |node: usize| {
            let pages = &self.index.categories[node];
            let about = inline_html(&sentence(self.index.tree.node(node)));
            json!({"title": self.index.titles(node), "href": pages.path(0), "about": about})
        };
        json!({
            "verdict": hits.verdict.as_str(),
            "unmet": (hits.verdict != Verdict::Match).then_some(&hits.unmet),
            "tools": tools.collect::<Vec<_>>(),
            "categories": hints.into_iter().map(category).collect::<Vec<_>>(),
        })
    }

    /// The page for a query with the hits of `tool_search`; without hits, it asks for a query.
    pub fn search(&self, query: &str, hits: Option<&QueryHits>) -> Result<Page, TemplateError> {
        let query = clipped(&clean_line(query), MAX_QUERY);
        let mut values = hits.map_or_else(|| json!({}), |hits| self.results(hits));
        values["query"] = query.as_str().into();
        let title = if query.is_empty() { "Search".to_string() } else { format!("Search: {query}") };
        let frame = Frame::new(self, "search", &title, String::new(), AT_ROOT).with_query(&query);
        self.render("site/search.html", frame, values)
    }
}

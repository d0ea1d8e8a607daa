//! The page for a path without content, and for a request that is refused.

use serde_json::{Value, json};

use super::categories;
use super::context::{Page, Site};
use super::frame::{AT_ROOT, Frame, Position};
use super::text::inline_html;
use toolcrib_catalog::{Resolved, Tool};
use toolcrib_render::TemplateError;

impl<'a> Site<'a> {
    /// The page for a path without content, or with the name of several tools: why, and the tools that may be meant; else
    /// those with a name like the path's. The links on the page are relative to that path.
    pub fn not_found(&self, path: &str, message: &str, nearest: &[String]) -> Result<Page, TemplateError> {
        let named = path.rsplit('/').next().unwrap_or_default();
        let named = [".html", ".md", ".json"].iter().find_map(|end| named.strip_suffix(end)).unwrap_or(named);
        let resolved = self.catalog.resolve(named);
        let is_ambiguous = matches!(resolved, Resolved::Ambiguous(_));
        let meant: Vec<&Tool> = match resolved {
            _ if !nearest.is_empty() => Vec::new(),
            Resolved::Unknown(names) => names.iter().filter_map(|name| self.catalog.named(name)).collect(),
            Resolved::Tool(tool) => vec![tool],
            Resolved::Ambiguous(tools) => tools,
        };
        let meant = meant.iter().map(|tool| &tool.names.safe);
        let root = root_of(path);
        let shown = nearest.iter().chain(meant).filter_map(|name| self.index.tool_file(name));
        let tools: Vec<_> = shown.take(5).map(|tool| categories::entry(self, tool, &root)).collect();
        let title = if is_ambiguous { "Which one?" } else { "Not found" };
        self.without_content(title, &root, message, "", &tools)
    }

    /// The page for a request that is refused.
    pub fn refused(&self, path: &str, message: &str, next: &str) -> Result<Page, TemplateError> {
        self.without_content("No answer", &root_of(path), message, next, &[])
    }

    fn without_content(
        &self,
        title: &str,
        root: &str,
        message: &str,
        next: &str,
        tools: &[Value],
    ) -> Result<Page, TemplateError> {
        let sentences = [message, next].map(as_sentence);
        let values = json!({ "title": title, "sentences": sentences, "tools": tools });
        let position = Position { root, ..AT_ROOT };
        self.render("site/missing.html", Frame::new(self, "missing", title, String::new(), position), values)
    }
}

/// The way from a path to the root.
fn root_of(path: &str) -> String {
    "../".repeat(path.trim_start_matches('/').matches('/').count().min(16))
}

/// A message of an error as a sentence of a page.
fn as_sentence(message: &str) -> String {
    let mut rest = message.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    inline_html(&first.chain(rest).chain((!message.is_empty()).then_some('.')).collect::<String>())
}

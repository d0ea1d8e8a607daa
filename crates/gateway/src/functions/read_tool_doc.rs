//! `read_tool_doc`: the docs of tools, whole or by section.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_with::skip_serializing_none;

use super::arguments::Arguments;
use super::discovery::not_authorized;
use crate::context::{CatalogView, FunctionContext};
use crate::tool_error::{ErrorCode, ROOT, Result, ToolError};
use toolcrib_catalog::{Resolved, Tool};
use toolcrib_render::{Doc, Section};

/// Arguments of `read_tool_doc`.
#[derive(Deserialize)]
pub(super) struct ReadToolDoc {
    name: Option<String>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    section: Part,
}

/// The requested part of a page.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    #[default]
    All,
    #[serde(untagged)]
    One(Section),
}

impl Arguments for ReadToolDoc {
    type Reply = Pages;

    async fn answer(self, context: &FunctionContext) -> Result<Pages> {
        let view = &*context.view;
        let mut docs = Vec::new();
        let mut errors = Vec::new();
        let mut seen = HashSet::new();
        for name in self.name.into_iter().chain(self.names) {
            let error = match view.resolve(&name) {
                Ok(index) if view.is_forbidden(index) => not_authorized(&name),
                Ok(index) => {
                    if seen.insert(index) {
                        docs.extend(read(view, index, self.section)?);
                    }
                    continue;
                }
                Err(unresolved) => match index_page(view, &name) {
                    Some(page) => {
                        docs.push(page);
                        continue;
                    }
                    None => unknown(view, &name, unresolved),
                },
            };
            errors.push(MissingPage { error, asked: name });
        }
        if docs.is_empty() {
            let all = errors.into_iter().map(|missing| missing.error).reduce(ToolError::and);
            return Err(all.unwrap_or_else(nothing_asked));
        }
        errors.iter_mut().for_each(|missing| _ = missing.error.help_path.get_or_insert_with(|| ROOT.into()));
        Ok(Pages { docs, errors })
    }
}

/// Docs of tools, with the errors of names that have no page.
#[derive(Clone, Debug, Serialize)]
pub struct Pages {
    docs: Vec<Page>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<MissingPage>,
}

/// A page in an answer, for the trace.
pub(crate) struct ReadPage<'a> {
    pub(crate) op: &'a str,
    pub(crate) version: &'a str,
    /// Whether it counts as read: the answer has its receipt.
    pub(crate) proves: bool,
}

/// The page of a tool or of the index, or a section of it.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize)]
struct Page {
    name: String,
    op: Option<String>,
    doc_version: Option<String>,
    markdown: String,
    /// The receipt of a page that counts as read.
    receipt: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct MissingPage {
    #[serde(flatten)]
    error: ToolError,
    asked: String,
}

impl Pages {
    pub(super) fn markdown(&self) -> String {
        let errors = self.errors.iter().map(|MissingPage { error, .. }| match error.nearest.as_slice() {
            [] => error.message.clone(),
            near => format!("{}; nearest: {}", error.message, near.join(", ")),
        });
        let texts: Vec<String> = self.docs.iter().map(|page| page.markdown.clone()).chain(errors).collect();
        texts.join(BETWEEN)
    }

    /// The pages of tools.
    pub(super) fn read(&self) -> Vec<ReadPage<'_>> {
        self.docs.iter().filter_map(Page::read).collect()
    }
}

impl Page {
    fn read(&self) -> Option<ReadPage<'_>> {
        let proves = self.receipt.is_some();
        Some(ReadPage { op: self.op.as_deref()?, version: self.doc_version.as_deref()?, proves })
    }
}

/// The index, or a page of it, for callers that have no other way to it.
fn index_page(view: &CatalogView, name: &str) -> Option<Page> {
    let path = name.strip_prefix("tools/").unwrap_or(name);
    let pages = view.index().as_ref().ok()?;
    let page = pages.iter().find(|page| page.path == path || page.path.strip_suffix(".md") == Some(path))?;
    let markdown = String::from_utf8_lossy(&page.markdown).trim_end().to_string();
    Some(Page { name: page.path.clone(), op: None, doc_version: None, markdown, receipt: None })
}

fn nothing_asked() -> ToolError {
    let mut error = ToolError::invalid(
        "neither `name` nor `names` says which tool",
        "give the name of one tool in `name`, or of several in `names`",
    );
    error.example = Some(json!({ "name": "create_issue" }));
    error.field("/name", "this is missing, and so is `names`")
}

fn unknown(view: &CatalogView, name: &str, found: Resolved<'_>) -> ToolError {
    let unresolved = view.catalog().explain(name, found);
    let (code, message, next) = match (unresolved.is_ambiguous, unresolved.near.is_empty()) {
        (true, _) => (ErrorCode::Ambiguous, unresolved.message, "ask for one of `nearest`"),
        (false, false) => (
            ErrorCode::NotFound,
            unresolved.message,
            "ask for one of `nearest`, or find the tool by what it does with tool_search or in the index, {\"name\": \"README.md\"}",
        ),
        (false, true) => (
            ErrorCode::NotFound,
            format!("{}, and none with a name like it", unresolved.message),
            "find the tool by what it does with tool_search, or in the index, {\"name\": \"README.md\"}",
        ),
    };
    let mut error = ToolError::new(code, message, next);
    error.nearest = unresolved.near.iter().map(|tool| tool.names.canonical.clone()).collect();
    error
}

/// The requested part of the doc of the tool at this position.
fn read(view: &CatalogView, index: usize, part: Part) -> Result<Option<Page>> {
    let (Some(tool), Some(page)) = (view.catalog().tools.get(index), view.page(index)) else {
        return Ok(None);
    };
    let page = page.as_ref().map_err(ToolError::internal)?;
    let (markdown, earns_receipt) = match part {
        Part::All => (String::from_utf8_lossy(&page.markdown).trim_end().to_string(), true),
        Part::One(section) => section_text(view, tool, section),
    };
    Ok(Some(Page {
        name: tool.names.canonical.clone(),
        op: Some(tool.names.op.clone()),
        doc_version: Some(page.version.clone()),
        markdown,
        receipt: earns_receipt.then(|| page.receipt.clone()),
    }))
}

/// A section under the name of its tool, and whether reading it counts as reading the doc: the arguments do.
fn section_text(view: &CatalogView, tool: &Tool, section: Section) -> (String, bool) {
    let doc = Doc::of(tool, view.catalog());
    let earns_receipt = matches!(section, Section::Arguments | Section::Schema);
    let none = || format!("No {} here; the arguments come with a complete call.", section.as_str());
    let text = doc.section(section, tool).unwrap_or_else(none);
    let heading = (section != Section::Summary).then(|| format!("# {}", doc.heading));
    let receipt = if earns_receipt { doc.receipt_line() } else { None };
    let parts: Vec<String> = heading.into_iter().chain([text]).chain(receipt).collect();
    (parts.join("\n\n"), earns_receipt)
}

/// Separator between two pages.
const BETWEEN: &str = "\n\n---\n\n";

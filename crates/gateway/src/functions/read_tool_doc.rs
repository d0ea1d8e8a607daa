//! `read_tool_doc`: the docs of tools, whole or by section.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::call::ROOT;
use super::discovery::not_authorized;
use super::function::{
    Answer, Arguments, CatalogView, ErrorCode, Function, FunctionContext, Result, ToolError,
};
use crate::fields::fields;
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
    async fn answer(self, _: &Function, context: &FunctionContext) -> Result<Answer> {
        let view = &*context.view;
        let mut found = Vec::new();
        let mut errors = Vec::new();
        let mut seen = HashSet::new();
        for name in self.name.iter().chain(&self.names) {
            match view.resolve(name) {
                Ok(index) if view.is_forbidden(index) => errors.push((name, not_authorized(name))),
                Ok(index) if seen.insert(index) => found.extend(read(view, index, self.section)?),
                Ok(_) => {}
                Err(unresolved) => match index_page(view, name) {
                    Some(page) => found.push(page),
                    None => errors.push((name, unknown(view, name, unresolved))),
                },
            }
        }
        if found.is_empty() {
            let all = errors.into_iter().map(|(_, error)| error).reduce(ToolError::and);
            return Err(all.unwrap_or_else(nothing_asked));
        }
        Ok(answer(found, errors))
    }
}

/// The index, or a page of it, for callers that have no other way to it.
fn index_page(view: &CatalogView, name: &str) -> Option<Found> {
    let path = name.strip_prefix("tools/").unwrap_or(name);
    let pages = view.index().as_ref().ok()?;
    let page = pages.iter().find(|page| page.path == path || page.path.strip_suffix(".md") == Some(path))?;
    let text = String::from_utf8_lossy(&page.markdown).trim_end().to_string();
    let fields =
        fields([("name", Some(page.path.as_str().into())), ("markdown", Some(text.as_str().into()))]);
    Some(Found { fields, text })
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
    error.nearest = unresolved.near.iter().map(|tool| tool.name.clone()).collect();
    error
}

/// One doc of the answer: its fields, and the same as text.
struct Found {
    fields: Map<String, Value>,
    text: String,
}

/// The requested part of the doc of the tool at this position.
fn read(view: &CatalogView, index: usize, part: Part) -> Result<Option<Found>> {
    let (Some(tool), Some(page)) = (view.catalog().tools.get(index), view.page(index)) else {
        return Ok(None);
    };
    let page = page.as_ref().map_err(ToolError::internal)?;
    let (text, earns_receipt) = match part {
        Part::All => (String::from_utf8_lossy(&page.markdown).trim_end().to_string(), true),
        Part::One(section) => section_text(view, tool, section),
    };
    let fields = fields([
        ("name", Some(tool.name.as_str().into())),
        ("op", Some(tool.op.as_str().into())),
        ("doc_version", Some(page.version.as_str().into())),
        ("markdown", Some(text.as_str().into())),
        ("receipt", earns_receipt.then(|| page.receipt.as_str().into())),
    ]);
    Ok(Some(Found { fields, text }))
}

/// A section under the name of its tool, and whether reading it counts as reading the doc: the arguments do.
fn section_text(view: &CatalogView, tool: &Tool, section: Section) -> (String, bool) {
    let doc = Doc::of(tool, view.catalog());
    let earns_receipt = matches!(section, Section::Arguments | Section::Schema);
    let none = || format!("No {} here; the arguments come with a complete call.", section.as_str());
    let text = doc.section(section, tool).unwrap_or_else(none);
    let heading = (section != Section::Summary).then(|| format!("# {}", doc.heading()));
    let receipt = if earns_receipt { doc.receipt_line() } else { None };
    let parts: Vec<String> = heading.into_iter().chain([text]).chain(receipt).collect();
    (parts.join("\n\n"), earns_receipt)
}

/// The answer, with the errors of names that have no page.
fn answer(found: Vec<Found>, errors: Vec<(&String, ToolError)>) -> Answer {
    let (docs, mut texts): (Vec<Value>, Vec<String>) =
        found.into_iter().map(|page| (Value::Object(page.fields), page.text)).unzip();
    let mut fields = Map::from_iter([("docs".to_string(), docs.into())]);
    let mut told = Vec::new();
    for (name, error) in errors {
        let near = match error.nearest.as_slice() {
            [] => String::new(),
            near => format!("; nearest: {}", near.join(", ")),
        };
        texts.push(format!("{}{near}", error.message));
        let mut error = json!(error.or_help_path(ROOT));
        error["asked"] = name.as_str().into();
        told.push(error);
    }
    if !told.is_empty() {
        fields.insert("errors".into(), told.into());
    }
    Answer::new(fields, Some(texts.join(BETWEEN)))
}

/// Separator between two pages.
const BETWEEN: &str = "\n\n---\n\n";

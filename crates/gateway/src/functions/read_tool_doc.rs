//! `read_tool_doc`: the docs of tools, whole or by section, within a budget.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::function::{Arguments, ROOT};
use super::{Answer, CatalogView, DocPage, ErrorCode, Function, FunctionContext, ToolError, discovery};
use toolcrib_catalog::{Callable, Resolved, Tool};
use toolcrib_definition::tokens::exact;
use toolcrib_docs::{Doc, Section};

/// Arguments of `read_tool_doc`.
#[derive(Deserialize)]
pub(super) struct ReadToolDoc {
    name: Option<String>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    section: Part,
    #[serde(default)]
    format: Format,
    max_tokens: Option<usize>,
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

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Markdown,
    Json,
}

impl Part {
    fn sections(&self) -> &[Section] {
        match self {
            Part::All => &Section::DOC,
            Part::One(section) => std::slice::from_ref(section),
        }
    }
}

/// Whether reading a section counts as reading the doc: the arguments do.
fn earns_receipt(section: &Section) -> bool {
    matches!(section, Section::Arguments | Section::Schema)
}

impl Arguments for ReadToolDoc {
    async fn answer(self, _: &Function, context: &FunctionContext) -> Result<Answer, ToolError> {
        let view = &*context.view;
        let mut docs =
            DocReader { view, asked: &self, left: self.max_tokens, found: Vec::new(), unread: Vec::new() };
        let mut errors: Vec<(&String, ToolError)> = Vec::new();
        let mut seen = HashSet::new();
        for name in self.name.iter().chain(&self.names) {
            match view.resolve(name) {
                Ok(index) if view.is_forbidden(index) => errors.push((name, discovery::not_authorized(name))),
                Ok(index) if seen.insert(index) => docs.read(index)?,
                Ok(_) => {}
                Err(unresolved) => match index_page(view, name) {
                    Some(page) => docs.found.push(page),
                    None => errors.push((name, unknown(view, name, unresolved))),
                },
            }
        }
        if docs.found.is_empty() {
            let all = errors.into_iter().map(|(_, error)| error).reduce(ToolError::and);
            return Err(all.unwrap_or_else(nothing_asked));
        }
        Ok(docs.answer(errors))
    }
}

/// The index, or a page of it, for callers that have no other way to it.
fn index_page(view: &CatalogView, name: &str) -> Option<Found> {
    let path = name.strip_prefix("tools/").unwrap_or(name);
    let pages = view.index().as_ref().ok()?;
    let page = pages.iter().find(|page| page.path == path || page.path.strip_suffix(".md") == Some(path))?;
    let text = String::from_utf8_lossy(&page.markdown).trim_end().to_string();
    let fields = [("name", page.path.as_str()), ("markdown", text.as_str())];
    let fields = fields.map(|(key, value)| (key.to_string(), Value::from(value))).into_iter().collect();
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

/// Docs read one after the other within one budget.
struct DocReader<'r> {
    view: &'r CatalogView,
    asked: &'r ReadToolDoc,
    /// Tokens that are left.
    left: Option<usize>,
    found: Vec<Found>,
    /// The tools for which no tokens were left.
    unread: Vec<String>,
}

/// Fewest tokens that must be left to read another doc: the line that names it, and a margin.
const LEAST: usize = 60;

impl DocReader<'_> {
    fn read(&mut self, index: usize) -> Result<(), ToolError> {
        let (Some(tool), Some(page)) = (self.view.catalog().tools.get(index), self.view.page(index)) else {
            return Ok(());
        };
        if !self.found.is_empty() && self.left.is_some_and(|left| left < LEAST) {
            self.unread.push(tool.name.clone());
            return Ok(());
        }
        let page = page.as_ref().map_err(ToolError::internal)?;
        let mut fields = Map::new();
        fields.insert("name".into(), tool.name.as_str().into());
        fields.insert("op".into(), tool.op.as_str().into());
        fields.insert("doc_version".into(), page.version.as_str().into());
        let (text, earned) = self.content(tool, page, &mut fields);
        if earned {
            fields.insert("receipt".into(), page.receipt.as_str().into());
        }
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(exact(&text) + exact(BETWEEN));
        }
        self.found.push(Found { fields, text });
        Ok(())
    }

    /// Adds the requested part to the fields, and returns it as text, with whether it earns the receipt.
    fn content(&self, tool: &Tool, page: &DocPage, fields: &mut Map<String, Value>) -> (String, bool) {
        let whole = || String::from_utf8_lossy(&page.markdown).trim_end().to_string();
        let is_whole = self.asked.section == Part::All && self.asked.format == Format::Markdown;
        if is_whole && self.left.is_none_or(|left| exact(&whole()) <= left) {
            let text = whole();
            fields.insert("markdown".into(), text.as_str().into());
            return (text, true);
        }
        let doc = Doc::of(tool, self.view.catalog());
        let sections = self.asked.section.sections();
        match self.asked.format {
            Format::Markdown => {
                let parts =
                    sections.iter().filter_map(|&section| Some((section, doc.section(section, tool)?)));
                let FittedSections { kept, left_out, whole } =
                    fit_sections(parts.collect(), self.left, |text| exact(text));
                let earned = kept.iter().any(|(section, _)| earns_receipt(section));
                let mut parts: Vec<String> = kept.into_iter().map(|(_, text)| text).collect();
                if parts.is_empty() && left_out.is_empty() {
                    let kind = sections.first().map_or("section", |section| section.as_str());
                    parts.push(format!("No {kind} here; the arguments come with a complete call."));
                }
                if !sections.contains(&Section::Summary) {
                    parts.insert(0, format!("# {}", doc.heading()));
                }
                parts.extend(rest(tool, &left_out, whole, fields));
                parts.extend(doc.receipt_line().filter(|_| earned));
                let text = parts.join("\n\n");
                fields.insert("markdown".into(), text.as_str().into());
                (text, earned)
            }
            Format::Json => {
                let parts = sections.iter().map(|&section| (section, section_fields(section, tool)));
                let size =
                    |value: &Map<String, Value>| exact(&serde_json::to_string(value).unwrap_or_default());
                let FittedSections { kept, left_out, whole } = fit_sections(parts.collect(), self.left, size);
                let earned = kept.iter().any(|(section, _)| earns_receipt(section));
                kept.into_iter().for_each(|(_, part)| fields.extend(part));
                rest(tool, &left_out, whole, fields);
                (serde_json::to_string(fields).unwrap_or_default(), earned)
            }
        }
    }

    /// The answer, with the errors of names that have no page.
    fn answer(self, errors: Vec<(&String, ToolError)>) -> Answer {
        let (docs, mut texts): (Vec<Value>, Vec<String>) =
            self.found.into_iter().map(|page| (Value::Object(page.fields), page.text)).unzip();
        let mut fields = Map::new();
        fields.insert("docs".into(), docs.into());
        if !self.unread.is_empty() {
            let how = json!({ "names": self.unread });
            texts.push(format!("Left out: {}. Read them with {how}", self.unread.join(", ")));
            fields.insert("left_out".into(), self.unread.into());
            fields.insert("read_on".into(), how);
        }
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
        let text = (self.asked.format == Format::Markdown).then(|| texts.join(BETWEEN));
        Answer::new(fields, text)
    }
}

/// Names the sections that were left out, and the way to get them.
fn rest(tool: &Tool, left_out: &[Section], whole: usize, fields: &mut Map<String, Value>) -> Option<String> {
    let names: Vec<&str> = left_out.iter().map(|section| section.as_str()).collect();
    let how = match left_out {
        [] => return None,
        [only @ (Section::Arguments | Section::Examples | Section::Policy | Section::Schema)] => {
            json!({ "name": tool.name, "section": only.as_str() })
        }
        _ => json!({ "name": tool.name, "max_tokens": whole }),
    };
    let text = format!("Left out: {}. Read it with {how}", names.join(", "));
    fields.insert("left_out".into(), names.into());
    fields.insert("read_on".into(), how);
    Some(text)
}

/// Separator between two pages.
const BETWEEN: &str = "\n\n---\n\n";

/// The sections that fit, in the order of the doc, and the others.
struct FittedSections<T> {
    kept: Vec<(Section, T)>,
    left_out: Vec<Section>,
    /// Tokens of the whole doc.
    whole: usize,
}

/// Tokens of the versions and of the lines about sections that were left out.
const OVERHEAD: usize = 70;
/// Sections by importance: a call needs its arguments, and must not break a rule.
const MIN_USEFUL: [Section; 7] = [
    Section::Summary,
    Section::Arguments,
    Section::Schema,
    Section::Policy,
    Section::Description,
    Section::Returns,
    Section::Examples,
];

/// Keeps the sections that fit into `budget` tokens, the most useful first.
fn fit_sections<T>(
    parts: Vec<(Section, T)>,
    budget: Option<usize>,
    size: impl Fn(&T) -> usize,
) -> FittedSections<T> {
    let Some(budget) = budget else { return FittedSections { kept: parts, left_out: Vec::new(), whole: 0 } };
    let sizes: Vec<(Section, usize)> =
        parts.iter().map(|(section, part)| (*section, size(part) + 2)).collect();
    let all: usize = sizes.iter().map(|(_, size)| size).sum();
    let mut room = if all + OVERHEAD / 2 <= budget { all } else { budget.saturating_sub(OVERHEAD) };
    let mut fitting = Vec::new();
    for section in MIN_USEFUL {
        let Some((_, size)) = sizes.iter().find(|(of, _)| *of == section) else { continue };
        if *size <= room {
            room -= size;
            fitting.push(section);
        }
    }
    let left_out =
        sizes.iter().map(|(section, _)| *section).filter(|section| !fitting.contains(section)).collect();
    let kept = parts.into_iter().filter(|(section, _)| fitting.contains(section)).collect();
    FittedSections { kept, left_out, whole: all + OVERHEAD }
}

/// The fields of a section; empty ones are left out.
fn section_fields(section: Section, tool: &Tool) -> Map<String, Value> {
    let definition = &tool.definition;
    let fields = match section {
        Section::Summary => json!({
            "safe_name": tool.safe_name,
            "title": definition.title,
            "aliases": tool.aliases,
            "categories": tool.categories,
            "effect": tool.effect,
            "approval": definition.approval.filter(|approval| *approval),
            "deprecated": definition.deprecated.filter(|deprecated| *deprecated),
            "replaced_by": definition.replaced_by,
            "not_callable": match tool.parameters.callable() {
                Callable::No(reason) => Some(reason),
                _ => None,
            },
            "short_description": tool.short,
        }),
        Section::Description => json!({ "description": tool.long }),
        Section::Arguments => json!({
            "parameters_schema": definition.parameters.as_ref().map(|_| tool.parameters.schema()),
            "call": tool.call,
            "fill_in": tool.fill_in,
        }),
        Section::Returns => json!({ "returns": tool.returns, "raises": tool.raises }),
        Section::Examples => json!({ "examples": tool.examples, "example_texts": tool.example_texts }),
        Section::Policy => json!({ "notes": tool.notes, "policy": tool.policy }),
        Section::Schema => json!({
            "parameters_schema": definition.parameters,
            "result_schema": definition.result_schema,
        }),
    };
    let Value::Object(fields) = fields else { return Map::new() };
    let is_something = |value: &Value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    fields.into_iter().filter(|(_, value)| is_something(value)).collect()
}

//! The page of a tool: the content of its doc, and extras for people: schemas, payloads, the place of its definition.

use serde::Serialize;
use serde_json::{Map, Value};
use tera::Context;

use super::address::payloads_path;
use super::arguments::Arguments;
use super::frame::{Frame, Link, Position};
use super::json::{cut, json_text};
use super::name::{clipped, shown_name};
use super::payload::{ProviderPayload, payloads};
use super::{Page, Site, category, html};
use crate::catalog::{Callable, Resolved, Tool};
use crate::render::arguments::type_words;
use crate::render::doc::MAX_EXAMPLE;
use crate::render::markdown::{inline, prose};
use crate::render::{Doc, TemplateError};
use crate::tool::{NoSchemaMode, clean_line, clean_text};

/// Most characters of a heading.
const MAX_HEADING: usize = 200;

/// Values for the template. Fields marked so are HTML, all others are text.
#[derive(Serialize)]
struct ToolPage {
    name: String,
    /// The name, unless it is too long for a heading.
    heading: String,
    title: Option<String>,
    safe_name: String,
    op: String,
    aliases: Vec<String>,
    tags: Vec<String>,
    capabilities: Vec<String>,
    roles: Vec<String>,
    server: Option<String>,
    source: String,
    effect: &'static str,
    approval: bool,
    deprecated: bool,
    replaced_by: Option<Replacement>,
    not_callable: Option<String>,
    categories: Vec<Link>,
    /// HTML.
    short: String,
    /// HTML.
    long: String,
    /// HTML.
    arguments: Option<Arguments>,
    /// HTML: the type of the result.
    result: Option<String>,
    /// HTML.
    returns: String,
    /// HTML.
    errors: Vec<String>,
    call: Option<String>,
    fill_in: Vec<String>,
    examples: Vec<ExampleBlock>,
    example_texts: Vec<String>,
    /// HTML.
    notes: Vec<String>,
    /// HTML.
    dos: Vec<String>,
    /// HTML.
    donts: Vec<String>,
    /// HTML.
    edge_cases: Vec<String>,
    has_schema: bool,
    has_result_schema: bool,
    payloads: Vec<ProviderPayload>,
    /// The path of the file with schemas and payloads.
    payloads_file: String,
    doc: String,
    doc_version: String,
    sections: Vec<Section>,
}

#[derive(Serialize)]
struct Replacement {
    name: String,
    href: Option<String>,
}

/// An example.
#[derive(Serialize)]
struct ExampleBlock {
    /// HTML.
    title: String,
    call: Option<String>,
    result: Option<String>,
}

/// A part of the page, for the list of them.
#[derive(Serialize)]
struct Section {
    id: &'static str,
    title: &'static str,
}

/// The page.
pub(super) fn page(site: &Site<'_>, shown: usize) -> Result<Page, TemplateError> {
    let tool = site.tool(shown);
    let mut page = ToolPage::of(site, shown, tool);
    page.sections = page.sections();
    let category = site.index.categories_of(shown).first().copied();
    let position = Position { category, tool: Some(shown) };
    let lineage = category.map(|category| site.index.path_from_root(category)).unwrap_or_default();
    let frame = Frame::below(site, "tool", &page.name, clean_line(&tool.short), position)
        .with_crumbs(lineage.into_iter().map(|above| category::link(site, above)));
    let mut context = Context::new();
    context.insert("tool", &page);
    site.render("site/tool.html", frame, context)
}

impl ToolPage {
    fn of(site: &Site<'_>, shown: usize, tool: &Tool) -> Self {
        let definition = &tool.definition;
        let (not_callable, unchecked) = match tool.parameters.callable() {
            Callable::No(reason) => (Some(clean_line(reason)), false),
            Callable::Unchecked(NoSchemaMode::HumanApproval) => (None, true),
            _ => (None, false),
        };
        let lines = |texts: &[String]| texts.iter().map(|text| line(text)).collect::<Vec<_>>();
        let cleaned = |texts: &[String]| texts.iter().map(|text| clean_line(text)).collect::<Vec<_>>();
        let rules = |rules: fn(&crate::tool::Policy) -> &Vec<String>| {
            tool.policy.as_ref().map(|policy| lines(rules(policy))).unwrap_or_default()
        };
        let result_schema = definition.result_schema.as_ref().map(|schema| schema.value());
        let place = &tool.place;
        // A position in the file counts the tools before it, also tools that a reader may not see.
        let is_told = !site.is_served && !place.pointer.is_empty();
        let at = if is_told { format!("#{}", place.pointer) } else { String::new() };
        let (lead, rest) = told_once(tool);
        let is_short = |title: &String| {
            let (title, short) = (title.trim_end_matches('.'), tool.short.trim_end_matches('.'));
            title.to_lowercase() == short.to_lowercase()
        };
        let name = clean_line(&tool.name);
        let name = if name.is_empty() { tool.safe_name.clone() } else { name };
        Self {
            heading: clipped(&name, MAX_HEADING),
            name,
            title: definition
                .title
                .as_deref()
                .map(clean_line)
                .filter(|title| !title.is_empty() && !is_short(title)),
            safe_name: tool.safe_name.clone(),
            op: clean_line(&tool.op),
            aliases: cleaned(&tool.aliases),
            tags: cleaned(&definition.tags),
            capabilities: cleaned(&definition.capabilities),
            roles: cleaned(&definition.allowed_roles),
            server: tool.server.as_deref().map(clean_line),
            source: clean_line(&format!("{}{at}", place.file)),
            effect: tool.effect.as_str(),
            approval: definition.approval == Some(true) || unchecked,
            deprecated: definition.deprecated == Some(true),
            replaced_by: definition.replaced_by.as_deref().map(|name| Replacement::of(site, name)),
            not_callable,
            categories: site
                .index
                .categories_of(shown)
                .iter()
                .map(|&category| Link { text: site.index.titles(category), ..category::link(site, category) })
                .collect(),
            short: line(lead),
            long: html::blocks(&prose(rest)),
            arguments: definition.parameters.is_some().then(|| Arguments::of(tool.parameters.schema())),
            result: result_schema.map(|schema| html::line(&type_words(schema, schema))),
            returns: html::blocks(&prose(tool.returns.as_deref().unwrap_or_default())),
            errors: lines(&tool.raises),
            call: tool.call.as_ref().map(|arguments| call(tool, arguments)),
            fill_in: tool.fill_in.iter().map(|pointer| pointer.trim_start_matches('/').to_string()).collect(),
            examples: examples(tool),
            example_texts: tool
                .example_texts
                .iter()
                .map(|text| cut(clean_text(text).into(), MAX_EXAMPLE))
                .collect(),
            notes: lines(&tool.notes),
            dos: rules(|policy| &policy.dos),
            donts: rules(|policy| &policy.donts),
            edge_cases: rules(|policy| &policy.edge_cases),
            has_schema: definition.parameters.is_some(),
            has_result_schema: result_schema.is_some(),
            payloads: payloads(site, tool),
            payloads_file: format!("../{}", payloads_path(tool)),
            doc: format!("{}.md", tool.safe_name),
            doc_version: Doc::of(tool, site.catalog).version().to_string(),
            sections: Vec::new(),
        }
    }

    fn sections(&self) -> Vec<Section> {
        let has_policy = !(self.dos.is_empty() && self.donts.is_empty() && self.edge_cases.is_empty());
        let all = [
            ("arguments", "Arguments", true),
            ("returns", "Returns", self.result.is_some() || !self.returns.is_empty()),
            ("errors", "Errors", !self.errors.is_empty()),
            ("call", "Call", self.call.is_some()),
            ("examples", "Examples", !(self.examples.is_empty() && self.example_texts.is_empty())),
            ("notes", "Notes", !self.notes.is_empty()),
            ("policy", "Policy", has_policy),
            ("schema", "Schema", self.has_schema || self.has_result_schema),
            ("payloads", "Payloads", true),
            ("details", "Details", true),
        ];
        all.into_iter()
            .filter(|(.., is_there)| *is_there)
            .map(|(id, title, _)| Section { id, title })
            .collect()
    }
}

impl Replacement {
    fn of(site: &Site<'_>, name: &str) -> Self {
        let shown = match site.catalog.resolve(name) {
            Resolved::Tool(tool) => site.index.tool_file(site.catalog, &tool.safe_name),
            _ => None,
        };
        let href = shown.map(|shown| format!("{}.html", site.tool(shown).safe_name));
        Self { name: shown_name(name, name), href }
    }
}

/// The short description and the rest of the long one. Where the long one begins with the short one and goes on in the
/// same sentence, the whole of it is told alone.
fn told_once(tool: &Tool) -> (&str, &str) {
    let long = tool.long.trim();
    let short = tool.short.trim_end_matches(['.', '。', '…']);
    let Some(end) = end_of_short(long, short).filter(|end| *end > 0) else { return (&tool.short, long) };
    let rest = &long[end..];
    let after = rest.strip_prefix(['.', '。']).unwrap_or(rest);
    let is_sentence =
        rest.starts_with('。') || rest.starts_with('.') && after.starts_with(char::is_whitespace);
    match after {
        "" => (&tool.short, ""),
        _ if is_sentence || after.starts_with("\n\n") => (&tool.short, after.trim_start_matches([' ', '\n'])),
        _ => ("", long),
    }
}

/// The end of the short description in the first sentence of the long one, which may begin with other words: `This tool
/// lists all files.`
fn end_of_short(long: &str, short: &str) -> Option<usize> {
    /// Most words before it.
    const OPENING: usize = 4;
    if long.starts_with(short) {
        return Some(short.len());
    }
    let short: Vec<&str> = short.split_whitespace().collect();
    let [first, .., last] = &short[..] else { return None };
    let mut at = 0;
    let pieces = long.split_inclusive(char::is_whitespace).map(|piece| {
        at += piece.len();
        (at - piece.len(), piece.trim_end())
    });
    let words: Vec<(usize, &str)> =
        pieces.filter(|(_, word)| !word.is_empty()).take(short.len() + OPENING).collect();
    let end_behind = |opening: usize| {
        let told = words.get(opening..opening + short.len())?;
        let [(_, start), middle @ .., (at, end)] = told else { return None };
        let is_equal = start.to_lowercase() == first.to_lowercase()
            && middle.iter().map(|(_, word)| word).eq(&short[1..short.len() - 1])
            && end.starts_with(last);
        is_equal.then_some(at + last.len())
    };
    let opening = words.iter().take(OPENING).take_while(|(_, word)| !word.ends_with(['.', ':', '!'])).count();
    (0..=opening).find_map(end_behind)
}

fn line(text: &str) -> String {
    html::line(&inline(text))
}

/// A complete call, in the form that providers report it.
fn call(tool: &Tool, arguments: &Map<String, Value>) -> String {
    let mut call = Map::new();
    call.insert("name".into(), tool.safe_name.as_str().into());
    call.insert("arguments".into(), Value::Object(arguments.clone()));
    json_text(&Value::Object(call))
}

/// The examples; the first one is the ready-made call already, unless it adds something.
fn examples(tool: &Tool) -> Vec<ExampleBlock> {
    let shown = |(index, example): (usize, &crate::tool::Example)| {
        let is_told = index == 0 && example.result.is_none();
        let title = example.title.as_deref().map(line).filter(|title| !title.is_empty());
        let otherwise =
            if index == 0 { "The call above".to_string() } else { format!("Example {}", index + 1) };
        (!is_told).then(|| ExampleBlock {
            title: title.unwrap_or(otherwise),
            call: (index > 0).then(|| call(tool, &example.arguments)),
            result: example.result.as_ref().map(json_text),
        })
    };
    tool.examples.iter().enumerate().filter_map(shown).collect()
}

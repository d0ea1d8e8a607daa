//! The page of a tool: the content of its doc, and extras for people: schemas, payloads, the place of its definition.

use serde_json::{Map, Value, json};

use super::argument_table::argument_list;
use super::categories;
use super::code_samples::same_calls;
use super::context::{Page, Site};
use super::frame::{Frame, IN_FOLDER, Link, Position};
use super::index::payloads_path;
use super::payloads::payloads;
use super::text::{blocks, clipped, cut, inline_html, json_text, line, shown_name};
use super::try_it::try_it;
use toolcrib_catalog::{Resolved, Tool};
use toolcrib_definition::{Example, Policy, clean_line, clean_text};
use toolcrib_render::arguments::type_words;
use toolcrib_render::doc::MAX_EXAMPLE;
use toolcrib_render::markdown::prose;
use toolcrib_render::{Doc, TemplateError};

/// Most characters of a heading.
const MAX_HEADING: usize = 200;

/// The parts of the page in the list of them: id, title, and the values of which it has one; none where it is always
/// there.
const SECTIONS: [(&str, &str, &[&str]); 11] = [
    ("arguments", "Arguments", &[]),
    ("returns", "Returns", &["result", "returns"]),
    ("errors", "Errors", &["errors"]),
    ("call", "Call", &["call"]),
    ("try", "Try it", &["try_it"]),
    ("examples", "Examples", &["examples", "example_texts"]),
    ("notes", "Notes", &["notes"]),
    ("policy", "Policy", &["dos", "donts", "edge_cases"]),
    ("schema", "Schema", &["has_schema", "has_result_schema"]),
    ("payloads", "Payloads", &[]),
    ("details", "Details", &[]),
];

pub(super) fn page(site: &Site<'_>, shown: usize) -> Result<Page, TemplateError> {
    let tool = site.tool(shown);
    let name = match clean_line(&tool.names.canonical) {
        name if name.is_empty() => tool.names.safe.clone(),
        name => name,
    };
    let values = values(site, shown, &name);
    let has = |key: &&str| match &values[*key] {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    let sections = SECTIONS.iter().filter(|(.., of)| of.is_empty() || of.iter().any(has));
    let sections: Vec<Value> = sections.map(|(id, title, _)| json!({"id": id, "title": title})).collect();
    let category = site.index.categories_of(shown).first().copied();
    let position = Position { category, tool: Some(shown), ..IN_FOLDER };
    let lineage = category.map(|category| site.index.path_from_root(category)).unwrap_or_default();
    let frame = Frame::new(site, "tool", &name, clean_line(&tool.texts.short), position)
        .with_crumbs(lineage.into_iter().map(|above| categories::link(site, above)));
    site.render("site/tool.html", frame, json!({ "tool": values, "sections": sections }))
}

/// Values for the template.
fn values(site: &Site<'_>, shown: usize, name: &str) -> Value {
    let tool = site.tool(shown);
    let lines = |texts: &[String]| texts.iter().map(|text| inline_html(text)).collect::<Vec<_>>();
    let cleaned = |texts: &[String]| texts.iter().map(|text| clean_line(text)).collect::<Vec<_>>();
    let rules = |rules: fn(&Policy) -> &Vec<String>| {
        tool.texts.policy.as_ref().map(|policy| lines(rules(policy))).unwrap_or_default()
    };
    let result_schema = tool.output.as_ref().map(|schema| schema.value());
    let place = &tool.origin.place;
    // A position in the file counts the tools before it, also tools that a reader may not see.
    let is_told = !site.is_served && !place.pointer.is_empty();
    let at = if is_told { format!("#{}", place.pointer) } else { String::new() };
    let (lead, rest) = told_once(tool);
    let is_short = |title: &String| {
        let title = title.trim_end_matches('.');
        let short = tool.texts.short.trim_end_matches('.');
        title.to_lowercase() == short.to_lowercase()
    };
    let title = tool.names.title.as_deref().map(clean_line);
    let categories = site
        .index
        .categories_of(shown)
        .iter()
        .map(|&category| Link { text: site.index.titles(category), ..categories::link(site, category) });
    let attempt = if tool.not_callable().is_none() { site.attempt } else { None };
    let fill_in = tool.input.fill_in.iter().map(|pointer| pointer.trim_start_matches('/'));
    let example_texts = tool.texts.example_texts.iter().map(|text| cut(clean_text(text).into(), MAX_EXAMPLE));
    json!({
        "name": name,
        // The name, unless it is too long for a heading.
        "heading": clipped(name, MAX_HEADING),
        "title": title.filter(|title| !title.is_empty() && !is_short(title)),
        "safe_name": tool.names.safe,
        "op": clean_line(&tool.names.op),
        "aliases": cleaned(&tool.names.aliases),
        "tags": cleaned(&tool.labels.tags),
        "capabilities": cleaned(&tool.labels.capabilities),
        "roles": cleaned(&tool.rules.roles),
        "server": tool.origin.server.as_deref().map(clean_line),
        "source": clean_line(&format!("{}{at}", place.file)),
        "effect": tool.rules.effect.as_str(),
        "approval": tool.wants_approval(),
        "deprecated": tool.labels.deprecated == Some(true),
        "replaced_by": tool.labels.replaced_by.as_deref().map(|name| replacement(site, name)),
        "not_callable": tool.not_callable().map(clean_line),
        "categories": categories.collect::<Vec<_>>(),
        "short": inline_html(lead),
        "long": blocks(&prose(rest)),
        "arguments": tool.input.schema.is_some().then(|| argument_list(tool.input.parameters.schema())),
        "result": result_schema.map(|schema| line(&type_words(schema))),
        "returns": blocks(&prose(tool.texts.returns.as_deref().unwrap_or_default())),
        "errors": lines(&tool.texts.raises),
        "call": tool.input.call.as_ref().map(|arguments| call(tool, arguments)),
        "fill_in": fill_in.collect::<Vec<_>>(),
        "try_it": attempt.map(|(csrf, attempt)| try_it(tool, csrf, attempt)),
        "calls": site.connect.map(|connect| same_calls(tool, connect, site.attempt)),
        "examples": examples(tool),
        "example_texts": example_texts.collect::<Vec<_>>(),
        "notes": lines(&tool.texts.notes),
        "dos": rules(|policy| &policy.dos),
        "donts": rules(|policy| &policy.donts),
        "edge_cases": rules(|policy| &policy.edge_cases),
        "has_schema": tool.input.schema.is_some(),
        "has_result_schema": result_schema.is_some(),
        "payloads": payloads(site, tool),
        "payloads_file": format!("../{}", payloads_path(tool)),
        "doc": format!("{}.md", tool.names.safe),
        "doc_version": Doc::of(tool, site.catalog).doc_version,
    })
}

fn replacement(site: &Site<'_>, name: &str) -> Value {
    let shown = match site.catalog.resolve(name) {
        Resolved::Tool(tool) => site.index.tool_file(&tool.names.safe),
        _ => None,
    };
    let href = shown.map(|shown| format!("{}.html", site.tool(shown).names.safe));
    json!({"name": shown_name(name, name), "href": href})
}

/// The short description and the rest of the long one. Where the long one begins with the short one and goes on in the
/// same sentence, the long description alone, so that nothing is repeated.
fn told_once(tool: &Tool) -> (&str, &str) {
    let long = tool.texts.long.trim();
    let short = &tool.texts.short;
    let begun = short.trim_end_matches(['.', '。', '…']);
    let Some(end) = end_of_short(long, begun).filter(|end| *end > 0) else { return (short, long) };
    let rest = &long[end..];
    let after = rest.strip_prefix(['.', '。']).unwrap_or(rest);
    let is_sentence =
        rest.starts_with('。') || rest.starts_with('.') && after.starts_with(char::is_whitespace);
    match after {
        "" => (short, ""),
        _ if is_sentence || after.starts_with("\n\n") => (short, after.trim_start_matches([' ', '\n'])),
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

/// A complete call, in the form that providers report it.
fn call(tool: &Tool, arguments: &Map<String, Value>) -> String {
    json_text(&json!({"name": tool.names.safe, "arguments": arguments}))
}

/// The examples; the first one is the ready-made call already, unless it adds something.
fn examples(tool: &Tool) -> Vec<Value> {
    let shown = |(index, example): (usize, &Example)| {
        let title = example.title.as_deref().map(inline_html).filter(|title| !title.is_empty());
        let otherwise = match index {
            0 => "The call above".to_string(),
            _ => format!("Example {}", index + 1),
        };
        (index > 0 || example.result.is_some()).then(|| {
            json!({
                "title": title.unwrap_or(otherwise),
                "call": (index > 0).then(|| call(tool, &example.arguments)),
                "result": example.result.as_ref().map(json_text),
            })
        })
    };
    tool.texts.examples.iter().enumerate().filter_map(shown).collect()
}

//! The page of a tool: the content of its doc, and extras for people: schemas, payloads, the place of its definition.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use tera::Context;

use super::form::Form;
use super::frame::{
    Frame, IN_FOLDER, Link, Position, blocks, clipped, cut, inline_html, json_text, line, shown_name,
};
use super::{Connect, Page, Site, pages, payloads_path};
use toolcrib_catalog::config::Mode;
use toolcrib_catalog::{Profile, ProfileTool, Resolved, Tool};
use toolcrib_definition::tokens::Counter;
use toolcrib_definition::{DescriptionMode, Effect, Example, Policy, clean_line, clean_text, is_hidden};
use toolcrib_docs::arguments::{Given, Row, arguments, type_words};
use toolcrib_docs::doc::MAX_EXAMPLE;
use toolcrib_docs::markdown::prose;
use toolcrib_docs::{Doc, TemplateError};
use toolcrib_providers::report::grouped;
use toolcrib_providers::{self as provider, PayloadRequest, Provider};

/// Most bytes of arguments on the page.
const MAX_RAW: usize = 64 << 10;
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

/// The page.
pub(super) fn page(site: &Site<'_>, shown: usize) -> Result<Page, TemplateError> {
    let tool = site.tool(shown);
    let name = match clean_line(&tool.name) {
        name if name.is_empty() => tool.safe_name.clone(),
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
    let frame = Frame::new(site, "tool", &name, clean_line(&tool.short), position)
        .with_crumbs(lineage.into_iter().map(|above| pages::link(site, above)));
    let mut context = Context::new();
    context.insert("tool", &values);
    context.insert("sections", &sections);
    site.render("site/tool.html", frame, context)
}

/// Values for the template.
fn values(site: &Site<'_>, shown: usize, name: &str) -> Value {
    let tool = site.tool(shown);
    let definition = &tool.definition;
    let lines = |texts: &[String]| texts.iter().map(|text| inline_html(text)).collect::<Vec<_>>();
    let cleaned = |texts: &[String]| texts.iter().map(|text| clean_line(text)).collect::<Vec<_>>();
    let rules = |rules: fn(&Policy) -> &Vec<String>| {
        tool.policy.as_ref().map(|policy| lines(rules(policy))).unwrap_or_default()
    };
    let result_schema = definition.result_schema.as_ref().map(|schema| schema.value());
    let place = &tool.place;
    // A position in the file counts the tools before it, also tools that a reader may not see.
    let is_told = !site.is_served && !place.pointer.is_empty();
    let at = if is_told { format!("#{}", place.pointer) } else { String::new() };
    let (lead, rest) = told_once(tool);
    let is_short = |title: &String| {
        let title = title.trim_end_matches('.');
        let short = tool.short.trim_end_matches('.');
        title.to_lowercase() == short.to_lowercase()
    };
    let title = definition.title.as_deref().map(clean_line);
    let categories = site
        .index
        .categories_of(shown)
        .iter()
        .map(|&category| Link { text: site.index.titles(category), ..pages::link(site, category) });
    let fill_in = tool.fill_in.iter().map(|pointer| pointer.trim_start_matches('/'));
    let example_texts = tool.example_texts.iter().map(|text| cut(clean_text(text).into(), MAX_EXAMPLE));
    json!({
        "name": name,
        // The name, unless it is too long for a heading.
        "heading": clipped(name, MAX_HEADING),
        "title": title.filter(|title| !title.is_empty() && !is_short(title)),
        "safe_name": tool.safe_name,
        "op": clean_line(&tool.op),
        "aliases": cleaned(&tool.aliases),
        "tags": cleaned(&definition.tags),
        "capabilities": cleaned(&definition.capabilities),
        "roles": cleaned(&definition.allowed_roles),
        "server": tool.server.as_deref().map(clean_line),
        "source": clean_line(&format!("{}{at}", place.file)),
        "effect": tool.effect.as_str(),
        "approval": tool.wants_approval(),
        "deprecated": definition.deprecated == Some(true),
        "replaced_by": definition.replaced_by.as_deref().map(|name| replacement(site, name)),
        "not_callable": tool.not_callable().map(clean_line),
        "categories": categories.collect::<Vec<_>>(),
        "short": inline_html(lead),
        "long": blocks(&prose(rest)),
        "arguments": definition.parameters.is_some().then(|| argument_list(tool.parameters.schema())),
        "result": result_schema.map(|schema| line(&type_words(schema, schema))),
        "returns": blocks(&prose(tool.returns.as_deref().unwrap_or_default())),
        "errors": lines(&tool.raises),
        "call": tool.call.as_ref().map(|arguments| call(tool, arguments)),
        "fill_in": fill_in.collect::<Vec<_>>(),
        "try_it": site.attempt.filter(|_| tool.not_callable().is_none()).map(|(csrf, attempt)| try_it(tool, csrf, attempt)),
        "calls": site.connect.map(|connect| same_calls(tool, connect, site.attempt)),
        "examples": examples(tool),
        "example_texts": example_texts.collect::<Vec<_>>(),
        "notes": lines(&tool.notes),
        "dos": rules(|policy| &policy.dos),
        "donts": rules(|policy| &policy.donts),
        "edge_cases": rules(|policy| &policy.edge_cases),
        "has_schema": definition.parameters.is_some(),
        "has_result_schema": result_schema.is_some(),
        "payloads": payloads(site, tool),
        "payloads_file": format!("../{}", payloads_path(tool)),
        "doc": format!("{}.md", tool.safe_name),
        "doc_version": Doc::of(tool, site.catalog).version(),
    })
}

fn replacement(site: &Site<'_>, name: &str) -> Value {
    let shown = match site.catalog.resolve(name) {
        Resolved::Tool(tool) => site.index.tool_file(&tool.safe_name),
        _ => None,
    };
    let href = shown.map(|shown| format!("{}.html", site.tool(shown).safe_name));
    json!({"name": shown_name(name, name), "href": href})
}

/// The short description and the rest of the long one. Where the long one begins with the short one and goes on in the
/// same sentence, the long description alone, so that nothing is repeated.
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

/// A complete call, in the form that providers report it.
fn call(tool: &Tool, arguments: &Map<String, Value>) -> String {
    json_text(&json!({"name": tool.safe_name, "arguments": arguments}))
}

/// A call that a person tries on the page of a tool.
#[derive(Clone, Debug, Default)]
pub struct Attempt {
    /// The arguments; null before the form was sent.
    pub arguments: Value,
    /// Text that is no JSON, and the problem with it.
    pub raw: String,
    /// The problem.
    pub problem: Option<String>,
    /// The answer of `tool_exec`.
    pub answer: Option<Value>,
    /// Whether it was a dry run.
    pub is_dry: bool,
    /// The key under which the call runs once.
    pub key: String,
}

impl Attempt {
    /// The arguments in the fields of a sent form.
    pub fn read(tool: &Tool, fields: &[(String, String)]) -> Value {
        Form::of(tool.parameters.schema()).read(fields)
    }

    /// The arguments that fill the form: those of the ready-made call before it was sent.
    fn filling(&self, tool: &Tool) -> Value {
        match &self.arguments {
            Value::Null => tool.call.clone().unwrap_or_default().into(),
            sent => sent.clone(),
        }
    }
}

/// The form of a tool with its arguments and errors, and the outcome of the call.
fn try_it(tool: &Tool, csrf: &str, attempt: &Attempt) -> Value {
    let arguments = attempt.filling(tool);
    let answer = attempt.answer.as_ref();
    let is_ok = answer.is_some_and(|answer| answer["ok"] == true);
    let errors = answer.and_then(|answer| answer.pointer("/error/details/field_errors")?.as_array());
    let said = errors
        .into_iter()
        .flatten()
        .filter_map(|error| Some((error["pointer"].as_str()?, clean_line(error["message"].as_str()?))));
    let said: HashMap<&str, String> = said.collect();
    let rows = Form::of(tool.parameters.schema()).rows(&arguments, &said);
    let message = answer.filter(|_| !is_ok).map(|answer| {
        let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let next = text("/error/next_action");
        // Errors that stand at their fields are not repeated.
        if said.is_empty() {
            format!("{}. Next: {next}.", text("/error/message"))
        } else {
            "Some arguments do not fit.".to_string()
        }
    });
    let elsewhere =
        said.iter().filter(|(_, message)| !rows.iter().any(|row| row["error"] == inline_html(message)));
    let mut elsewhere: Vec<String> =
        elsewhere.map(|(at, message)| inline_html(&format!("{at}: {message}"))).collect();
    elsewhere.sort_unstable();
    json!({
        "csrf": csrf,
        "action": format!("{}.html#try", tool.safe_name),
        "rows": rows,
        "json": if attempt.raw.is_empty() { json_text(&arguments) } else { cut(clean_text(&attempt.raw).into(), MAX_RAW) },
        "problem": attempt.problem.as_deref().map(inline_html).or_else(|| message.map(|message| inline_html(&clean_line(&message)))),
        "elsewhere": elsewhere,
        "fits": is_ok && attempt.is_dry,
        "ran": is_ok && !attempt.is_dry,
        "arguments": arguments.to_string(),
        "key": attempt.key,
        "answer": answer.map(json_text),
        // A call that fits, and one with errors at its fields, say enough without the answer.
        "is_open": if is_ok { !attempt.is_dry } else { said.is_empty() },
        "changes": tool.effect != Effect::Read,
    })
}

/// The same call for programs to copy, each with a title.
fn same_calls(tool: &Tool, connect: &Connect, attempt: Option<(&str, &Attempt)>) -> Vec<Value> {
    let arguments = attempt
        .map_or_else(|| tool.call.clone().unwrap_or_default().into(), |(_, attempt)| attempt.filling(tool));
    let url = format!("{}/v1/tools/{}", connect.http, tool.safe_name);
    let args = arguments.to_string();
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let token = |text: &'static str| if connect.needs_token { text } else { "" };
    let call = json!({"op": tool.op, "args": arguments}).to_string();
    let texts = [
        (
            "curl",
            format!(
                "curl {url} -H 'Content-Type: application/json'{} -d {}",
                token(" -H 'Authorization: Bearer TOKEN'"),
                quoted(&args)
            ),
        ),
        (
            "Python",
            format!(
                "import requests\n\nanswer = requests.post(\"{url}\"{}, json={})\nprint(answer.json())",
                token(", headers={\"Authorization\": \"Bearer TOKEN\"}"),
                python(&arguments)
            ),
        ),
        (
            "TypeScript",
            format!(
                "const answer = await fetch(\"{url}\", {{\n  method: \"POST\",\n  headers: {{ \"Content-Type\": \"application/json\"{} }},\n  body: JSON.stringify({args}),\n}});\nconsole.log(await answer.json());",
                token(", Authorization: \"Bearer TOKEN\"")
            ),
        ),
        ("CLI", format!("toolcrib call tool_exec {} /path/to/catalog", quoted(&call))),
    ];
    let shown = |(title, text): (&str, String)| json!({"title": title, "text": cut(clean_text(&text).into(), MAX_RAW)});
    texts.into_iter().map(shown).collect()
}

/// A value as Python writes it.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Array(items) => format!("[{}]", items.iter().map(python).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{}: {}", json!(name), python(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
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
    tool.examples.iter().enumerate().filter_map(shown).collect()
}

/// The arguments of a tool with this schema, as the rows of a table.
fn argument_list(schema: &Value) -> Value {
    let listed = arguments(schema);
    let (rows, types) = listed.rows.split_at(listed.types_from.unwrap_or(listed.rows.len()));
    let has_default = |row: &Row| {
        let given = row.facts.as_ref().and_then(|facts| facts.given.as_ref());
        matches!(given, Some(Given::Default(_)))
    };
    json!({
        "remark": line(&listed.remark),
        "rows": table(rows),
        // Types that rows name.
        "types": table(types),
        "folded": listed.folded,
        "has_defaults": listed.rows.iter().any(has_default),
    })
}

fn table(rows: &[Row]) -> Vec<Value> {
    let mut above: Vec<String> = Vec::new();
    let mut out = Vec::with_capacity(rows.len());
    for row in rows {
        above.truncate(row.depth);
        let label = line(&row.label);
        // The row that it is a field of.
        let parent = above.last().filter(|parent| !parent.is_empty()).cloned();
        above.resize(row.depth, String::new());
        above.push(label.clone());
        let facts = row.facts.as_ref();
        let (default, example) = match facts.and_then(|facts| facts.given.as_ref()) {
            Some(Given::Default(value)) => (Some(line(value)), None),
            Some(Given::Example(value)) => (None, Some(line(value))),
            None => (None, None),
        };
        let limits = facts.iter().flat_map(|facts| &facts.limits).map(|limit| line(limit));
        out.push(json!({
            "depth": row.depth.min(6),
            "parent": parent,
            "label": label,
            "kinds": facts.map(|facts| alternatives(&facts.kind)).unwrap_or_default(),
            "required": facts.and_then(|facts| facts.is_required),
            "limits": limits.collect::<Vec<_>>(),
            "default": default,
            "example": example,
            "deprecated": facts.is_some_and(|facts| facts.is_deprecated),
            "about": line(&row.about),
        }));
    }
    out
}

/// The values of an enumeration, or the type, each on a line.
fn alternatives(kind: &str) -> Vec<String> {
    let parts = kind.split(" | `").enumerate();
    parts.map(|(place, part)| if place == 0 { line(part) } else { line(&format!("`{part}")) }).collect()
}

/// Key of the schema of the arguments in the file.
const SCHEMA: &str = "schema";
/// Key of the schema of the result.
const RESULT_SCHEMA: &str = "result_schema";

/// The file of a tool: its schemas as their author wrote them, and its entry in each provider's list of tools. Each
/// value stands on lines of its own, with its key after two spaces, so that a script can cut it out unchanged.
pub(super) fn payloads_file(site: &Site<'_>, tool: &Tool) -> String {
    let definition = &tool.definition;
    let schemas = [(SCHEMA, &definition.parameters), (RESULT_SCHEMA, &definition.result_schema)];
    let schemas =
        schemas.into_iter().filter_map(|(key, schema)| Some((key, schema.as_ref()?.value().clone())));
    let providers = Provider::ALL.iter();
    let payloads =
        providers.filter_map(|&provider| Some((provider.as_str(), bound(site, tool, provider).entry?)));
    let content: Map<String, Value> =
        schemas.chain(payloads).map(|(key, value)| (key.into(), value)).collect();
    visible(&format!("{:#}\n", Value::Object(content)))
}

/// JSON with hidden characters as escapes: the same values, and nothing that steers a display.
fn visible(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && (is_hidden(c) || matches!(c, '\u{2028}' | '\u{2029}')) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| shown += &format!("\\u{unit:04x}"));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// The tool for each provider, bound in full, without its JSON.
fn payloads(site: &Site<'_>, tool: &Tool) -> Vec<Value> {
    let mut counter = Counter::default();
    let payload = |&provider: &Provider| {
        let ToolEntry { entry, notes, problem } = bound(site, tool, provider);
        let tokens = entry.map(|entry| grouped(counter.count(&entry.to_string())));
        json!({
            "title": title(provider),
            "word": provider.as_str(),
            "tokens": tokens.unwrap_or_default(),
            "notes": notes,
            "problem": problem,
        })
    };
    Provider::ALL.iter().map(payload).collect()
}

/// A tool as one provider gets it, or the reason why not.
#[derive(Default)]
struct ToolEntry {
    /// Its entry in the list of tools.
    entry: Option<Value>,
    notes: Vec<String>,
    problem: Option<String>,
}

fn bound(site: &Site<'_>, tool: &Tool, provider: Provider) -> ToolEntry {
    let whole = ProfileTool { tool, mode: DescriptionMode::Full };
    let profile = Profile { name: None, description: None, tools: vec![whole], picked: false };
    let request = PayloadRequest {
        catalog: site.catalog,
        profile: &profile,
        provider,
        mode: Mode::Full,
        options: site.catalog.config.payload,
    };
    match provider::payload(request) {
        Err(error) => ToolEntry { problem: Some(clean_line(&error.to_string())), ..ToolEntry::default() },
        Ok(payload) => {
            let mut notes: Vec<String> =
                payload.findings.iter().map(|finding| clean_line(&finding.message)).collect();
            let entry = payload.functions.first().map(|function| payload.entry(provider, function));
            let problem = match entry {
                Some(_) => None,
                None => notes.pop().or_else(|| Some("It cannot be bound.".into())),
            };
            ToolEntry { entry, notes, problem }
        }
    }
}

/// The usual name of a provider's API.
pub(super) fn title(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => "OpenAI chat completions",
        Provider::OpenAiResponses => "OpenAI responses",
        Provider::Anthropic => "Anthropic messages",
        Provider::Gemini => "Gemini generateContent",
        Provider::GeminiInteractions => "Gemini interactions",
        Provider::Bedrock => "Amazon Bedrock converse",
        Provider::Ollama => "Ollama",
        Provider::Mistral => "Mistral",
        Provider::Cohere => "Cohere",
        Provider::Mcp => "MCP tools/list",
        Provider::LangChain => "LangChain bind_tools",
    }
}

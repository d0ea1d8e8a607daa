//! OpenAI Responses: flat functions, namespaces and search for tools (docs/reference/formats.md).

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::chat_completions::COMMON;
use super::format::{
    BoundFunction, BoundFunctions, Calls, Extent, Format, JSON_SCHEMA, Native, RawCall, flag, is, object,
    objects, take_list, take_text, text, tool_list,
};
use super::payload::selection::TOOL_SEARCH;
use super::view::{self, SchemaRules, Strict};
use toolcrib_catalog::Tool;
use toolcrib_catalog::config::SearchBy;
use toolcrib_definition::slug;

/// OpenAI Responses.
pub(super) const RESPONSES: Format = Format {
    title: "OpenAI responses",
    max_entries: Some(128),
    native: Native::Grouped,
    schema: SchemaRules { strict: Some(Strict::OpenAi), ..JSON_SCHEMA },
    function,
    body,
    calls,
    result: |result| {
        if result.search {
            let tools: Vec<&Value> = result.found.iter().map(|found| &found.definition).collect();
            let status = if result.is_error { "incomplete" } else { "completed" };
            return json!({
                "type": "tool_search_output", "call_id": result.call_id, "execution": "client", "status": status,
                "tools": tools
            });
        }
        json!({"type": "function_call_output", "call_id": result.call_id, "output": result.text()})
    },
    ..COMMON
};

/// The expected form of a response, for errors.
const EXPECTED: &str = "an object with the list `output`, or that list";

fn function(function: &BoundFunction<'_>) -> Value {
    let result = function.tool.output.as_ref().map(|schema| schema.value());
    let result = result.filter(|schema| schema.is_object() && function.extent == Extent::Full);
    object([
        ("type", text("function")),
        ("name", text(&function.name)),
        ("description", text(&function.description)),
        ("parameters", Some(function.schema.clone().unwrap_or_default())),
        // If `strict` is omitted, the API tries strict mode, and a strict stub takes no arguments at all.
        ("strict", Some(function.strict.into())),
        ("defer_loading", flag(function.deferred)),
        ("allowed_callers", function.callers(|caller| matches!(caller, "direct" | "programmatic"))),
        ("output_schema", result.map(view::cleaned)),
    ])
}

fn body(bound: &BoundFunctions<'_>) -> Value {
    let is_search =
        |function: &&BoundFunction<'_>| function.ours && function.tool.names.canonical == TOOL_SEARCH;
    let mut tools = Vec::new();
    match (bound.search, bound.functions.iter().find(is_search)) {
        (Some(SearchBy::Client), Some(ours)) => tools.push(json!({
            "type": "tool_search", "execution": "client", "description": ours.description, "parameters": ours.schema
        })),
        (Some(_), _) => tools.push(json!({"type": "tool_search"})),
        (None, _) => {}
    }
    let rest = bound.functions.iter().filter(|function| bound.search.is_none() || !is_search(function));
    let (deferred, whole): (Vec<_>, Vec<_>) = rest.clone().partition(|function| function.deferred);
    let room = bound.max_entries.unwrap_or(usize::MAX).saturating_sub(tools.len() + whole.len());
    let taken = bound.functions.iter().map(|function| function.name.as_str());
    // Each namespace stands at the place of its first function, so that one more function only adds to the end.
    let mut namespaces = namespaces(&deferred, room, taken).into_iter().peekable();
    for bound in rest {
        let opens = |namespace: &Namespace<'_>| {
            namespace.functions.first().is_some_and(|first| first.name == bound.name)
        };
        if !bound.deferred {
            tools.push(function(bound));
        } else if let Some(Namespace { name, description, functions }) = namespaces.next_if(opens) {
            let functions: Vec<Value> = functions.into_iter().map(function).collect();
            tools.push(object([
                ("type", text("namespace")),
                ("name", text(&name)),
                ("description", text(&description)),
                ("tools", Some(functions.into())),
            ]));
        }
    }
    tool_list(tools)
}

fn calls(response: Value) -> Calls {
    let is_item = |item: &Value| item.get("type").is_some_and(Value::is_string);
    let items = match response {
        Value::Object(mut fields) => take_list(&mut fields, "output").ok_or(EXPECTED)?,
        Value::Array(items) if items.iter().all(is_item) => items,
        _ => return Err(EXPECTED),
    };
    let call = |mut item: Map<String, Value>| {
        let search = is(&item, "type", "tool_search_call") && is(&item, "execution", "client");
        if !search && !is(&item, "type", "function_call") {
            return None;
        }
        let call = RawCall::of(&mut item, "call_id", "name", "arguments");
        Some(if search {
            RawCall { name: Some(TOOL_SEARCH.into()), search, ..call }
        } else {
            RawCall { namespace: take_text(&mut item, "namespace"), ..call }
        })
    };
    Ok(objects(items).filter_map(call).collect())
}

/// Some functions of one category, under their own name.
#[derive(Debug)]
struct Namespace<'a> {
    /// Differs from the name of every function.
    name: String,
    /// The category, and the names of its functions.
    description: String,
    /// Its functions, in catalog order.
    functions: Vec<&'a BoundFunction<'a>>,
}

/// Most functions of a namespace: the provider advises fewer than ten (docs/reference/formats.md).
const NAMESPACE_SIZE: usize = 9;
/// Most functions named in the description of a namespace.
const NAMED: usize = 12;

/// Functions in at most `room` namespaces: by category, else by top category, else in catalog order; twice as large
/// only when there is no room for small ones. One more function adds to the end of a namespace, or adds one
/// namespace, while there is room.
fn namespaces<'a>(
    functions: &[&'a BoundFunction<'a>],
    room: usize,
    taken: impl Iterator<Item = &'a str>,
) -> Vec<Namespace<'a>> {
    let keys: [fn(&Tool) -> &str; 3] = [Tool::category, Tool::root_category, |_| "Tools"];
    let sizes = std::iter::successors(Some(NAMESPACE_SIZE), |size| Some(size * 2));
    let layouts = sizes.flat_map(|size| keys.map(|key| (key, size)));
    // The sizes grow until one namespace holds all functions.
    let fitting =
        layouts.map(|(key, size)| chunked(functions, key, size)).find(|chunks| chunks.len() <= room.max(1));
    let chunks = fitting.unwrap_or_default();
    let mut taken: HashSet<String> = taken.map(str::to_lowercase).collect();
    chunks.into_iter().map(|(category, functions)| named(category, functions, &mut taken)).collect()
}

fn chunked<'a>(
    functions: &[&'a BoundFunction<'a>],
    key: fn(&Tool) -> &str,
    size: usize,
) -> Vec<(&'a str, Vec<&'a BoundFunction<'a>>)> {
    let mut chunks: Vec<(&str, Vec<&BoundFunction<'_>>)> = Vec::new();
    let mut open: HashMap<&str, usize> = HashMap::new();
    for &function in functions {
        let category = key(function.tool);
        match open.get(&category).map(|&index| &mut chunks[index].1) {
            Some(chunk) if chunk.len() < size => chunk.push(function),
            _ => {
                open.insert(category, chunks.len());
                chunks.push((category, vec![function]));
            }
        }
    }
    chunks
}

fn named<'a>(
    category: &str,
    functions: Vec<&'a BoundFunction<'a>>,
    taken: &mut HashSet<String>,
) -> Namespace<'a> {
    let base: String = slug(category).replace('-', "_").chars().filter(char::is_ascii).take(48).collect();
    let base = base.trim_matches('_');
    let starts_well = base.starts_with(|c: char| c.is_ascii_alphabetic());
    let base = if starts_well {
        base.to_string()
    } else {
        format!("tools_{base}").trim_end_matches('_').to_string()
    };
    let numbered = |number: usize| if number < 2 { base.clone() } else { format!("{base}_{number}") };
    let name = (1..).map(numbered).find(|name| taken.insert(name.clone())).unwrap_or_default();
    let names: Vec<&str> = functions.iter().take(NAMED).map(|function| function.name.as_str()).collect();
    let more = if functions.len() > NAMED { ", …" } else { "" };
    Namespace { name, description: format!("{category}: {}{more}", names.join(", ")), functions }
}

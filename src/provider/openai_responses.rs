//! OpenAI Responses: flat functions, namespaces and search for tools (docs/reference/wires.md).

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::bound_function::{BoundFunction, BoundFunctions, Extent};
use super::fields::{object, objects, take_list, take_text};
use super::mode::TOOL_SEARCH;
use super::raw_call::{Calls, RawCall};
use super::results::ToolResult;
use super::rules::{Cache, JSON_SCHEMA, NameRule, Native, Rules, Stub};
use super::view::{self, SchemaRules, Strict};
use super::wire::{Wire, tool_list};
use crate::catalog::Tool;
use crate::config::SearchBy;
use crate::tool::slug;

/// The wire.
pub(super) struct OpenAiResponses;

/// The expected form of a response, for errors.
const EXPECTED: &str = "an object with the list `output`, or that list";

const RULES: Rules = Rules {
    names: NameRule::Safe,
    max_entries: Some(128),
    native: Native::Grouped,
    cache: Cache::Never,
    schema: SchemaRules { strict: Some(Strict::OpenAi), ..JSON_SCHEMA },
    stub: Stub::Empty,
};

impl Wire for OpenAiResponses {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn function(&self, function: &BoundFunction<'_>) -> Value {
        let schema = function.schema.clone().unwrap_or(Value::Null);
        let mut fields = Map::new();
        fields.insert("type".into(), "function".into());
        fields.insert("name".into(), function.name.as_str().into());
        fields.insert("description".into(), function.description.as_str().into());
        fields.insert("parameters".into(), schema);
        // If `strict` is omitted, the API tries strict mode, and a strict stub takes no arguments at all.
        fields.insert("strict".into(), function.strict.into());
        if function.deferred {
            fields.insert("defer_loading".into(), true.into());
        }
        let callers = function.callers(|caller| matches!(caller, "direct" | "programmatic"));
        if !callers.is_empty() {
            fields.insert("allowed_callers".into(), callers.into());
        }
        let result = function.tool.definition.result_schema.as_ref().map(|schema| schema.value());
        if let Some(schema) = result.filter(|schema| schema.is_object() && function.extent == Extent::Full) {
            fields.insert("output_schema".into(), view::cleaned(schema));
        }
        Value::Object(fields)
    }

    fn body(&self, bound: &BoundFunctions<'_>) -> Value {
        let is_search = |function: &&BoundFunction<'_>| function.ours && function.tool.name == TOOL_SEARCH;
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
        let namespaces = namespaces(&deferred, room, taken);
        let mut opened = namespaces.iter().peekable();
        for function in rest {
            let opens = |namespace: &&Namespace<'_>| {
                namespace.functions.first().is_some_and(|first| first.name == function.name)
            };
            if !function.deferred {
                tools.push(self.function(function));
            } else if let Some(namespace) = opened.next_if(opens) {
                tools.push(self.namespace(namespace));
            }
        }
        tool_list(tools)
    }

    fn calls(&self, response: Value) -> Calls {
        let items = match response {
            Value::Object(mut fields) => take_list(&mut fields, "output").ok_or(EXPECTED)?,
            Value::Array(items)
                if items.iter().all(|item| item.get("type").is_some_and(Value::is_string)) =>
            {
                items
            }
            _ => return Err(EXPECTED),
        };
        let call = |mut item: Map<String, Value>| match item.get("type").and_then(Value::as_str) {
            Some("function_call") => {
                let call = RawCall::of(&mut item, "call_id", "name", "arguments");
                Some(RawCall { namespace: take_text(&mut item, "namespace"), ..call })
            }
            Some("tool_search_call") if item.get("execution").is_some_and(|by| by == "client") => {
                let call = RawCall::of(&mut item, "call_id", "name", "arguments");
                Some(RawCall { name: Some(TOOL_SEARCH.into()), search: true, ..call })
            }
            _ => None,
        };
        Ok(objects(items).filter_map(call).collect())
    }

    fn result_messages(&self, results: &[ToolResult]) -> Value {
        let item = |tool_result: &ToolResult| {
            if tool_result.search {
                let tools: Vec<&Value> = tool_result.found.iter().map(|found| &found.definition).collect();
                let status = if tool_result.is_error { "incomplete" } else { "completed" };
                return json!({
                    "type": "tool_search_output", "call_id": tool_result.call_id, "execution": "client", "status": status,
                    "tools": tools
                });
            }
            json!({"type": "function_call_output", "call_id": tool_result.call_id, "output": tool_result.text()})
        };
        results.iter().map(item).collect()
    }
}

impl OpenAiResponses {
    fn namespace(&self, namespace: &Namespace<'_>) -> Value {
        let functions: Vec<Value> =
            namespace.functions.iter().map(|function| self.function(function)).collect();
        object([
            ("type", "namespace".into()),
            ("name", namespace.name.as_str().into()),
            ("description", namespace.description.as_str().into()),
            ("tools", functions.into()),
        ])
    }
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

/// Most functions of a namespace: the provider advises fewer than ten (docs/reference/wires.md).
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

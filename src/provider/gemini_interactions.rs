//! Gemini Interactions: short descriptions and deferral (docs/reference/wires.md, Gemini).

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::bound_function::{BoundFunction, BoundFunctions};
use super::fields::{objects, take_list, take_text};
use super::gemini::KEYWORDS;
use super::mode::TOOL_SEARCH;
use super::raw_call::{Calls, RawCall};
use super::results::ToolResult;
use super::rules::{Cache, JSON_SCHEMA, NameRule, Native, Rules, Stub};
use super::view::SchemaRules;
use super::wire::{Wire, tool_list};
use crate::config::SearchBy;

/// The wire.
pub(super) struct GeminiInteractions;

/// The expected form of a response, for errors.
const EXPECTED: &str = "an object with the list `outputs` or `steps`";

const RULES: Rules = Rules {
    names: NameRule::Safe,
    max_entries: Some(512),
    native: Native::Single,
    cache: Cache::Never,
    schema: SchemaRules { keywords: KEYWORDS, omit_empty: true, ..JSON_SCHEMA },
    stub: Stub::Args,
};

impl Wire for GeminiInteractions {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn function(&self, function: &BoundFunction<'_>) -> Value {
        let mut fields = Map::new();
        fields.insert("type".into(), "function".into());
        fields.insert("name".into(), function.name.as_str().into());
        fields.insert("description".into(), function.description.as_str().into());
        if function.deferred {
            fields.insert("short_description".into(), function.tool.short.as_str().into());
        }
        if let Some(schema) = &function.schema {
            fields.insert("parameters".into(), schema.clone());
        }
        if function.deferred {
            fields.insert("defer_loading".into(), true.into());
        }
        Value::Object(fields)
    }

    fn body(&self, bound: &BoundFunctions<'_>) -> Value {
        let is_search = |function: &BoundFunction<'_>| function.ours && function.tool.name == TOOL_SEARCH;
        let mut tools = Vec::new();
        match (bound.search, bound.functions.iter().find(|function| is_search(function))) {
            (Some(SearchBy::Client), Some(ours)) => tools.push(json!({
                "type": "tool_search", "execution": "client", "name": ours.name, "description": ours.description,
                "parameters": ours.schema
            })),
            (Some(_), _) => tools.push(json!({"type": "tool_search", "execution": "server"})),
            (None, _) => {}
        }
        let rest = bound.functions.iter().filter(|function| bound.search.is_none() || !is_search(function));
        tools.extend(rest.map(|function| self.function(function)));
        tool_list(tools)
    }

    fn calls(&self, response: Value) -> Calls {
        let Value::Object(mut fields) = response else { return Err(EXPECTED) };
        let lists = ["outputs", "steps"];
        let items = lists.into_iter().find_map(|key| take_list(&mut fields, key)).ok_or(EXPECTED)?;
        let answered: HashSet<String> = items.iter().filter_map(answered_search).collect();
        let call = |mut item: Map<String, Value>| match item.get("type").and_then(Value::as_str) {
            Some("function_call") => {
                let call = RawCall::of(&mut item, "id", "name", "arguments");
                let signature =
                    take_text(&mut item, "signature").or_else(|| take_text(&mut item, "thought_signature"));
                Some(RawCall { signature, ..call })
            }
            Some("tool_search_call") if is_for_client(&item) => {
                let call = RawCall::of(&mut item, "id", "name", "arguments");
                let is_open = call.call_id.as_ref().is_none_or(|id| !answered.contains(id));
                is_open.then(|| RawCall { name: Some(TOOL_SEARCH.into()), search: true, ..call })
            }
            _ => None,
        };
        Ok(objects(items).filter_map(call).collect())
    }

    fn result_messages(&self, results: &[ToolResult]) -> Value {
        let step = |tool_result: &ToolResult| {
            if tool_result.search && !tool_result.is_error {
                let tools: Vec<&Value> = tool_result.found.iter().map(|found| &found.definition).collect();
                return json!({"type": "tool_search_result", "call_id": tool_result.call_id, "result": tools});
            }
            json!({
                "type": "function_result", "call_id": tool_result.call_id, "name": tool_result.name, "result": tool_result.text(),
                "is_error": tool_result.is_error
            })
        };
        results.iter().map(step).collect()
    }
}

/// The search that an item answers: the server has run it.
fn answered_search(item: &Value) -> Option<String> {
    let is_result = item.get("type").is_some_and(|kind| kind == "tool_search_result");
    item.get("call_id").and_then(Value::as_str).filter(|_| is_result).map(str::to_string)
}

/// Whether we have to answer a search: the server's own name functions instead of a query.
fn is_for_client(item: &Map<String, Value>) -> bool {
    match item.get("execution").and_then(Value::as_str) {
        Some(by) => by == "client",
        None => item.get("arguments").is_none_or(|arguments| arguments.get("function_names").is_none()),
    }
}

//! Anthropic Messages: deferral by search and reference, cache marks (docs/reference/wires.md).

use serde_json::{Map, Value, json};

use super::bound_function::{BoundFunction, BoundFunctions};
use super::fields::{objects, take_list};
use super::headers::RequestHeader;
use super::raw_call::{Calls, RawCall};
use super::results::ToolResult;
use super::rules::{Cache, JSON_SCHEMA, NameRule, Native, Rules, Stub};
use super::view::{Keys, SchemaRules, Strict};
use super::wire::{Wire, tool_list};
use crate::config::SearchBy;

/// The wire.
pub(super) struct Anthropic;

/// The expected form of a response, for errors.
const EXPECTED: &str = "a message whose `content` is a list of blocks, or a list of messages";

/// The beta of deferred tools, examples and calls by code: `_TOOL_TYPE_TO_BETA` of langchain-anthropic 1.7.7, and
/// <https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool>. Strict tools, cache marks and
/// `eager_input_streaming` need none since they are generally available.
const ADVANCED_TOOL_USE: &str = "advanced-tool-use-2025-11-20";
/// The prefix of callers that run code in the provider's sandbox.
const CODE_CALLERS: &str = "code_execution_";

const RULES: Rules = Rules {
    names: NameRule::Safe,
    max_entries: Some(10_000),
    native: Native::Single,
    cache: Cache::OnByDefault,
    schema: SchemaRules { keys: Keys::Portable, strict: Some(Strict::Anthropic), ..JSON_SCHEMA },
    stub: Stub::Bare,
};

impl Wire for Anthropic {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn own_search(&self, by: SearchBy) -> Option<&'static str> {
        match by {
            SearchBy::Provider => Some("tool_search_tool_bm25"),
            SearchBy::Regex => Some("tool_search_tool_regex"),
            SearchBy::Client => None,
        }
    }

    /// Examples and tool search exclude each other.
    fn takes_examples(&self, defers: bool) -> bool {
        !defers
    }

    fn function(&self, function: &BoundFunction<'_>) -> Value {
        let mut fields = Map::new();
        fields.insert("name".into(), function.name.as_str().into());
        fields.insert("description".into(), function.description.as_str().into());
        fields.insert(
            "input_schema".into(),
            function.schema.clone().unwrap_or_else(|| json!({"type": "object"})),
        );
        if function.strict {
            fields.insert("strict".into(), true.into());
        }
        if function.deferred {
            fields.insert("defer_loading".into(), true.into());
        }
        if !function.examples.is_empty() {
            fields.insert("input_examples".into(), function.examples.clone().into());
        }
        let callers = function.callers(|caller| caller == "direct" || caller.starts_with(CODE_CALLERS));
        if !callers.is_empty() {
            fields.insert("allowed_callers".into(), callers.into());
        }
        Value::Object(fields)
    }

    fn body(&self, bound: &BoundFunctions<'_>) -> Value {
        let mut tools = Vec::new();
        if let Some(name) = bound.search.and_then(|by| self.own_search(by)) {
            tools.push(json!({"type": format!("{name}_20251119"), "name": name}));
        }
        tools.extend(bound.functions.iter().map(|function| self.function(function)));
        if bound.cache {
            // Anthropic refuses the mark on a deferred tool, which is not in the cached prefix anyway.
            let in_prefix = |tool: &&mut Value| tool.get("defer_loading").is_none();
            if let Some(Value::Object(last)) = tools.iter_mut().rev().find(in_prefix) {
                last.insert("cache_control".into(), json!({"type": "ephemeral"}));
            }
        }
        tool_list(tools)
    }

    fn headers(&self, bound: &BoundFunctions<'_>) -> Option<RequestHeader> {
        let any = |is_it: fn(&BoundFunction<'_>) -> bool| bound.functions.iter().any(is_it);
        let runs_code = |function: &BoundFunction<'_>| {
            !function.callers(|caller| caller.starts_with(CODE_CALLERS)).is_empty()
        };
        let reasons = [
            ("defer_loading", any(|function| function.deferred)),
            ("input_examples", any(|function| !function.examples.is_empty())),
            ("allowed_callers", any(runs_code)),
        ];
        RequestHeader::needed("anthropic-beta", ADVANCED_TOOL_USE, &reasons)
    }

    fn calls(&self, response: Value) -> Calls {
        let is_block = |block: &Value| block.get("type").is_some_and(Value::is_string);
        let content = |message: Value| match message {
            Value::Object(mut fields) if !fields.contains_key("tool_calls") => match fields.get("content") {
                Some(Value::Array(blocks)) if blocks.iter().all(is_block) => {
                    take_list(&mut fields, "content")
                }
                Some(Value::String(_)) if fields.contains_key("role") => Some(Vec::new()),
                _ => None,
            },
            _ => None,
        };
        let messages = match response {
            Value::Array(messages) => messages,
            message => vec![message],
        };
        let blocks: Option<Vec<Vec<Value>>> = messages.into_iter().map(content).collect();
        // Blocks of calls that the server runs itself have other types: `server_tool_use`, `mcp_tool_use`.
        let is_ours = |block: &Map<String, Value>| block.get("type").is_some_and(|kind| kind == "tool_use");
        let calls = objects(blocks.ok_or(EXPECTED)?.into_iter().flatten().collect()).filter(is_ours);
        Ok(calls.map(|mut block| RawCall::of(&mut block, "id", "name", "input")).collect())
    }

    fn result_messages(&self, results: &[ToolResult]) -> Value {
        let block = |tool_result: &ToolResult| {
            let mut fields = Map::new();
            fields.insert("type".into(), "tool_result".into());
            fields.insert("tool_use_id".into(), json!(tool_result.call_id));
            let references = || {
                tool_result
                    .found
                    .iter()
                    .map(|found| json!({"type": "tool_reference", "tool_name": found.name}))
            };
            // A list without references is refused; the result says as text that no tool was found.
            let content = if tool_result.found.is_empty() || tool_result.is_error {
                tool_result.text().into()
            } else {
                references().collect()
            };
            fields.insert("content".into(), content);
            if tool_result.is_error {
                fields.insert("is_error".into(), true.into());
            }
            Value::Object(fields)
        };
        json!({"role": "user", "content": results.iter().map(block).collect::<Vec<Value>>()})
    }
}

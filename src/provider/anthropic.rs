//! Anthropic messages: deferral by search and reference, marks for the cache (formats.md, section 4).

use serde_json::{Map, Value, json};

use super::call::RawCall;
use super::chat;
use super::function::Function;
use super::names::NameRule;
use super::reply::Reply;
use super::view::{Keys, Root, SchemaRules, Strict};
use super::wire::{Bound, Cache, Rules, Stub, Wire};
use crate::config::SearchBy;

/// The wire.
pub(super) struct Anthropic;

const RULES: Rules = Rules {
    names: NameRule::Safe,
    max_entries: Some(10_000),
    native: true,
    cache: Cache::OnByDefault,
    schema: SchemaRules {
        inline: false,
        root: Root::Properties,
        keywords: &[],
        words: false,
        keys: Keys::Portable,
        omit_empty: false,
        strict: Some(Strict::Anthropic),
        max_strict: 20,
    },
    stub: Stub::Bare,
};

impl Wire for Anthropic {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn function(&self, function: &Function<'_>) -> Value {
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
        Value::Object(fields)
    }

    fn body(&self, bound: &Bound<'_>) -> Value {
        let mut tools = Vec::new();
        if bound.search == Some(SearchBy::Provider) {
            tools.push(json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}));
        }
        tools.extend(bound.functions.iter().map(|function| self.function(function)));
        if bound.cache {
            // On a deferred tool the mark is refused; what is deferred is not in the prefix anyway.
            let in_prefix = |tool: &&mut Value| tool.get("defer_loading").is_none();
            if let Some(Value::Object(last)) = tools.iter_mut().rev().find(in_prefix) {
                last.insert("cache_control".into(), json!({"type": "ephemeral"}));
            }
        }
        chat::tools(tools)
    }

    fn calls(&self, response: Value) -> Vec<RawCall> {
        chat::calls(response)
    }

    fn replies(&self, replies: &[Reply]) -> Value {
        chat::replies(replies)
    }
}

//! MCP: the tools of a `tools/list` result (formats.md, section 10).

use serde_json::{Map, Value, json};

use super::call::RawCall;
use super::chat;
use super::function::{Extent, Function};
use super::names::NameRule;
use super::reply::Reply;
use super::view::{Keys, Root, SchemaRules};
use super::wire::{Bound, Cache, Rules, Stub, Wire};
use crate::tool::Effect;

/// The wire.
pub(super) struct Mcp;

const RULES: Rules = Rules {
    names: NameRule::Mcp,
    max_entries: None,
    native: false,
    cache: Cache::Never,
    schema: SchemaRules {
        inline: false,
        root: Root::Object,
        keywords: &[],
        words: false,
        keys: Keys::Any,
        omit_empty: false,
        strict: None,
        max_strict: 0,
    },
    stub: Stub::Bare,
};

impl Wire for Mcp {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn function(&self, function: &Function<'_>) -> Value {
        let definition = &function.tool.definition;
        let mut fields = Map::new();
        fields.insert("name".into(), function.name.as_str().into());
        if let Some(title) = definition.title.as_ref().filter(|_| function.extent == Extent::Full) {
            fields.insert("title".into(), title.as_str().into());
        }
        fields.insert("description".into(), function.description.as_str().into());
        fields.insert(
            "inputSchema".into(),
            function.schema.clone().unwrap_or_else(|| json!({"type": "object"})),
        );
        // Before revision 2026-07-28 a result is an object.
        let result = definition.result_schema.as_ref().map(|schema| schema.value());
        let is_object = |schema: &&Value| schema.get("type").is_some_and(|word| word == "object");
        if let Some(schema) = result.filter(is_object).filter(|_| function.extent == Extent::Full) {
            fields.insert("outputSchema".into(), schema.clone());
        }
        // What is left out has these defaults: not read-only, destructive.
        match function.tool.effect {
            Effect::Read => fields.insert("annotations".into(), json!({"readOnlyHint": true})),
            Effect::Write => fields.insert("annotations".into(), json!({"destructiveHint": false})),
            Effect::Destructive => None,
        };
        Value::Object(fields)
    }

    fn body(&self, bound: &Bound<'_>) -> Value {
        let tools: Vec<Value> = bound.functions.iter().map(|function| self.function(function)).collect();
        json!({"tools": tools})
    }

    fn calls(&self, response: Value) -> Vec<RawCall> {
        chat::calls(response)
    }

    fn replies(&self, replies: &[Reply]) -> Value {
        chat::replies(replies)
    }
}

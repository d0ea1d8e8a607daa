//! Amazon Bedrock converse (formats.md, section 6).

use serde_json::{Map, Value, json};

use super::call::RawCall;
use super::chat;
use super::function::Function;
use super::names::NameRule;
use super::reply::Reply;
use super::view::{Keys, Root, SchemaRules, Strict};
use super::wire::{Bound, Cache, Rules, Stub, Wire};

/// The wire.
pub(super) struct Bedrock;

const RULES: Rules = Rules {
    names: NameRule::Safe,
    max_entries: None,
    native: false,
    cache: Cache::OffByDefault,
    schema: SchemaRules {
        inline: true,
        root: Root::Bare,
        keywords: &[],
        words: false,
        keys: Keys::Portable,
        omit_empty: false,
        strict: Some(Strict::Anthropic),
        max_strict: 20,
    },
    stub: Stub::Empty,
};

impl Wire for Bedrock {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn function(&self, function: &Function<'_>) -> Value {
        let mut spec = Map::new();
        spec.insert("name".into(), function.name.as_str().into());
        spec.insert("description".into(), function.description.as_str().into());
        spec.insert("inputSchema".into(), json!({"json": function.schema}));
        if function.strict {
            spec.insert("strict".into(), true.into());
        }
        json!({"toolSpec": spec})
    }

    fn body(&self, bound: &Bound<'_>) -> Value {
        let mut tools: Vec<Value> = bound.functions.iter().map(|function| self.function(function)).collect();
        if tools.is_empty() {
            return json!({});
        }
        if bound.cache {
            tools.push(json!({"cachePoint": {"type": "default"}}));
        }
        json!({"toolConfig": {"tools": tools}})
    }

    fn calls(&self, response: Value) -> Vec<RawCall> {
        chat::calls(response)
    }

    fn replies(&self, replies: &[Reply]) -> Value {
        chat::replies(replies)
    }
}

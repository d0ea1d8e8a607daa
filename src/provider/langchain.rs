//! LangChain: the list of dicts that `bind_tools` takes (formats.md, section 11).

use serde_json::Value;

use super::call::RawCall;
use super::chat;
use super::function::Function;
use super::names::NameRule;
use super::reply::Reply;
use super::view::{Keys, Root, SchemaRules, Strict};
use super::wire::{Bound, Cache, Rules, Stub, Wire};

/// The wire.
pub(super) struct LangChain;

const RULES: Rules = Rules {
    names: NameRule::Safe,
    max_entries: Some(128),
    native: false,
    cache: Cache::Never,
    schema: SchemaRules {
        inline: false,
        root: Root::Properties,
        keywords: &[],
        words: false,
        keys: Keys::Portable,
        omit_empty: false,
        strict: Some(Strict::OpenAi),
        max_strict: usize::MAX,
    },
    stub: Stub::Empty,
};

impl Wire for LangChain {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn function(&self, function: &Function<'_>) -> Value {
        chat::function(function)
    }

    fn body(&self, bound: &Bound<'_>) -> Value {
        Value::Array(bound.functions.iter().map(|function| self.function(function)).collect())
    }

    fn entries(&self, body: &Value) -> usize {
        body.as_array().map_or(0, Vec::len)
    }

    fn calls(&self, response: Value) -> Vec<RawCall> {
        chat::calls(response)
    }

    fn replies(&self, replies: &[Reply]) -> Value {
        chat::replies(replies)
    }
}

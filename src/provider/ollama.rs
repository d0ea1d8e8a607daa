//! Ollama: OpenAI's shape, few keywords, arguments as objects (formats.md, section 7).

use serde_json::Value;

use super::call::RawCall;
use super::chat;
use super::function::Function;
use super::names::NameRule;
use super::reply::Reply;
use super::view::{Keys, Root, SchemaRules};
use super::wire::{Bound, Cache, Rules, Stub, Wire};

/// The wire.
pub(super) struct Ollama;

const RULES: Rules = Rules {
    names: NameRule::Safe,
    max_entries: None,
    native: false,
    cache: Cache::Never,
    schema: SchemaRules {
        inline: true,
        root: Root::Bare,
        keywords: &["type", "anyOf", "items", "description", "enum", "properties", "required"],
        words: true,
        keys: Keys::Any,
        omit_empty: false,
        strict: None,
        max_strict: 0,
    },
    stub: Stub::Empty,
};

impl Wire for Ollama {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn function(&self, function: &Function<'_>) -> Value {
        chat::function(function)
    }

    fn body(&self, bound: &Bound<'_>) -> Value {
        chat::tools(bound.functions.iter().map(|function| self.function(function)).collect())
    }

    fn calls(&self, response: Value) -> Vec<RawCall> {
        chat::calls(response)
    }

    fn replies(&self, replies: &[Reply]) -> Value {
        chat::replies(replies)
    }
}

//! Ollama: OpenAI's shape, few keywords, arguments as objects (formats.md, section 7).

use serde_json::{Value, json};

use super::call::Calls;
use super::chat::{self, Held};
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

    fn calls(&self, response: Value) -> Calls {
        chat::calls(response, Held::Message)
    }

    fn replies(&self, replies: &[Reply]) -> Value {
        let message =
            |reply: &Reply| json!({"role": "tool", "tool_name": reply.name, "content": reply.text()});
        replies.iter().map(message).collect()
    }
}

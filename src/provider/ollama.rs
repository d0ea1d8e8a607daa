//! Ollama: OpenAI's shape, few keywords, arguments as objects (formats.md, section 7).

use serde_json::{Value, json};

use super::call::Calls;
use super::chat::{self, Held};
use super::names::NameRule;
use super::reply::Reply;
use super::view::{Root, SchemaRules};
use super::wire::{Cache, JSON_SCHEMA, Native, Rules, Stub, Wire};

/// The wire.
pub(super) struct Ollama;

const RULES: Rules = Rules {
    names: NameRule::Safe,
    max_entries: None,
    native: Native::No,
    cache: Cache::Never,
    schema: SchemaRules {
        inline: true,
        root: Root::Bare,
        keywords: &["type", "anyOf", "items", "description", "enum", "properties", "required"],
        ..JSON_SCHEMA
    },
    stub: Stub::Empty,
};

impl Wire for Ollama {
    fn rules(&self) -> &'static Rules {
        &RULES
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

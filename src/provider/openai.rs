//! OpenAI chat completions, and what is compatible with them (formats.md, section 2).

use serde_json::Value;

use super::call::Calls;
use super::chat::{self, Held};
use super::function::Function;
use super::names::NameRule;
use super::reply::Reply;
use super::view::{Keys, Root, SchemaRules, Strict};
use super::wire::{Bound, Cache, Rules, Stub, Wire};

/// The wire.
pub(super) struct OpenAi;

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
        keys: Keys::Any,
        omit_empty: false,
        strict: Some(Strict::OpenAi),
    },
    stub: Stub::Empty,
};

impl Wire for OpenAi {
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
        chat::calls(response, Held::Choices)
    }

    fn replies(&self, replies: &[Reply]) -> Value {
        chat::replies(replies)
    }
}

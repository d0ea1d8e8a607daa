//! Cohere Chat, version 2: OpenAI's form; strict mode is a field of the request (docs/reference/wires.md).

use serde_json::Value;

use super::call::Calls;
use super::chat_completions::{self, ResponseShape};
use super::names::NameRule;
use super::results::ToolResult;

use super::wire::{Cache, JSON_SCHEMA, Native, Rules, Stub, Wire};

/// The wire.
pub(super) struct Cohere;

const RULES: Rules = Rules {
    names: NameRule::Underscores,
    max_entries: None,
    native: Native::No,
    cache: Cache::Never,
    schema: JSON_SCHEMA,
    stub: Stub::Empty,
};

impl Wire for Cohere {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn calls(&self, response: Value) -> Calls {
        chat_completions::calls(response, ResponseShape::Message)
    }

    fn result_messages(&self, results: &[ToolResult]) -> Value {
        chat_completions::results(results)
    }
}

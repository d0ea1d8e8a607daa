//! Cohere Chat, version 2: OpenAI's form; strict mode is a field of the request (docs/reference/wires.md).

use serde_json::Value;

use super::chat_completions::{self, ResponseShape};
use super::raw_call::Calls;
use super::results::ToolResult;
use super::rules::{Cache, JSON_SCHEMA, NameRule, Native, Rules, Stub};

use super::wire::Wire;

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

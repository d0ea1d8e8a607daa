//! OpenAI Chat Completions, and compatible APIs (docs/reference/wires.md).

use serde_json::Value;

use super::chat_completions::{self, ResponseShape};
use super::raw_call::Calls;
use super::results::ToolResult;
use super::rules::{Cache, JSON_SCHEMA, NameRule, Native, Rules, Stub};
use super::view::{SchemaRules, Strict};
use super::wire::Wire;

/// The wire.
pub(super) struct OpenAi;

const RULES: Rules = Rules {
    names: NameRule::Safe,
    max_entries: Some(128),
    native: Native::No,
    cache: Cache::Never,
    schema: SchemaRules { strict: Some(Strict::OpenAi), ..JSON_SCHEMA },
    stub: Stub::Empty,
};

impl Wire for OpenAi {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn calls(&self, response: Value) -> Calls {
        chat_completions::calls(response, ResponseShape::Choices)
    }

    fn result_messages(&self, results: &[ToolResult]) -> Value {
        chat_completions::results(results)
    }
}

//! Ollama: OpenAI's form, few keywords, arguments as objects (docs/reference/wires.md).

use serde_json::{Value, json};

use super::chat_completions::{self, ResponseShape};
use super::raw_call::Calls;
use super::results::ToolResult;
use super::rules::{Cache, JSON_SCHEMA, NameRule, Native, Rules, Stub};
use super::view::{Root, SchemaRules};
use super::wire::Wire;

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
        chat_completions::calls(response, ResponseShape::Message)
    }

    fn result_messages(&self, results: &[ToolResult]) -> Value {
        let message = |tool_result: &ToolResult| json!({"role": "tool", "tool_name": tool_result.name, "content": tool_result.text()});
        results.iter().map(message).collect()
    }
}

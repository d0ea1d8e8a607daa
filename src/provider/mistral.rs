//! Mistral Chat Completions: OpenAI's form, unknown fields refused (docs/reference/wires.md).

use serde_json::{Map, Value};

use super::chat_completions::{self, ResponseShape};
use super::raw_call::Calls;
use super::results::ToolResult;
use super::rules::{Cache, JSON_SCHEMA, NameRule, Native, Rules, Stub};
use super::view::{SchemaRules, Strict};
use super::wire::Wire;

/// The wire.
pub(super) struct Mistral;

const RULES: Rules = Rules {
    names: NameRule::Safe,
    max_entries: None,
    native: Native::No,
    cache: Cache::Never,
    schema: SchemaRules { strict: Some(Strict::OpenAi), ..JSON_SCHEMA },
    stub: Stub::Empty,
};

impl Wire for Mistral {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn calls(&self, response: Value) -> Calls {
        let mut calls = chat_completions::calls(response, ResponseShape::Choices)?;
        for call in &mut calls {
            call.call_id = call.call_id.take().filter(|id| id != "null");
        }
        Ok(calls)
    }

    fn result_messages(&self, results: &[ToolResult]) -> Value {
        let message = |tool_result: &ToolResult| {
            let mut fields = Map::new();
            fields.insert("role".into(), "tool".into());
            if let Some(id) = &tool_result.call_id {
                fields.insert("tool_call_id".into(), short_id(id).into());
            }
            fields.insert("name".into(), tool_result.name.as_str().into());
            fields.insert("content".into(), tool_result.text().into());
            Value::Object(fields)
        };
        results.iter().map(message).collect()
    }
}

/// An id for replay: exactly 9 letters and digits (docs/reference/wires.md). An id of another provider is mapped,
/// always to the same one.
pub(super) fn short_id(id: &str) -> String {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return id.into();
    }
    let hash = blake3::hash(id.as_bytes());
    hash.as_bytes()
        .iter()
        .take(9)
        .map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]))
        .collect()
}

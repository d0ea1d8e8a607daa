//! Cohere Chat, version 2: OpenAI's form; strict mode is a field of the request (docs/reference/wires.md).

use serde_json::Value;

use super::assembly::Assembly;
use super::chat_completions::{self, ResponseShape};
use super::raw_call::Calls;
use super::raw_fields::RawFields;
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

    fn stream_event(&self, event: &RawFields, response: &mut Assembly) -> bool {
        let kind = event.text("type").unwrap_or_default();
        let index = event.raw("index").map_or("", |index| index.get());
        match kind.as_str() {
            "tool-call-start" | "tool-call-delta" => {
                let message = event.object_at(&["delta", "message"]).unwrap_or_default();
                let listed = message.objects("tool_calls").unwrap_or_default();
                for call in message.object("tool_calls").into_iter().chain(listed) {
                    chat_completions::stream_call(index, &call, response);
                }
            }
            "message-end" => response.end(),
            "message-start" | "content-start" | "content-delta" | "content-end" | "tool-plan-delta"
            | "tool-call-end" | "citation-start" | "citation-end" | "debug" => {}
            _ => return false,
        }
        true
    }

    fn stream_body(&self, response: &mut Assembly) -> String {
        format!(r#"{{"message":{}}}"#, chat_completions::stream_message(response))
    }

    fn result_messages(&self, results: &[ToolResult]) -> Value {
        chat_completions::results(results)
    }
}

//! Results out: the message that takes the results of one turn back to the model.

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::{Payload, Provider};
use crate::arguments::exactly;

/// The result of one call.
#[derive(Clone, Debug, Default)]
pub struct ToolResult {
    /// The provider's id of the call; `None` where the wire has no ids.
    pub call_id: Option<String>,
    /// The name that the provider knows the tool by.
    pub name: String,
    /// Whether the call was the provider's own kind of search for tools.
    pub search: bool,
    /// The result, or the error, for the model to read.
    pub content: Value,
    /// The same as JSON text, where a float would lose digits.
    pub exact: Option<String>,
    /// Whether it is an error.
    pub is_error: bool,
    /// Tools that the call has found, on wires that load them themselves.
    pub found: Vec<FoundTool>,
}

/// A deferred tool that a search has found.
#[derive(Clone, Debug)]
pub struct FoundTool {
    /// The name that the provider knows it by.
    pub name: String,
    /// Its definition, as the provider takes it.
    pub definition: Value,
}

impl ToolResult {
    /// A result: an envelope `{"ok", "result" | "error", ...}`, or a plain value.
    pub fn of(result: Value) -> Self {
        Self::read(&result.to_string()).unwrap_or_default()
    }

    /// The same from JSON text, with every digit kept.
    pub fn read(text: &str) -> serde_json::Result<Self> {
        let envelope: Option<HashMap<String, &RawValue>> = serde_json::from_str(text).ok();
        let is_envelope = |envelope: &HashMap<String, &RawValue>| {
            envelope.get("ok").is_some_and(|ok| matches!(ok.get(), "true" | "false"))
                && (envelope.contains_key("result") || envelope.contains_key("error"))
        };
        let (content, is_error) = match envelope.filter(is_envelope) {
            Some(envelope) => {
                let is_error = envelope.get("ok").is_some_and(|ok| ok.get() == "false");
                (
                    envelope.get(if is_error { "error" } else { "result" }).map_or("null", |raw| raw.get()),
                    is_error,
                )
            }
            None => (text, false),
        };
        let (content, exact) = exactly(content)?;
        Ok(Self { content, exact, is_error, ..Self::default() })
    }

    /// Adds the tools that the call has found, by canonical name; tools outside the payload are left out.
    pub fn with_found_tools(self, provider: Provider, payload: &Payload<'_>, names: &[String]) -> Self {
        let named = |name: &String| {
            payload.functions.iter().find(|function| function.tool.name == *name && !function.ours)
        };
        let found = names.iter().filter_map(named).map(|function| FoundTool {
            name: function.name.clone(),
            definition: payload.entry(provider, function),
        });
        Self { found: found.collect(), ..self }
    }

    /// The text for the model: a text as it is, any other value as JSON.
    pub(super) fn text(&self) -> String {
        match (&self.exact, &self.content) {
            (Some(exact), _) => exact.clone(),
            (None, Value::String(text)) => text.clone(),
            (None, value) => value.to_string(),
        }
    }
}

/// The results of one turn as the message, or messages, of a provider.
pub fn result_messages(provider: Provider, results: &[ToolResult]) -> Value {
    provider.wire().result_messages(results)
}

//! Results out: the message that takes the results of one turn back to the model, also from the list that `parse` prints.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::call::entry::{CallEntry, CallError};
use super::call::parser::Parser;
use super::format::{FoundTool, ToolResult};
use super::payload::error::PayloadError;
use super::payload::request::PayloadRequest;
use super::payload::{Payload, payload};
use super::provider::{ProviderFormat, format_of};
use toolcrib_catalog::arguments::exactly;
use toolcrib_catalog::config::{Mode, Provider};
use toolcrib_catalog::{Catalog, Profile};
use toolcrib_definition::document::well_formed;

impl ToolResult {
    /// A result: an envelope `{"ok", "result" | "error", ...}`, or a plain value.
    pub fn of(result: Value) -> Self {
        Self::read(&result.to_string()).unwrap_or_default()
    }

    /// The same from JSON text, with every digit kept.
    pub fn read(text: &str) -> serde_json::Result<Self> {
        Self::exactly(text).or_else(|error| Self::exactly(&well_formed(text)).map_err(|_| error))
    }

    fn exactly(text: &str) -> serde_json::Result<Self> {
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

    /// The result of a call, or the error of a call that never ran, which needs no result.
    pub fn to(parser: &Parser<'_>, entry: &CallEntry<'_>, result: Option<Value>) -> Self {
        let name = parser.emitted(entry.name.as_deref().unwrap_or_default()).into_owned();
        let told = Self::or_error(result, entry.outcome.as_ref().err());
        Self { call_id: entry.call_id.clone(), name, search: entry.search, ..told }
    }

    /// This result, or else the error of the call.
    pub fn or_error(result: Option<Value>, error: Option<&CallError>) -> Self {
        match (result, error) {
            (Some(result), _) => Self::of(result),
            (None, None) => Self::default(),
            (None, Some(error)) => {
                let content = serde_json::to_value(error).unwrap_or_default();
                Self { content, is_error: true, ..Self::default() }
            }
        }
    }

    /// Adds the tools that the call has found, by canonical name; tools outside the payload are left out.
    pub fn with_found_tools(self, provider: Provider, payload: &Payload<'_>, names: &[String]) -> Self {
        let named = |name: &String| {
            payload.functions.iter().find(|function| function.tool.names.canonical == *name && !function.ours)
        };
        let found = names.iter().filter_map(named).map(|function| FoundTool {
            name: function.name.clone(),
            definition: payload.entry(provider, function),
        });
        Self { found: found.collect(), ..self }
    }
}

/// The results of one turn as the message, or messages, of a provider.
pub fn result_messages(provider: Provider, results: &[ToolResult]) -> Value {
    let format = format_of(provider);
    (format.turn)(by_id(results).iter().map(format.result).collect())
}

/// One result for each id: calls that were packed into one share its id, and their results are a list with their names.
fn by_id(results: &[ToolResult]) -> Vec<ToolResult> {
    let mut grouped: IndexMap<(Option<&str>, usize), Vec<&ToolResult>> = IndexMap::new();
    for (index, result) in results.iter().enumerate() {
        let id = result.call_id.as_deref();
        grouped.entry((id, if id.is_some() { 0 } else { index })).or_default().push(result);
    }
    let one = |group: Vec<&ToolResult>| match group[..] {
        [only] => only.clone(),
        _ => {
            let part = |result: &&ToolResult| {
                let kind = if result.is_error { "error" } else { "result" };
                let content = result.exact.clone().unwrap_or_else(|| result.content.to_string());
                format!("{{\"name\":{},\"{kind}\":{content}}}", Value::from(result.name.as_str()))
            };
            let exact = format!("[{}]", group.iter().map(part).collect::<Vec<_>>().join(","));
            let content = serde_json::from_str(&exact).unwrap_or_default();
            let is_error = group.iter().all(|result| result.is_error);
            let found = group.iter().flat_map(|result| result.found.clone()).collect();
            let first = group.first().map(|first| ToolResult::clone(first)).unwrap_or_default();
            ToolResult { content, exact: Some(exact), is_error, found, ..first }
        }
    };
    grouped.into_values().map(one).collect()
}

/// Calls with their answers.
#[derive(Debug)]
pub struct AnsweredCalls<'t> {
    provider: Provider,
    entries: Vec<EntryWithResult<'t>>,
}

/// Reason why a list of calls has no messages.
#[derive(Debug, thiserror::Error)]
pub enum AnswersError {
    /// It is not the list.
    #[error("expected the list that `parse` prints: {0}")]
    Shape(#[from] serde_json::Error),
    /// A call has no answer.
    #[error("call {0} of the list has no `envelope`")]
    Unanswered(usize),
    /// There are no calls.
    #[error("the list is empty: there is nothing to reply to")]
    Empty,
    /// A call has no id, and the provider needs one.
    #[error("call {0} of the list has no `call_id`, and {1} needs it")]
    NoId(usize, &'static str),
}

/// An entry of `parse` with its answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EntryWithResult<'t> {
    name: Option<String>,
    call_id: Option<String>,
    search: bool,
    #[serde(borrow, deserialize_with = "present")]
    envelope: Option<&'t RawValue>,
    error: Option<Value>,
    found: Vec<String>,
}

/// Null is a result too.
fn present<'de, D: serde::Deserializer<'de>>(field: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(field).map(Some)
}

impl<'t> AnsweredCalls<'t> {
    /// Reads the list.
    pub fn read(text: &'t str, provider: Provider) -> Result<Self, AnswersError> {
        let entries: Vec<EntryWithResult<'t>> = serde_json::from_str(text)?;
        let lacks_answer = |entry: &EntryWithResult<'_>| {
            entry.envelope.is_none() && entry.error.is_none() && entry.found.is_empty()
        };
        if let Some(index) = entries.iter().position(lacks_answer) {
            return Err(AnswersError::Unanswered(index + 1));
        }
        if entries.is_empty() {
            return Err(AnswersError::Empty);
        }
        let lacks_id = |entry: &EntryWithResult<'_>| entry.call_id.is_none() && provider.needs_call_id();
        match entries.iter().position(lacks_id) {
            Some(index) => Err(AnswersError::NoId(index + 1, provider.as_str())),
            None => Ok(Self { provider, entries }),
        }
    }

    /// The message, or the list of messages. Found tools are defined as in the payload of the profile.
    pub fn messages(self, catalog: &Catalog, profile: &Profile<'_>) -> Result<Value, PayloadError> {
        let Self { provider, entries } = self;
        let parser = Parser::new(catalog, provider);
        let payload = if entries.iter().any(|entry| !entry.found.is_empty()) {
            let mode = Mode::Native;
            let options = catalog.config.payload;
            let request = PayloadRequest { catalog, profile, provider, mode, options };
            Some(payload(request)?)
        } else {
            None
        };
        let tool_result = |entry: EntryWithResult<'_>| {
            let tool_result = match (entry.envelope, entry.error) {
                (Some(result), _) => ToolResult::read(result.get())
                    .unwrap_or_else(|_| ToolResult { content: result.get().into(), ..Default::default() }),
                (None, Some(error)) => ToolResult { content: error, is_error: true, ..Default::default() },
                (None, None) => ToolResult::default(),
            };
            let name = parser.emitted(entry.name.as_deref().unwrap_or_default()).into_owned();
            let tool_result =
                ToolResult { name, call_id: entry.call_id, search: entry.search, ..tool_result };
            match &payload {
                Some(payload) => tool_result.with_found_tools(provider, payload, &entry.found),
                None => tool_result,
            }
        };
        let results: Vec<ToolResult> = entries.into_iter().map(tool_result).collect();
        Ok(result_messages(provider, &results))
    }
}

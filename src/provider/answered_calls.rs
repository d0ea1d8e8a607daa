//! The list that `parse` prints, with the answer to each call: read, and turned into the messages of a provider.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::call::Parser;
use super::{PayloadError, PayloadRequest, Provider, ToolResult, payload, result_messages};
use crate::catalog::{Catalog, Profile};
use crate::config::Mode;

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
    /// An entry of the list is no call.
    #[error("entry {0} of the list is no object, such as `parse` prints")]
    NoObject(usize),
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
#[derive(Debug, Deserialize)]
struct EntryWithResult<'t> {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    call_id: Option<String>,
    #[serde(default)]
    search: bool,
    #[serde(default, borrow, deserialize_with = "present")]
    envelope: Option<&'t RawValue>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    found: Vec<String>,
}

/// Null is a result too.
fn present<'de, D: serde::Deserializer<'de>>(field: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(field).map(Some)
}

impl EntryWithResult<'_> {
    fn is_answered(&self) -> bool {
        self.envelope.is_some() || self.error.is_some() || !self.found.is_empty()
    }

    fn tool_result(self, parser: &Parser<'_>) -> ToolResult {
        let tool_result = match (self.envelope, self.error) {
            (Some(result), _) => ToolResult::read(result.get()).unwrap_or_default(),
            (None, Some(error)) => ToolResult { content: error, is_error: true, ..Default::default() },
            (None, None) => ToolResult::default(),
        };
        let name = parser.emitted(self.name.as_deref().unwrap_or_default()).into_owned();
        ToolResult { name, call_id: self.call_id, search: self.search, ..tool_result }
    }
}

impl<'t> AnsweredCalls<'t> {
    /// Reads the list.
    pub fn read(text: &'t str, provider: Provider) -> Result<Self, AnswersError> {
        let items: Vec<&RawValue> = serde_json::from_str(text)?;
        if let Some(index) = items.iter().position(|item| !item.get().starts_with('{')) {
            return Err(AnswersError::NoObject(index + 1));
        }
        let entries: Vec<EntryWithResult<'t>> = serde_json::from_str(text)?;
        if let Some(index) = entries.iter().position(|entry| !entry.is_answered()) {
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
        let payload = match entries.iter().any(|entry| !entry.found.is_empty()) {
            true => {
                let (mode, options) = (Mode::Native, catalog.config.payload);
                let request = PayloadRequest { catalog, profile, provider, mode, options };
                Some(payload(request)?)
            }
            false => None,
        };
        let tool_result = |mut entry: EntryWithResult<'_>| {
            let found = std::mem::take(&mut entry.found);
            let tool_result = entry.tool_result(&parser);
            match &payload {
                Some(payload) => tool_result.with_found_tools(provider, payload, &found),
                None => tool_result,
            }
        };
        let results: Vec<ToolResult> = entries.into_iter().map(tool_result).collect();
        Ok(result_messages(provider, &results))
    }
}

//! Results out, from the list that `parse` gives, with the answer to each call.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::call::Parser;
use super::{Payload, PayloadError, PayloadRequest, Provider, ToolResult, payload, result_messages};
use crate::catalog::{Catalog, Profile};
use crate::config::Surface;

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

/// Reason why there is no reply.
#[derive(Debug, thiserror::Error)]
pub enum ReplyError {
    /// The input is not a list of answered calls.
    #[error("expected the list that `parse` prints: {0}")]
    NotAList(#[from] serde_json::Error),
    /// There is no call.
    #[error("the list is empty: there is nothing to reply to")]
    Empty,
    /// A call has no answer.
    #[error("call {0} of the list has no `envelope`")]
    Unanswered(usize),
    /// A call has no id, and the provider needs it.
    #[error("call {number} of the list has no `call_id`, and {} needs it", provider.as_str())]
    NoCallId {
        /// Its number in the list, from 1.
        number: usize,
        /// The provider.
        provider: Provider,
    },
    /// The found tools cannot be bound.
    #[error(transparent)]
    Payload(#[from] PayloadError),
}

/// A list of answered calls, still as text.
#[derive(Debug)]
pub struct Answers<'t>(Vec<EntryWithResult<'t>>);

impl<'t> Answers<'t> {
    /// Reads the list that `parse` prints, with an `envelope` in each entry that has no `error`.
    pub fn read(provider: Provider, input: &'t str) -> Result<Self, ReplyError> {
        let answered: Vec<EntryWithResult<'t>> = serde_json::from_str(input)?;
        if answered.is_empty() {
            return Err(ReplyError::Empty);
        }
        if let Some(index) = answered.iter().position(|entry| !entry.is_answered()) {
            return Err(ReplyError::Unanswered(index + 1));
        }
        let lacks_id = |entry: &EntryWithResult<'_>| entry.call_id.is_none() && provider.needs_call_id();
        match answered.iter().position(lacks_id) {
            Some(index) => Err(ReplyError::NoCallId { number: index + 1, provider }),
            None => Ok(Self(answered)),
        }
    }

    /// The message, or the list of messages, that the provider takes. Tools of `found` are defined as the payload of
    /// the profile defines them.
    pub fn reply(
        self,
        catalog: &Catalog,
        profile: &Profile<'_>,
        provider: Provider,
    ) -> Result<Value, ReplyError> {
        let parser = Parser::new(catalog, provider);
        let has_found = self.0.iter().any(|entry| !entry.found.is_empty());
        let payload = has_found.then(|| native_payload(catalog, profile, provider)).transpose()?;
        let tool_result = |mut entry: EntryWithResult<'_>| {
            let found = std::mem::take(&mut entry.found);
            let tool_result = entry.tool_result(&parser);
            match &payload {
                Some(payload) => tool_result.with_found_tools(provider, payload, &found),
                None => tool_result,
            }
        };
        let results: Vec<ToolResult> = self.0.into_iter().map(tool_result).collect();
        Ok(result_messages(provider, &results))
    }
}

fn native_payload<'a>(
    catalog: &'a Catalog,
    profile: &'a Profile<'a>,
    provider: Provider,
) -> Result<Payload<'a>, PayloadError> {
    let (surface, options) = (Surface::Native, catalog.config.payload);
    payload(PayloadRequest { catalog, profile, provider, surface, options, load: &[] })
}

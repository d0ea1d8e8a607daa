//! `toolcrib results`: writes results as the provider's messages.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::catalog::{CatalogArgs, report_lost, word};
use super::parse::stdin;
use super::payload::refused;
use super::{CommandResult, failed, print};
use crate::config::Surface;
use crate::provider::call::Parser;
use crate::provider::{self, PayloadRequest, Provider};

/// Read results from stdin and print the message, or the list of messages, that a provider takes.
///
/// The input is the list that `parse` prints, with the answer to each call in `envelope`: `{"ok", "result" or
/// "error"}`, or any JSON value. An entry with its own `error` needs no answer: the error goes back to the model.
/// `found` names the tools that `tool_search` has found, for providers that load them by themselves.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Try it:\n  toolcrib results --catalog tools.json --provider anthropic < results.json"
)]
pub(super) struct ResultsArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// The provider of the message.
    #[arg(long, value_name = "NAME", value_parser = word::<Provider>())]
    provider: Provider,
    /// The profile whose tools are bound; found tools are defined as in its payload.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// Indent, for people.
    #[arg(long)]
    pretty: bool,
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

    fn tool_result(self, parser: &Parser<'_>) -> provider::ToolResult {
        let tool_result = match (self.envelope, self.error) {
            (Some(result), _) => provider::ToolResult::read(result.get()).unwrap_or_default(),
            (None, Some(error)) => {
                provider::ToolResult { content: error, is_error: true, ..Default::default() }
            }
            (None, None) => provider::ToolResult::default(),
        };
        let name = parser.emitted(self.name.as_deref().unwrap_or_default()).into_owned();
        provider::ToolResult { name, call_id: self.call_id, search: self.search, ..tool_result }
    }
}

impl ResultsArgs {
    pub(super) fn run(self) -> CommandResult {
        let input = stdin()?;
        let answered: Vec<EntryWithResult<'_>> = serde_json::from_str(&input)
            .map_err(|error| failed(format!("expected the list that `parse` prints: {error}")))?;
        if let Some(index) = answered.iter().position(|entry| !entry.is_answered()) {
            return Err(failed(format!("call {} of the list has no `envelope`", index + 1)));
        }
        let provider = self.provider;
        if answered.is_empty() {
            return Err(failed("the list is empty: there is nothing to reply to"));
        }
        let lacks_id = |entry: &EntryWithResult<'_>| entry.call_id.is_none() && provider.needs_call_id();
        if let Some(index) = answered.iter().position(lacks_id) {
            let message = format!(
                "call {} of the list has no `call_id`, and {} needs it",
                index + 1,
                provider.as_str()
            );
            return Err(failed(message));
        }
        let checked = self.catalog.open()?;
        report_lost(&checked);
        let catalog = &checked.catalog;
        let parser = Parser::new(catalog, provider);
        let profile = catalog.profile(self.profile.as_deref())?;
        let payload = match answered.iter().any(|entry| !entry.found.is_empty()) {
            true => {
                let (surface, options) = (Surface::Native, catalog.config.payload);
                let request =
                    PayloadRequest { catalog, profile: &profile, provider, surface, options, load: &[] };
                Some(provider::payload(request).map_err(refused)?)
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
        let results: Vec<provider::ToolResult> = answered.into_iter().map(tool_result).collect();
        let message = provider::result_messages(provider, &results);
        print(&if self.pretty { format!("{message:#}\n") } else { format!("{message}\n") })
    }
}

//! `toolcrib parse`: the calls in a provider's response, checked; `toolcrib results`: their results as the provider's
//! messages.

use std::io::Read;

use super::catalog::{CatalogArgs, counted, word};
use super::payload::refused;
use super::services::repair;
use super::{CommandError, CommandResult, failed, print, print_note};
use toolcrib_providers::call::{CallEntry, Parser};
use toolcrib_providers::{AnsweredCalls, Provider};

/// Longest input, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Print the calls of a provider's response, each checked against its schema.
///
/// Reads the response from stdin, and prints a JSON list with one entry per call, in order: `name`, `call_id`, and either `args` or `error`. An error
/// names the place, the expected value, and the doc to read. `repaired` lists every change made to the arguments; a
/// call of a tool without a schema has `"validated": false` where its no-schema mode allows it.
///
/// Exit code 1 with the list printed when a call has an error, and with nothing printed when the body cannot be read.
/// A response without calls gives an empty list.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Try it:\n  toolcrib parse tools.json --provider anthropic < response.json\n  toolcrib parse . --provider ollama --pretty < response.json"
)]
pub(super) struct ParseArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// The provider of the response; default: the configured one.
    #[arg(long, value_name = "NAME", value_parser = word::<Provider>())]
    provider: Option<Provider>,
    /// Accept calls of this profile's tools only; any other tool is unknown.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// Indent, for people.
    #[arg(long)]
    pretty: bool,
}

impl ParseArgs {
    pub(super) fn run(self) -> CommandResult {
        let body = stdin()?;
        let checked = self.catalog.open_at_turn()?;
        let provider = self.provider.unwrap_or(checked.catalog.config.payload.provider);
        let profile = checked.catalog.profile(self.profile.as_deref())?;
        let parser = Parser::of_profile(&checked.catalog, &profile, provider);
        let entries = parser.parse(&body).map_err(failed)?;
        let is_wrong = entries.iter().any(|entry| entry.outcome.is_err());
        let entries = match is_wrong.then(|| repair(&self.catalog, &checked.catalog)).flatten() {
            Some(Ok(model)) => entries.into_iter().map(|entry| parser.repair(entry, &model)).collect(),
            Some(Err(error)) => {
                print_note(format!("no call is repaired: {error}"));
                entries
            }
            None => entries,
        };
        print(&listed(&entries, self.pretty)?)?;
        let wrong = entries.iter().filter(|entry| entry.outcome.is_err()).count();
        if wrong == 0 {
            return Ok(());
        }
        Err(failed(format!("{wrong} of {} cannot be run", counted(entries.len(), "call"))))
    }
}

/// The list, one entry a line.
fn listed(entries: &[CallEntry<'_>], pretty: bool) -> Result<String, CommandError> {
    if pretty || entries.is_empty() {
        return serde_json::to_string_pretty(entries).map(|text| text + "\n").map_err(failed);
    }
    let lines: Result<Vec<String>, serde_json::Error> = entries.iter().map(serde_json::to_string).collect();
    Ok(format!("[\n{}\n]\n", lines.map_err(failed)?.join(",\n")))
}

/// Print the message, or the messages, that take results to a provider.
///
/// The input, on stdin, is the list that `parse` prints, with the answer to each call in `envelope`: `{"ok", "result" or
/// "error"}`, or any JSON value. An entry with its own `error` needs no answer: the error goes back to the model.
/// `found` names the tools that `tool_search` has found, for providers that load tools themselves.
#[derive(Debug, clap::Args)]
#[command(after_help = "Try it:\n  toolcrib results tools.json --provider anthropic < results.json")]
pub(super) struct ResultsArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// The provider of the message; default: the configured one.
    #[arg(long, value_name = "NAME", value_parser = word::<Provider>())]
    provider: Option<Provider>,
    /// The profile whose tools are bound; found tools are defined as in its payload.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// Indent, for people.
    #[arg(long)]
    pretty: bool,
}

impl ResultsArgs {
    pub(super) fn run(self) -> CommandResult {
        let input = stdin()?;
        let checked = self.catalog.open_at_turn()?;
        let provider = self.provider.unwrap_or(checked.catalog.config.payload.provider);
        let answered = AnsweredCalls::read(&input, provider).map_err(failed)?;
        let profile = checked.catalog.profile(self.profile.as_deref())?;
        let message = answered.messages(&checked.catalog, &profile).map_err(refused)?;
        print(&if self.pretty { format!("{message:#}\n") } else { format!("{message}\n") })
    }
}

/// The whole of stdin, which is text.
fn stdin() -> Result<String, CommandError> {
    let mut text = String::new();
    match std::io::stdin().lock().take(MAX_BYTES + 1).read_to_string(&mut text) {
        Err(error) => Err(unreadable(error.to_string())),
        Ok(size) if size as u64 > MAX_BYTES => {
            Err(unreadable(format!("it is longer than {} MB", MAX_BYTES >> 20)))
        }
        Ok(_) => Ok(text),
    }
}

fn unreadable(what: String) -> CommandError {
    failed(format!("cannot read stdin: {what}"))
}

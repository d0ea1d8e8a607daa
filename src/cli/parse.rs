//! `toolcrib parse`: the calls in a response of a provider, checked.

use super::catalog::CatalogArgs;
use super::error::{CommandError, CommandResult, failed};
use super::io::Io;
use super::services::repair;
use super::word::word;
use toolcrib_definition::grammar::counted;
use toolcrib_providers::Provider;
use toolcrib_providers::call::{CallEntry, Parser};

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
    /// Read the calls that the model left in its text too, such as `<tool_call>...`.
    ///
    /// Without it, a note on stderr says that there are such calls.
    #[arg(long)]
    from_text: bool,
    /// Indent, for people.
    #[arg(long)]
    pretty: bool,
}

impl ParseArgs {
    pub(super) fn run(self, io: &Io) -> CommandResult {
        let body = io.stdin_text()?;
        let checked = self.catalog.open_at_turn(io)?;
        let provider = self.provider.unwrap_or(checked.catalog.config.payload.provider);
        let profile = checked.catalog.profile(self.profile.as_deref())?;
        let parser = Parser::of_profile(&checked.catalog, &profile, provider);
        let mut entries = parser.parse(&body).map_err(failed)?;
        let left = parser.left_in_text(&body, &entries);
        match left.first().and_then(|entry| entry.name.clone()) {
            Some(first) if !self.from_text => io.note(format!(
                "the text holds {}, such as one of `{first}`, and none is read; read them with --from-text",
                counted(left.len(), "call")
            )),
            _ => entries.extend(left),
        }
        let is_wrong = entries.iter().any(|entry| entry.outcome.is_err());
        let entries = match is_wrong.then(|| repair(io, &self.catalog, &checked.catalog)).flatten() {
            Some(Ok(model)) => entries.into_iter().map(|entry| parser.repair(entry, &model)).collect(),
            Some(Err(error)) => {
                io.note(format!("no call is repaired: {error}"));
                entries
            }
            None => entries,
        };
        io.print(&listed(&entries, self.pretty)?)?;
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

//! `toolcrib results`: the results of calls as the messages of a provider.

use super::catalog::CatalogArgs;
use super::error::{CommandResult, failed};
use super::io::Io;
use super::word::word;
use toolcrib_providers::{AnsweredCalls, Provider};

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
    pub(super) fn run(self, io: &Io) -> CommandResult {
        let input = io.stdin_text()?;
        let checked = self.catalog.open_at_turn(io)?;
        let provider = self.provider.unwrap_or(checked.catalog.config.payload.provider);
        let answered = AnsweredCalls::read(&input, provider).map_err(failed)?;
        let profile = checked.catalog.profile(self.profile.as_deref())?;
        let message = answered.messages(&checked.catalog, &profile)?;
        io.print(&if self.pretty { format!("{message:#}\n") } else { format!("{message}\n") })
    }
}

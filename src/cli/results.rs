//! `toolcrib results`: writes results as the provider's messages.

use super::catalog::{CatalogArgs, refuse_unread, report_lost, word};
use super::parse::stdin;
use super::payload::refused;
use super::{CommandResult, failed, print};
use crate::provider::{AnsweredCalls, Provider};

/// Print the message, or the messages, that take results to a provider.
///
/// The input, on stdin, is the list that `parse` prints, with the answer to each call in `envelope`: `{"ok", "result" or
/// "error"}`, or any JSON value. An entry with its own `error` needs no answer: the error goes back to the model.
/// `found` names the tools that `tool_search` has found, for providers that load them by themselves.
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
        let checked = self.catalog.open()?;
        report_lost(&checked);
        refuse_unread(&checked)?;
        let provider = self.provider.unwrap_or(checked.catalog.config.payload.provider);
        let answered = AnsweredCalls::read(&input, provider).map_err(failed)?;
        let profile = checked.catalog.profile(self.profile.as_deref())?;
        let message = answered.messages(&checked.catalog, &profile).map_err(refused)?;
        print(&if self.pretty { format!("{message:#}\n") } else { format!("{message}\n") })
    }
}

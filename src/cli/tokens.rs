//! `toolcrib tokens`: the cost of tools.

use super::catalog::CatalogArgs;
use super::error::{CommandResult, failed};
use super::findings::complete;
use super::io::Io;
use super::word::word;
use toolcrib_catalog::config::{Deferred, Mode};
use toolcrib_providers::Provider;
use toolcrib_providers::report::{self, Options, OverBudget, ReportError};

/// Count the tokens of tools; with --verbose, in each mode and of each tool.
///
/// Counts are made offline, of the payload as it is sent. They are close to a provider's bill but not equal: the
/// notes of --verbose say why.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Try it:\n  toolcrib tokens examples/github --profile core --verbose\n  toolcrib tokens . --profile writer --mode hybrid --budget 3000"
)]
pub(super) struct TokensArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// Count this profile only, instead of the whole catalog and every profile.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// The provider of the payload; default: the configured one.
    #[arg(long, value_name = "NAME", value_parser = word::<Provider>())]
    provider: Option<Provider>,
    /// Count this mode only; the budget is for it.
    #[arg(long, value_name = "NAME", value_parser = word::<Mode>())]
    mode: Option<Mode>,
    /// The schema of deferred tools in the mode `hybrid`: stub (the smallest one), or compact (without
    /// descriptions).
    #[arg(long, value_parser = word::<Deferred>())]
    deferred: Option<Deferred>,
    /// Print the tables: each mode, each tool, and notes on the numbers.
    #[arg(long, short)]
    verbose: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Exit 1 when a profile binds more tokens than this in the named mode, else the configured one, else the one
    /// that `auto` stands for.
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
}

impl TokensArgs {
    pub(super) fn run(self, io: &Io) -> CommandResult {
        let checked = self.catalog.open_readable(io)?;
        let templates = self.catalog.templates(io, &checked, None)?;
        let mut payload = checked.catalog.config.payload;
        payload.deferred = self.deferred.unwrap_or(payload.deferred);
        payload.provider = self.provider.unwrap_or(payload.provider);
        let options =
            Options { profile: self.profile.as_deref(), mode: self.mode, payload, budget: self.budget };
        let report = report::report(&checked.catalog, &templates, options).map_err(|error| match error {
            ReportError::Profile(error) => error.into(),
            ReportError::Template(error) => failed(error),
        })?;
        if self.json {
            let json = serde_json::to_value(&report).map_err(failed)?;
            io.print(&format!("{json:#}\n"))?;
        } else {
            let table = if self.verbose { format!("\n{}", report.table()) } else { String::new() };
            io.print(&format!("{}\n{table}", report.request.line()))?;
        }
        if report.over_budget.is_empty() {
            return complete(&checked);
        }
        let messages: Vec<String> = report.over_budget.iter().map(OverBudget::message).collect();
        Err(failed(messages.join("\n")))
    }
}

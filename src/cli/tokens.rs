//! `toolcrib tokens`: the cost of tools.

use serde_json::json;

use super::catalog::CatalogArgs;
use super::error::{CommandResult, failed};
use super::findings::complete;
use super::io::Io;
use super::state::{StateArgs, block_on};
use super::word::word;
use toolcrib_catalog::config::{Config, Deferred, Mode};
use toolcrib_definition::clean_line;
use toolcrib_definition::grammar::counted;
use toolcrib_gateway::state::{Callers, ResultCost};
use toolcrib_providers::Provider;
use toolcrib_providers::report::{self, Options, OverBudget, ReportError, grouped};

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
    pub(super) fn run(mut self, io: &Io) -> CommandResult {
        self.catalog = self.catalog.or_adopted(io);
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
            let mut json = serde_json::to_value(&report).map_err(failed)?;
            let cost =
                |cost: &ResultCost| json!({"tool": cost.tool, "calls": cost.calls, "tokens": cost.tokens});
            if let Some(costs) = self.results(io, &checked.catalog.config) {
                json["results"] = costs.iter().map(cost).collect();
            }
            io.print(&format!("{json:#}\n"))?;
        } else {
            let table = if self.verbose { format!("\n{}", report.table()) } else { String::new() };
            let results = self.results(io, &checked.catalog.config).map(|costs| results_line(&costs));
            let results = results.map_or_else(String::new, |line| line + "\n");
            io.print(&format!(
                "{}\n{results}{table}",
                report.request.line(self.catalog.cost_reader(&checked.catalog.config))
            ))?;
        }
        if report.over_budget.is_empty() {
            return complete(&checked);
        }
        let messages: Vec<String> = report.over_budget.iter().map(OverBudget::message).collect();
        Err(failed(messages.join("\n")))
    }
}

impl TokensArgs {
    /// What the results of earlier calls have cost, by tool; `None` where nothing is stored.
    fn results(&self, io: &Io, config: &Config) -> Option<Vec<ResultCost>> {
        config.state.url.as_ref()?;
        let state = StateArgs::default().open_existing(io, &self.catalog).ok()?;
        let costs = block_on(state.result_costs(&Callers::All)).ok()?;
        (!costs.is_empty()).then_some(costs)
    }
}

/// Tools whose results are named.
const NAMED: usize = 3;

/// What results have cost, in one line.
fn results_line(costs: &[ResultCost]) -> String {
    let sum = |of: fn(&ResultCost) -> i64| costs.iter().map(of).sum::<i64>().unsigned_abs() as usize;
    let calls = sum(|cost| cost.calls);
    let tokens = sum(|cost| cost.tokens);
    let each = |cost: &ResultCost| {
        let mean = cost.tokens / cost.calls.max(1);
        format!("{} {} each", clean_line(&cost.tool), grouped(mean.unsigned_abs() as usize))
    };
    let most: Vec<String> = costs.iter().take(NAMED).map(each).collect();
    format!(
        "Results of {}: about {} tokens; most: {}.",
        counted(calls, "call"),
        grouped(tokens),
        most.join(", ")
    )
}

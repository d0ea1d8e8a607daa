//! The tokens of tools in each request, without toolcrib and with it, on one line.

use serde::Serialize;

use super::meter::{Meter, Options};
use super::text::grouped;
use toolcrib_catalog::config::{self, Mode};
use toolcrib_catalog::{Catalog, UnknownProfile};
use toolcrib_definition::grammar::counted;
use toolcrib_render::Templates;

/// Who reads what tools cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostReader {
    /// The operator of a catalog, who is asked nothing about clients.
    Operator,
    /// The person of a client that sends all tools in each request.
    Client,
    /// The person of this client, which looks tools up by itself.
    DeferringClient(&'static str),
}

/// The tokens of tools in each request, without toolcrib and with it: the one line that every command prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RequestCost {
    /// Number of tools.
    pub tools: usize,
    /// The provider whose payload was counted.
    pub provider: &'static str,
    /// Tokens of all of them in full.
    pub full: usize,
    /// Tokens in the recommended mode, or in the mode `gateway` where that is `full`.
    pub with_toolcrib: usize,
    /// The recommended mode, which `auto` stands for.
    pub mode: Mode,
    /// Estimated cost of a whole task with toolcrib, in percent of `full`.
    pub task_percent: Option<usize>,
}

impl RequestCost {
    /// Counts the tools of a profile.
    pub fn of(
        catalog: &Catalog,
        templates: &Templates,
        profile: Option<&str>,
        options: config::Payload,
    ) -> Result<Self, UnknownProfile> {
        let profile = &catalog.profile(profile)?;
        let mut meter = Meter::new(catalog, templates, Options::of(options));
        let costs = meter.costs(profile, |_| !profile.tools.is_empty());
        let mode = costs.first().map_or(Mode::Full, |least| least.mode);
        let other = if mode == Mode::Full { Mode::Gateway } else { mode };
        let cost = |mode| costs.iter().find(|cost| cost.mode == mode);
        let task_percent = cost(other)
            .zip(cost(Mode::Full))
            .map(|(other, full)| (100 * other.task + full.task / 2) / full.task.max(1));
        let mut bound = |mode| {
            cost(mode).map_or_else(|| meter.bound(profile, mode).unwrap_or_default(), |cost| cost.bound)
        };
        Ok(Self {
            tools: profile.tools.len(),
            provider: options.provider.as_str(),
            full: bound(Mode::Full),
            with_toolcrib: bound(other),
            mode,
            task_percent,
        })
    }

    pub fn line(&self, reader: CostReader) -> String {
        let (tools, full, with) =
            (counted(self.tools, "tool"), grouped(self.full), grouped(self.with_toolcrib));
        let begin = format!("{tools}, {full} tokens a request ({})", self.provider);
        let why = match self.task_percent {
            Some(percent) if percent >= 100 => {
                format!(": a task would cost {} % more, since the agent looks tools up", percent - 100)
            }
            Some(percent) => format!(": a task costs {} % less", 100 - percent),
            None => String::new(),
        };
        match (reader, self.mode) {
            (CostReader::Operator, Mode::Full) => {
                format!("{begin}. With gateway: {with}. auto takes full{why}.")
            }
            (CostReader::Operator, mode) => {
                format!("{begin}. With {0}: {with}. auto takes {0}{why}.", mode.as_str())
            }
            (CostReader::DeferringClient(name), _) => {
                format!(
                    "{begin}. With toolcrib: {with}. Recommended: leave it as it is: {name} looks tools up by itself."
                )
            }
            (CostReader::Client, Mode::Full) => {
                format!("{begin}. With toolcrib: {with}. Recommended: leave it as it is{why}.")
            }
            (CostReader::Client, mode) => {
                format!("{begin}. With toolcrib: {with}. Recommended: the mode {}{why}.", mode.as_str())
            }
        }
    }
}

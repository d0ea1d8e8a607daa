//! The tokens of tools in each request, without toolcrib and with it, on one line.

use serde::Serialize;

use super::meter::{Meter, Options};
use super::text::grouped;
use toolcrib_catalog::config::{self, Mode};
use toolcrib_catalog::{Catalog, UnknownProfile};
use toolcrib_definition::grammar::counted;
use toolcrib_render::Templates;

/// The tokens of tools in each request, without toolcrib and with it: the one line that every command prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RequestCost {
    /// Number of tools.
    pub tools: usize,
    /// Tokens of all of them in full.
    pub full: usize,
    /// Tokens in the recommended mode, or in the mode `gateway` where that is `full`.
    pub with_toolcrib: usize,
    /// The recommended mode, which `auto` stands for.
    pub mode: Mode,
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
        let mut bound = |mode| match costs.iter().find(|cost| cost.mode == mode) {
            Some(cost) => cost.bound,
            None => meter.bound(profile, mode).unwrap_or_default(),
        };
        Ok(Self { tools: profile.tools.len(), full: bound(Mode::Full), with_toolcrib: bound(other), mode })
    }

    pub fn line(&self) -> String {
        let (tools, full, with) =
            (counted(self.tools, "tool"), grouped(self.full), grouped(self.with_toolcrib));
        let advice = match self.mode {
            Mode::Full => "leave it as it is".to_string(),
            mode => format!("the mode {}", mode.as_str()),
        };
        format!("{tools}, {full} tokens a request. With toolcrib: {with}. Recommended: {advice}.")
    }
}

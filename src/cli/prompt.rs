//! `toolcrib prompt`: the section of the system prompt for a surface.

use super::catalog::{CatalogArgs, report_briefly};
use super::render::templates;
use super::{Failure, Outcome, print};
use crate::config::Surface;
use crate::render::PromptSection;

/// Print the section of the system prompt that tells a model how its tools reach it, as markdown.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Try it:\n  toolcrib prompt --catalog examples/universal-agent --profile creator\n  toolcrib prompt --catalog examples/github --surface gateway"
)]
pub(super) struct Prompt {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// The way tools reach the model; `hybrid` unless configured.
    #[arg(long, value_name = "NAME", value_parser = Surface::ALL.map(Surface::as_str))]
    surface: Option<String>,
    /// The profile of the agent.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// The folder of the docs, as the agent sees it.
    #[arg(long, value_name = "DIR", default_value = "tools")]
    folder: String,
    /// Add the rules of the discovery functions.
    #[arg(long)]
    discovery: bool,
}

impl Prompt {
    pub(super) fn run(self) -> Outcome {
        let checked = self.catalog.open()?;
        report_briefly(&checked);
        let profile = checked.catalog.profile(self.profile.as_deref()).map_err(Failure::Usage)?;
        let templates = templates(&self.catalog, &checked, None)?;
        let configured = checked.catalog.config.payload;
        let section = PromptSection {
            surface: self
                .surface
                .as_deref()
                .and_then(Surface::parse)
                .or(configured.surface)
                .unwrap_or_default(),
            deferred: configured.deferred,
            folder: self.folder.trim_end_matches('/'),
            discovery: self.discovery,
        };
        let text = section
            .render(&profile, &templates)
            .map_err(|error| Failure::Findings(Some(error.to_string())))?;
        print(&format!("{text}\n"))
    }
}

//! `toolcrib prompt`: the section of the system prompt for a mode.

use super::catalog::{CatalogArgs, complete, refuse_unread, word};
use super::render::templates;
use super::{CommandResult, failed, print, print_note};
use crate::catalog::{Catalog, Profile};
use crate::config::{Deferred, Mode, ModeChoice};
use crate::provider::{PayloadRequest, Provider};
use crate::render::PromptSection;
use crate::report;
use crate::tokens::exact;

/// Print the section of the system prompt on tools, as markdown.
///
/// Given the options of `payload`, it prints the section that belongs to that payload.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Try it:\n  toolcrib prompt examples/universal-agent --profile creator\n  toolcrib prompt examples/github --provider anthropic --mode native"
)]
pub(super) struct PromptArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// The provider of the payload; default: the configured one. If it lacks the mode, the section is for the
    /// mode that it gets instead.
    #[arg(long, value_name = "NAME", value_parser = word::<Provider>())]
    provider: Option<Provider>,
    /// The mode, or `auto` for the one on which a whole task is estimated to cost least; `auto` unless configured.
    #[arg(long, value_name = "NAME", value_parser = word::<ModeChoice>())]
    mode: Option<ModeChoice>,
    /// The profile of the agent.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// The schema of deferred tools in the mode `hybrid`: stub (the smallest one), or compact (without
    /// descriptions).
    #[arg(long, value_parser = word::<Deferred>())]
    deferred: Option<Deferred>,
    /// The folder of the docs, as the agent sees it.
    #[arg(long, value_name = "DIR", default_value = "tools")]
    folder: String,
    /// Add the rules of the discovery functions.
    #[arg(long)]
    discovery: bool,
    /// The most tokens of the section; default: `payload.prompt_tokens` of the configuration, else 500.
    #[arg(long, value_name = "N")]
    tokens: Option<usize>,
}

impl PromptArgs {
    pub(super) fn run(self) -> CommandResult {
        let checked = self.catalog.open()?;
        self.catalog.report_briefly(&checked);
        refuse_unread(&checked)?;
        let profile = checked.catalog.profile(self.profile.as_deref())?;
        let templates = templates(&self.catalog, &checked, None)?;
        let configured = checked.catalog.config.payload;
        let deferred = self.deferred.unwrap_or(configured.deferred);
        let provider = self.provider.unwrap_or(configured.provider);
        let wanted = self.mode(&checked.catalog, &profile, provider);
        let mode = provider.mode(wanted);
        if mode != wanted {
            let (provider, mode) = (provider.as_str(), mode.as_str());
            print_note(format!("{provider} cannot defer tools by itself; this is for the mode {mode}"));
        }
        let section = PromptSection {
            mode,
            deferred,
            folder: self.folder.trim_end_matches('/'),
            discovery: self.discovery || configured.discovery,
            tokens: self.tokens.unwrap_or(configured.prompt_tokens),
        };
        let text = section.render(&checked.catalog, &profile, &templates).map_err(failed)?;
        let (taken, budget) = (exact(&text), section.tokens);
        if taken > budget {
            print_note(format!(
                "the rules alone are over the budget of {budget} tokens; the section takes {taken}"
            ));
        }
        print(&format!("{text}\n"))?;
        complete(&checked)
    }

    /// The mode, and for `auto` a note that says why.
    fn mode(&self, catalog: &Catalog, profile: &Profile<'_>, provider: Provider) -> Mode {
        let options = catalog.config.payload;
        let request = PayloadRequest { catalog, profile, provider, mode: Mode::Full, options };
        let named = self.mode.unwrap_or(options.mode).named();
        let (mode, reason) = report::mode_of(&request, named);
        reason.iter().for_each(print_note);
        mode
    }
}

//! `toolcrib prompt`: the section of the system prompt on tools.

use super::catalog::CatalogArgs;
use super::error::{CommandResult, failed};
use super::findings::complete;
use super::io::Io;
use super::word::word;
use toolcrib_catalog::config::{Deferred, Mode, ModeChoice};
use toolcrib_catalog::{Catalog, Profile};
use toolcrib_definition::tokens::token_count;
use toolcrib_providers::{PayloadRequest, Provider, ProviderFormat, report};
use toolcrib_render::{PromptSection, Templates};

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
    /// The provider of the payload; default: the configured one.
    ///
    /// If it lacks the mode, the section is for the mode that it gets instead.
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
    pub(super) fn run(self, io: &Io) -> CommandResult {
        let checked = self.catalog.open_readable(io)?;
        let profile = checked.catalog.profile(self.profile.as_deref())?;
        let templates = self.catalog.templates(io, &checked, None)?;
        let configured = checked.catalog.config.payload;
        let provider = self.provider.unwrap_or(configured.provider);
        let wanted = self.mode(io, &checked.catalog, &profile, &templates, provider);
        let mode = provider.mode(wanted);
        if mode != wanted {
            let provider = provider.as_str();
            let mode = mode.as_str();
            io.note(format!("{provider} cannot defer tools by itself; this is for the mode {mode}"));
        }
        let section = PromptSection {
            deferred: self.deferred.unwrap_or(configured.deferred),
            folder: self.folder.trim_end_matches('/'),
            discovery: self.discovery || configured.discovery,
            tokens: self.tokens.unwrap_or(configured.prompt_tokens),
            ..PromptSection::of(mode, configured)
        };
        let text = section.render(&checked.catalog, &profile, &templates).map_err(failed)?;
        let taken = token_count(&text);
        let budget = section.tokens;
        if taken > budget {
            io.note(format!(
                "the rules alone are over the budget of {budget} tokens; the section takes {taken}"
            ));
        }
        io.print(&format!("{text}\n"))?;
        complete(&checked)
    }

    /// The mode, and for `auto` a note that says why.
    fn mode(
        &self,
        io: &Io,
        catalog: &Catalog,
        profile: &Profile<'_>,
        templates: &Templates,
        provider: Provider,
    ) -> Mode {
        let options = catalog.config.payload;
        let request = PayloadRequest { catalog, profile, provider, mode: Mode::Full, options };
        let named = Mode::named(self.mode.unwrap_or(options.mode));
        let (mode, reason) = report::mode_of(&request, templates, named);
        reason.iter().for_each(|note| io.note(note));
        mode
    }
}

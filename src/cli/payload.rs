//! `toolcrib payload`: the tools of a request.

use std::collections::BTreeMap;

use serde_json::json;

use super::catalog::CatalogArgs;
use super::error::{CommandError, CommandResult, failed};
use super::findings::complete;
use super::io::Io;
use super::pick::PickArgs;
use super::word::word;
use toolcrib_catalog::config::{self, Deferred, Mode, ModeChoice, SearchBy};
use toolcrib_catalog::{Checked, Profile};
use toolcrib_definition::document::locate;
use toolcrib_definition::finding::{Code, Finding, Severity, text_report};
use toolcrib_providers::{self as provider, Payload, PayloadRequest, Provider, RequestHeader, report};

/// Print the tools of a request, as the part of the body that the provider takes.
///
/// A tool that the provider cannot take is reported and left out. More tools than it takes are an error, and nothing
/// is printed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Try it:\n  toolcrib payload tools.json --provider anthropic\n  toolcrib payload . --provider openai-responses --mode native --profile writer --pretty\n  toolcrib payload . --provider openai --pick \"refund a customer\" --max 5"
)]
pub(super) struct PayloadArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    #[command(flatten)]
    target: Target,
    /// Bind the tools of this profile only.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    #[command(flatten)]
    pick: PickArgs,
    /// The schema of deferred tools in the mode `hybrid`: stub (the smallest one), or compact (without
    /// descriptions).
    #[arg(long, hide_short_help = true, value_parser = word::<Deferred>())]
    deferred: Option<Deferred>,
    /// The search in the mode `native`: provider (by words), regex (by regular expressions; `anthropic`), or client
    /// (calls of `tool_search`, which come to you).
    #[arg(long, value_parser = word::<SearchBy>())]
    search: Option<SearchBy>,
    /// Bind the functions of the discovery protocol too.
    #[arg(long)]
    discovery: bool,
    /// Whether to mark the list of tools for the prompt cache.
    #[arg(long, value_parser = ["on", "off"])]
    cache: Option<String>,
    /// Print the request headers that the provider needs for what is bound, one a line as `name: value`, and nothing
    /// else.
    #[arg(long, conflicts_with = "json")]
    headers: bool,
    /// Print an object with `provider`, `mode`, `headers`, `notes` and the `body`.
    #[arg(long)]
    json: bool,
    /// Indent, for people.
    #[arg(long)]
    pretty: bool,
    /// Report everything that the provider cannot take, infos too, with places.
    #[arg(long, short)]
    verbose: bool,
}

/// A provider and a mode.
#[derive(Debug, clap::Args)]
pub(super) struct Target {
    /// The provider; default: the configured one.
    #[arg(long, value_name = "NAME", value_parser = word::<Provider>())]
    provider: Option<Provider>,
    /// The mode, or `auto` for the one on which a whole task is estimated to cost least; `auto` unless configured.
    #[arg(long, value_name = "NAME", value_parser = word::<ModeChoice>())]
    mode: Option<ModeChoice>,
}

impl PayloadArgs {
    pub(super) fn run(self, io: &Io) -> CommandResult {
        let checked = self.catalog.open_at_turn(io)?;
        let catalog = &checked.catalog;
        let profile = catalog.profile(self.profile.as_deref())?;
        let mut options = catalog.config.payload;
        options.provider = self.target.provider.unwrap_or(options.provider);
        options.deferred = self.deferred.unwrap_or(options.deferred);
        options.search = self.search.unwrap_or(options.search);
        options.discovery |= self.discovery;
        options.cache = self.cache.as_deref().map(|word| word == "on").or(options.cache);
        let (mode, reason) = self.mode(io, &checked, &profile, options)?;
        let profile = self.pick.apply(io, &self.catalog, &checked, profile, mode)?;
        let provider = options.provider;
        let request = PayloadRequest { catalog, profile: &profile, provider, mode, options };
        let mut payload = provider::payload(request)?;
        payload.notes.extend(reason);
        self.print_notes(io, &payload);
        report(io, &payload.findings, &checked, self.verbose);
        if payload.findings.iter().any(|finding| finding.severity == Severity::Error) {
            return Err(failed("nothing is printed, since there are errors"));
        }
        io.print(&self.text(provider, payload).map_err(failed)?)?;
        complete(&checked)
    }

    /// The mode, and for `auto` a note that says why. Picked tools are bound in full.
    fn mode(
        &self,
        io: &Io,
        checked: &Checked,
        profile: &Profile<'_>,
        options: config::Payload,
    ) -> Result<(Mode, Option<String>), CommandError> {
        let named = match self.target.mode {
            Some(choice) => Mode::named(choice),
            None if self.pick.is_wanted() => Some(Mode::Full),
            None => Mode::named(options.mode),
        };
        if let Some(mode) = named {
            return Ok((mode, None));
        }
        let templates = self.catalog.templates(io, checked, None)?;
        let provider = options.provider;
        let request =
            PayloadRequest { catalog: &checked.catalog, profile, provider, mode: Mode::Full, options };
        let auto = report::auto_mode(&request, &templates);
        Ok((auto.mode, Some(auto.note())))
    }

    /// Notes, and headers unless they are on stdout: a payload that needs one never goes without saying so.
    fn print_notes(&self, io: &Io, payload: &Payload<'_>) {
        payload.notes.iter().for_each(|note| io.note(note));
        if self.headers || self.json {
            return;
        }
        for header in &payload.headers {
            let RequestHeader { name, value, reason } = header;
            io.note(format!("send the header `{name}: {value}` with this payload, for {reason}"));
        }
    }

    fn text(&self, provider: Provider, payload: Payload<'_>) -> serde_json::Result<String> {
        if self.headers {
            let lines = payload.headers.iter().map(|header| format!("{}: {}\n", header.name, header.value));
            return Ok(lines.collect());
        }
        let printed = if self.json {
            json!({
                "provider": provider.as_str(), "mode": payload.mode.as_str(),
                "headers": serde_json::to_value(&payload.headers)?, "notes": payload.notes, "body": payload.body
            })
        } else {
            payload.body
        };
        Ok(if self.pretty { format!("{printed:#}\n") } else { format!("{printed}\n") })
    }
}

/// Findings of each code that are printed without --verbose.
const SHOWN: usize = 5;

/// Reports tools and keywords that the provider cannot take: one line each, or in full with places.
fn report(io: &Io, findings: &[Finding], checked: &Checked, verbose: bool) {
    if verbose {
        let mut findings = findings.to_vec();
        locate(&checked.documents, &mut findings);
        return io.note(text_report(&findings, &checked.documents, true, None).trim_end());
    }
    let mut by_code: BTreeMap<Code, Vec<&Finding>> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.severity != Severity::Info) {
        by_code.entry(finding.code).or_default().push(finding);
    }
    for (code, findings) in by_code {
        for finding in findings.iter().take(SHOWN) {
            let tool = finding.tool.as_deref().unwrap_or_default();
            io.note(format!("{}[{code}]: {tool}: {}", finding.severity.as_str(), finding.message));
        }
        if findings.len() > SHOWN {
            io.note(format!("... and {} more {code}; --verbose lists them", findings.len() - SHOWN));
        }
    }
}

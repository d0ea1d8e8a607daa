//! Requests to a provider. `toolcrib payload`: the tools of a request; `prompt`: the section of its system prompt; `tokens`: the cost
//! of tools; `parse`: the calls in a response, checked; `results`: their results as the provider's messages.

use std::collections::{BTreeMap, HashSet};
use std::io::Read;
use std::sync::Arc;

use serde_json::{Value, json};

use super::catalog::{CatalogArgs, complete, counted, word};
use super::error::{CommandError, CommandResult, failed};
use super::io::Io;
use super::render::templates;
use super::screen::Spinner;
use super::services::repair;
use toolcrib_catalog::config::{self, Deferred, Mode, ModeChoice, SearchBy};
use toolcrib_catalog::{Catalog, Checked, Profile};
use toolcrib_definition::clean_line;
use toolcrib_definition::finding::{Code, Finding, Severity, from_json, locate, text_report};
use toolcrib_definition::tokens::exact;
use toolcrib_docs::{PromptSection, Templates};
use toolcrib_gateway::functions::pick::{ScorerKind, hint};
use toolcrib_gateway::functions::{CatalogView, FunctionContext};
use toolcrib_providers::call::{CallEntry, Parser};
use toolcrib_providers::report::{self, Options, OverBudget, ReportError};
use toolcrib_providers::{
    self as provider, AnsweredCalls, Payload, PayloadError, PayloadRequest, Provider, ProviderFormat,
    RequestHeader,
};
use toolcrib_search::Verdict;
use toolcrib_search::pick::{self, Picked};

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
        let (mode, reason) = self.mode(catalog, &profile, options);
        let profile = self.pick.apply(io, &self.catalog, &checked, profile, mode)?;
        let provider = options.provider;
        let request = PayloadRequest { catalog, profile: &profile, provider, mode, options };
        let mut payload = provider::payload(request).map_err(refused)?;
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
        catalog: &Catalog,
        profile: &Profile<'_>,
        options: config::Payload,
    ) -> (Mode, Option<String>) {
        let (provider, mode) = (options.provider, Mode::Full);
        let request = PayloadRequest { catalog, profile, provider, mode, options };
        let named = match self.target.mode {
            Some(choice) => Mode::named(choice),
            None if self.pick.is_wanted() => Some(Mode::Full),
            None => Mode::named(options.mode),
        };
        report::mode_of(&request, named)
    }

    /// Notes, and headers unless they are on stdout: a payload that needs one never goes without saying so.
    fn print_notes(&self, io: &Io, payload: &Payload<'_>) {
        payload.notes.iter().for_each(|note| io.note(note));
        for header in payload.headers.iter().filter(|_| !self.headers && !self.json) {
            let RequestHeader { name, value, reason } = header;
            io.note(format!("send the header `{name}: {value}` with this payload, for {reason}"));
        }
    }

    fn text(&self, provider: Provider, payload: Payload<'_>) -> serde_json::Result<String> {
        if self.headers {
            let lines = payload.headers.iter().map(|header| format!("{}: {}\n", header.name, header.value));
            return Ok(lines.collect());
        }
        let printed = match self.json {
            true => json!({
                "provider": provider.as_str(), "mode": payload.mode.as_str(),
                "headers": serde_json::to_value(&payload.headers)?, "notes": payload.notes, "body": payload.body
            }),
            false => payload.body,
        };
        Ok(if self.pretty { format!("{printed:#}\n") } else { format!("{printed}\n") })
    }
}

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
        let templates = templates(&self.catalog, &checked, None)?;
        let configured = checked.catalog.config.payload;
        let deferred = self.deferred.unwrap_or(configured.deferred);
        let provider = self.provider.unwrap_or(configured.provider);
        let wanted = self.mode(io, &checked.catalog, &profile, provider);
        let mode = provider.mode(wanted);
        if mode != wanted {
            let (provider, mode) = (provider.as_str(), mode.as_str());
            io.note(format!("{provider} cannot defer tools by itself; this is for the mode {mode}"));
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
            io.note(format!(
                "the rules alone are over the budget of {budget} tokens; the section takes {taken}"
            ));
        }
        io.print(&format!("{text}\n"))?;
        complete(&checked)
    }

    /// The mode, and for `auto` a note that says why.
    fn mode(&self, io: &Io, catalog: &Catalog, profile: &Profile<'_>, provider: Provider) -> Mode {
        let options = catalog.config.payload;
        let request = PayloadRequest { catalog, profile, provider, mode: Mode::Full, options };
        let named = Mode::named(self.mode.unwrap_or(options.mode));
        let (mode, reason) = report::mode_of(&request, named);
        reason.iter().for_each(|note| io.note(note));
        mode
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

/// Reason why there is no payload, and the next step.
pub(super) fn refused(error: PayloadError) -> CommandError {
    let message = format!("{error}\n  help: {}", error.hint());
    failed(message)
}

// The cost of tools.

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
        let templates = templates(&self.catalog, &checked, None)?;
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

// `--pick`: chooses the tools that an input may need, before they are bound.

/// Options of `pick`.
#[derive(Debug, clap::Args)]
pub(super) struct PickArgs {
    /// Bind in full the tools that this input may need: a text, or JSON such as the messages so far.
    ///
    /// No other tool is bound, unless --mode names a mode for them.
    #[arg(long, value_name = "INPUT")]
    pick: Option<String>,
    /// Most tools to pick.
    #[arg(long, value_name = "N", default_value_t = 3, requires = "pick", value_parser = clap::value_parser!(u16).range(1..))]
    max: u16,
    /// Least score of a picked tool, from 0 to 1.
    #[arg(long, hide_short_help = true, value_name = "SCORE", default_value_t = 0.05, requires = "pick", value_parser = share)]
    min_score: f32,
    /// Pick tools that are marked unsafe too.
    #[arg(long, hide_short_help = true, requires = "pick")]
    allow_unsafe: bool,
    /// The scorer: words, vectors ([search.semantic]), both, or a chat model ([search.llm]).
    #[arg(long, hide_short_help = true, value_name = "NAME", default_value = "keyword", requires = "pick", value_parser = word::<ScorerKind>())]
    scorer: ScorerKind,
}

impl PickArgs {
    /// Whether tools are to be picked.
    pub(super) fn is_wanted(&self) -> bool {
        self.pick.is_some()
    }

    /// The profile with the picked tools, and without the others where the mode would bind those in full too.
    pub(super) fn apply<'c>(
        &self,
        io: &Io,
        args: &CatalogArgs,
        checked: &'c Checked,
        profile: Profile<'c>,
        mode: Mode,
    ) -> Result<Profile<'c>, CommandError> {
        let Some(input) = &self.pick else { return Ok(profile) };
        let picked = self.picked(io, args, checked, profile.name, input)?;
        let mut profile = profile.with_picked(&|tool| picked.contains(&tool.name));
        if mode == Mode::Full {
            profile.tools.retain(|entry| picked.contains(&entry.tool.name));
        }
        Ok(profile)
    }

    /// Names of the tools that fit best; the reasons go to stderr.
    fn picked(
        &self,
        io: &Io,
        args: &CatalogArgs,
        checked: &Checked,
        profile: Option<&str>,
        input: &str,
    ) -> Result<HashSet<String>, CommandError> {
        let templates = Templates::load(None).map_err(failed)?;
        let view = CatalogView::new(&checked.catalog, profile, None, Arc::new(templates))?;
        let runtime = super::runtime()?;
        let (services, waiting) = super::services::for_command(io, args, &checked.catalog);
        let context = FunctionContext { services: Arc::new(services), ..FunctionContext::of(Arc::new(view)) };
        let options = pick::Options {
            max_candidates: usize::from(self.max),
            min_score: self.min_score,
            allow_unsafe: self.allow_unsafe,
            ..pick::Options::default()
        };
        let chosen = runtime.block_on(context.pick(read(input)?, self.scorer, &options));
        waiting.iter().for_each(Spinner::finish);
        let chosen = chosen.map_err(|refusal| {
            CommandError::Usage(format!("{}\n  help: {}", refusal.message, refusal.next_action))
        })?;
        chosen.picks.fallback.iter().for_each(|fallback| io.note(clean_line(fallback)));
        let candidates = match chosen.verdict {
            Verdict::Match | Verdict::Unsure => chosen.picks.candidates,
            Verdict::NoMatch => {
                self.print_nearest(io, &chosen.picks.candidates, chosen.unsafe_tools);
                Vec::new()
            }
        };
        for picked in &candidates {
            let reason = picked.reason.as_deref().map(clean_line).unwrap_or_default();
            io.note(format!("picked {} ({:.2}): {reason}", picked.tool.name, picked.score));
        }
        if chosen.unsafe_tools > 0 {
            let unsafe_tools = counted(chosen.unsafe_tools, "unsafe tool");
            io.note(format!("{unsafe_tools} left out; --allow-unsafe lets them be picked"));
        }
        Ok(candidates.into_iter().map(|picked| picked.tool.name.clone()).collect())
    }

    /// Prints that no tool was picked, and the nearest ones.
    fn print_nearest(&self, io: &Io, nearest: &[Picked], unsafe_tools: usize) {
        if nearest.is_empty() {
            return io.note(format!("no tool is picked: {}", hint(unsafe_tools)));
        }
        let tools: Vec<String> =
            nearest.iter().map(|near| format!("{} ({:.2})", near.tool.name, near.score)).collect();
        io.note(format!("no tool is picked: none fits; the nearest are {}", tools.join(", ")));
        io.note(match self.scorer {
            ScorerKind::Llm => "say the task as an action and its object, or score by `keyword`",
            _ => {
                "say the task as an action and its object; `no_match_below = 0` under [search] in toolcrib.toml binds the nearest"
            }
        });
    }
}

/// JSON where it is an object or a list, else text.
fn read(input: &str) -> Result<Value, CommandError> {
    match from_json(input) {
        Ok(json) if json.is_object() || json.is_array() => Ok(json),
        Err(error) if error.is_data() => Err(CommandError::Usage(format!("in the input {error}"))),
        _ => Ok(input.into()),
    }
}

fn share(text: &str) -> Result<f32, String> {
    let share: f32 = text.parse().map_err(|_| "this is no number".to_string())?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("a score lies between 0 and 1".into()) }
}

// `parse` and `results`: what comes back from a provider, and what goes back to it.

/// Longest input, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Print the calls of a provider's response, each checked against its schema.
///
/// Reads the response from stdin, and prints a JSON list with one entry per call, in order: `name`, `call_id`, and either `args` or `error`. An error
/// names the place, the expected value, and the doc to read. `repaired` lists every change made to the arguments; a
/// call of a tool without a schema has `"validated": false` where its no-schema mode allows it.
///
/// Exit code 1 with the list printed when a call has an error, and with nothing printed when the body cannot be read.
/// A response without calls gives an empty list.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Try it:\n  toolcrib parse tools.json --provider anthropic < response.json\n  toolcrib parse . --provider ollama --pretty < response.json"
)]
pub(super) struct ParseArgs {
    #[command(flatten)]
    catalog: CatalogArgs,
    /// The provider of the response; default: the configured one.
    #[arg(long, value_name = "NAME", value_parser = word::<Provider>())]
    provider: Option<Provider>,
    /// Accept calls of this profile's tools only; any other tool is unknown.
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// Indent, for people.
    #[arg(long)]
    pretty: bool,
}

impl ParseArgs {
    pub(super) fn run(self, io: &Io) -> CommandResult {
        let body = stdin(io)?;
        let checked = self.catalog.open_at_turn(io)?;
        let provider = self.provider.unwrap_or(checked.catalog.config.payload.provider);
        let profile = checked.catalog.profile(self.profile.as_deref())?;
        let parser = Parser::of_profile(&checked.catalog, &profile, provider);
        let entries = parser.parse(&body).map_err(failed)?;
        let is_wrong = entries.iter().any(|entry| entry.outcome.is_err());
        let entries = match is_wrong.then(|| repair(io, &self.catalog, &checked.catalog)).flatten() {
            Some(Ok(model)) => entries.into_iter().map(|entry| parser.repair(entry, &model)).collect(),
            Some(Err(error)) => {
                io.note(format!("no call is repaired: {error}"));
                entries
            }
            None => entries,
        };
        io.print(&listed(&entries, self.pretty)?)?;
        let wrong = entries.iter().filter(|entry| entry.outcome.is_err()).count();
        if wrong == 0 {
            return Ok(());
        }
        Err(failed(format!("{wrong} of {} cannot be run", counted(entries.len(), "call"))))
    }
}

/// The list, one entry a line.
fn listed(entries: &[CallEntry<'_>], pretty: bool) -> Result<String, CommandError> {
    if pretty || entries.is_empty() {
        return serde_json::to_string_pretty(entries).map(|text| text + "\n").map_err(failed);
    }
    let lines: Result<Vec<String>, serde_json::Error> = entries.iter().map(serde_json::to_string).collect();
    Ok(format!("[\n{}\n]\n", lines.map_err(failed)?.join(",\n")))
}

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
        let input = stdin(io)?;
        let checked = self.catalog.open_at_turn(io)?;
        let provider = self.provider.unwrap_or(checked.catalog.config.payload.provider);
        let answered = AnsweredCalls::read(&input, provider).map_err(failed)?;
        let profile = checked.catalog.profile(self.profile.as_deref())?;
        let message = answered.messages(&checked.catalog, &profile).map_err(refused)?;
        io.print(&if self.pretty { format!("{message:#}\n") } else { format!("{message}\n") })
    }
}

/// The whole of stdin, which is text.
fn stdin(io: &Io) -> Result<String, CommandError> {
    let mut text = String::new();
    match io.stdin().by_ref().take(MAX_BYTES + 1).read_to_string(&mut text) {
        Err(error) => Err(unreadable(error.to_string())),
        Ok(size) if size as u64 > MAX_BYTES => {
            Err(unreadable(format!("it is longer than {} MB", MAX_BYTES >> 20)))
        }
        Ok(_) => Ok(text),
    }
}

fn unreadable(what: String) -> CommandError {
    failed(format!("cannot read stdin: {what}"))
}

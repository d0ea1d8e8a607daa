//! `toolcrib.toml`: read with places, checked, and passed on as plain values.
//!
//! 1. [`mod@read`] finds the configuration of a catalog, and reads it field by field.
//! 2. [`Selector`]s pick tools by name, category, tag, source, server or effect.
//! 3. [`Overlay`]s add fields to imported tools; presets are overlays that ship with toolcrib.
//! 4. [`client`] reads the configuration of an MCP client in its place.

mod client;
mod overlay;
mod payload;
mod read;
mod serve;
mod server;

use std::path::PathBuf;
use std::time::Duration;

pub use client::client_format;
use indexmap::IndexMap;
pub use overlay::{Facts, InvalidSelector, Overlay, Selector, Selectors, SetArgument, schemas_for_editors};
pub use payload::{Deferred, Mode, ModeChoice, Payload, Provider, Repair, SearchBy};
pub(crate) use read::leads_out;
pub use read::{FetchError, LeftOut, NAME_IT, Workspace, at_address, read, read_found};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use serve::{
    IssuerGrant, Network, Serve, ServeIssuer, ServeLimits, ServeMode, ServeProxy, ServeToken, ToolList,
    is_safe_address,
};
pub use server::{ActsAs, Server, ServerAuth, Start};
pub use server::{Environment, MissingVariable, env_line, env_variables};

use toolcrib_definition::{DescriptionMode, Effect, clean_line, matches_glob};

/// The name that stands for every profile in `profiles` of the server and of grants.
pub const EVERY_PROFILE: &str = "*";

/// The configuration of a catalog. Everything is optional.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, title = "toolcrib.toml")]
pub struct Config {
    /// The file with this configuration, where there is one.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// The title of the catalog on its pages.
    pub title: Option<String>,
    /// A file of environment variables for servers, `NAME=value` on each line, relative to the configuration. They win over
    /// those of the environment.
    pub env_file: Option<PathBuf>,
    /// Overlays that ship with toolcrib, applied before your own: `buildos`.
    pub presets: Vec<String>,
    /// The description mode of tools that no more specific setting covers.
    pub description_mode: Option<DescriptionMode>,
    /// Longest short description.
    pub short_description: ShortDescription,
    /// Sources of definitions; without any, all definition files beside this file.
    #[serde(rename = "source")]
    pub sources: Vec<Source>,
    /// Fields added to tools of a source; later overlays win.
    #[serde(rename = "overlay")]
    pub overlays: Vec<Overlay>,
    /// Categories with their own summary or tags.
    #[serde(rename = "category")]
    pub categories: Vec<Category>,
    /// The profiles: one set of tools for each kind of agent.
    #[serde(rename = "profile")]
    pub profiles: IndexMap<String, Profile>,
    /// Severities of findings, and findings to leave out.
    pub lint: Lint,
    /// Settings of the documentation.
    pub render: Render,
    /// Settings of payloads.
    pub payload: Payload,
    /// A model that may repair a call once; unset, no call is repaired by a model.
    pub repair: Option<Repair>,
    /// Settings of search.
    pub search: Search,
    /// Settings of the server.
    pub serve: Serve,
    /// The servers that run tools, by the names that backends use for them.
    #[serde(rename = "server")]
    pub servers: IndexMap<String, Server>,
    /// Settings of calls.
    pub exec: Exec,
    /// Where people learn of calls that wait for them.
    pub approval: ApprovalNotice,
    /// Where traces and metrics are sent.
    pub telemetry: Telemetry,
    /// The place of state: keys, approvals, sessions, traces.
    pub state: State,
    /// Labelled queries, and the thresholds of search.
    pub eval: Eval,
}

/// The cap on short descriptions; the tighter limit counts.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ShortDescription {
    /// In characters.
    pub max_chars: usize,
    /// In tokens, estimated.
    pub max_tokens: usize,
}

impl Default for ShortDescription {
    fn default() -> Self {
        Self { max_chars: 120, max_tokens: 30 }
    }
}

impl Config {
    /// The file to edit, for messages: by its path for the person of this machine, and by its name for others.
    pub fn place(&self, is_here: bool) -> String {
        let path = self.file.as_ref().filter(|_| is_here);
        path.map_or("toolcrib.toml".into(), |path| path.display().to_string())
    }

    /// The live MCP servers among the sources, each with its name as in findings, `mcp:NAME`.
    pub fn live_sources(&self) -> impl Iterator<Item = (String, &Source)> {
        let sources = self.sources.iter().enumerate();
        sources
            .filter(|(_, source)| source.mcp.as_ref().is_some_and(|server| server.problem().is_none()))
            .map(|(index, source)| {
                let name = source.server.clone().unwrap_or_else(|| (index + 1).to_string());
                (format!("mcp:{name}"), source)
            })
    }
}

/// A source of definitions.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Source {
    /// A file, a folder or a glob, relative to the configuration; or the `https://` address of a `registry.json`.
    pub path: String,
    /// A live MCP server instead of a path.
    pub mcp: Option<Server>,
    /// The server that the tools belong to, when the source does not say.
    pub server: Option<String>,
    /// The category of tools that have none.
    pub category: Option<String>,
    /// Whether the names of its tools begin with its server: `server__tool`. The default is yes for a client's
    /// configuration and for several live servers, and no for any other source.
    pub prefix: Option<bool>,
    /// The tools of its live server that are there, by name or glob; `!` before a name leaves tools out. When empty, all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Whether the address of an API is the one that its OpenAPI document names first, where no `[server.NAME]` has another.
    pub base_url_from: Option<BaseUrlFrom>,
    /// Place of its server in the configuration of a client.
    #[serde(skip)]
    pub pointer: Option<String>,
    /// Tools of its server that the client uses, where the client's file or `tools` restricts them.
    #[serde(skip)]
    pub filter: Option<ToolFilter>,
    /// Whether its definitions may name programs and environment variables: `run`, or `read` when absent.
    #[serde(skip_serializing_if = "Trust::is_read")]
    pub trust: Trust,
}

/// The tools of a server that a client uses. A `*` in a name stands for any text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// The setting in the client's file.
    pub key: String,
    /// Lists that must all have the tool.
    pub allowed: Vec<Vec<String>>,
    /// Tools that are switched off.
    pub denied: Vec<String>,
    /// Tools that are switched off by a name with a prefix: the prefix, and the whole name.
    pub denied_with_prefix: Vec<(String, String)>,
    /// The place of a rule that only the client can apply, since it asks a person, or knows its project or agent.
    pub of_client: Option<String>,
}

impl ToolFilter {
    /// The filter of a list in which `!` before a name leaves tools out; `None` for an empty list.
    pub(super) fn of_list(names: &[String]) -> Option<Self> {
        let (denied, allowed): (Vec<&String>, Vec<&String>) =
            names.iter().partition(|name| name.starts_with('!'));
        let allowed: Vec<String> = allowed.into_iter().cloned().collect();
        (!names.is_empty()).then(|| Self {
            key: "tools".into(),
            allowed: if allowed.is_empty() { Vec::new() } else { vec![allowed] },
            denied: denied.into_iter().map(|name| name[1..].to_string()).collect(),
            ..Self::default()
        })
    }

    /// The same as a list of that form for this server; `None` where no list says it.
    pub fn as_list(&self) -> Option<Vec<String>> {
        let mut names = match &self.allowed[..] {
            [] => Vec::new(),
            // Nothing is allowed.
            [only] if only.is_empty() => vec!["!*".to_string()],
            [only] => only.clone(),
            _ => return None,
        };
        names.extend(self.denied.iter().map(|name| format!("!{name}")));
        for (prefix, name) in &self.denied_with_prefix {
            names.push(format!("!{}", name.strip_prefix(prefix)?));
        }
        names.iter().all(|name| name.rfind('!').is_none_or(|at| at == 0)).then_some(names)
    }

    /// Its names, without their prefix, that match no tool of the server.
    pub fn unmatched<'f>(&'f self, tools: &[&str]) -> Vec<&'f str> {
        let with_prefix =
            self.denied_with_prefix.iter().filter_map(|(prefix, name)| name.strip_prefix(prefix.as_str()));
        let names = self.allowed.iter().flatten().chain(&self.denied).map(String::as_str).chain(with_prefix);
        names.filter(|name| *name != "*" && !tools.iter().any(|tool| matches_glob(name, tool))).collect()
    }

    /// Returns true if the client uses the tool with this name.
    pub fn allows(&self, tool: &str) -> bool {
        let has = |names: &[String]| names.iter().any(|name| matches_glob(name, tool));
        self.allowed.iter().all(|names| has(names))
            && !has(&self.denied)
            && !self
                .denied_with_prefix
                .iter()
                .any(|(prefix, name)| matches_glob(name, &format!("{prefix}{tool}")))
    }
}

impl Source {
    /// The address of its registry; `None` for files and live servers.
    pub fn address(&self) -> Option<&str> {
        let is_address = self.path.starts_with("https://") || self.path.starts_with("http://");
        (is_address && self.mcp.is_none()).then_some(&*self.path)
    }
}

/// An address without its query, which may be secret.
pub fn shown_address(address: &str) -> String {
    clean_line(address.split(['?', '#']).next().unwrap_or_default())
}

/// The origin of an API's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BaseUrlFrom {
    /// The OpenAPI document.
    Document,
}

/// Trust of the operator in the definitions of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// The tools are documented. Programs that they name are not run, and a read effect is only a claim.
    #[default]
    Read,
    /// The definitions count as if the operator had written them.
    Run,
}

impl Trust {
    fn is_read(&self) -> bool {
        *self == Trust::Read
    }
}

/// Summary and tags of a category.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["path"]))]
pub struct Category {
    /// Its path, such as `Storage/Buckets`.
    pub path: String,
    /// The purpose of its tools, in one line. Derived when absent.
    pub summary: Option<String>,
    /// Labels to filter by. The most frequent tags of its tools when absent.
    pub tags: Vec<String>,
}

/// The set of tools that one kind of agent gets.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Profile {
    /// The kind of agent that it is for.
    pub description: Option<String>,
    /// Tools to take; all when empty.
    pub include: Selectors,
    /// Tools to leave out of the ones taken.
    pub exclude: Selectors,
    /// Core tools, bound in full whatever their own mode.
    pub full: Selectors,
    /// Tools that are deferred whatever their own mode; wins over `full`.
    pub deferred: Selectors,
    /// The description mode of the profile's tools without a more specific setting.
    pub description_mode: Option<DescriptionMode>,
    /// The strongest effect of its calls, where it is less than `[exec] allow`.
    pub allow: Option<Effect>,
}

impl Profile {
    /// Its lists of tools, by the names of their settings.
    pub(crate) fn lists(&self) -> [(&'static str, &Selectors); 4] {
        let Self { include, exclude, full, deferred, .. } = self;
        [("include", include), ("exclude", exclude), ("full", full), ("deferred", deferred)]
    }
}

/// Severities of findings, and findings to leave out.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Lint {
    /// Severity by finding code.
    pub severity: IndexMap<String, LintLevel>,
    /// Findings to leave out.
    pub ignore: Vec<Ignore>,
}

/// A configured severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LintLevel {
    /// `check` exits 1.
    Error,
    /// Reported.
    Warning,
    /// Reported only with `--verbose`.
    Info,
    /// Not reported.
    Off,
}

/// Findings to leave out.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["code"]))]
pub struct Ignore {
    /// The finding code.
    pub code: String,
    /// The tools for which it is left out; all when empty.
    #[serde(rename = "match")]
    pub tools: Selectors,
    /// The reason, for the next reader.
    pub reason: Option<String>,
}

/// Settings of the documentation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Render {
    /// A folder of templates that replace the built-in ones one by one, relative to the configuration.
    pub templates: Option<PathBuf>,
    /// Most tools that the index lists one by one; above that it lists category pages.
    pub index_tools: usize,
    /// The size that no index page exceeds, in tokens.
    pub page_tokens: usize,
}

impl Default for Render {
    fn default() -> Self {
        Self { templates: None, index_tools: 150, page_tokens: 1400 }
    }
}

// Labelled queries of a catalog, and the thresholds that search must reach on them.

/// Labelled queries of the catalog, and thresholds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Eval {
    /// Files of labelled queries, relative to the configuration.
    pub queries: Vec<PathBuf>,
    /// The least percentage of each measure, which each file must reach: `recall_1`, `recall_5`, `ndcg`, `refused`.
    pub at_least: IndexMap<String, f64>,
}

// Presets: overlays that ship with toolcrib.

const PRESETS: [(&str, &str); 1] = [("buildos", include_str!("presets/buildos.toml"))];

/// The names that `presets` may hold.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The overlays of a preset, in order; `None` when there is no such preset.
pub(crate) fn preset(name: &str) -> Option<Vec<Overlay>> {
    #[derive(Deserialize)]
    struct Preset {
        overlay: Vec<Overlay>,
    }
    let (_, text) = PRESETS.iter().find(|(known, _)| *known == name)?;
    toml::from_str::<Preset>(text).ok().map(|preset| preset.overlay)
}

// Settings of state: idempotency keys, approvals, sessions, traces.

/// The place of state. Without `url` it is in memory, and lost when the process ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct State {
    /// A file for SQLite, relative to the configuration, or `postgres://...`, in which `${NAME}` stands for the
    /// environment variable `NAME`.
    pub url: Option<String>,
    /// Days that state is kept.
    #[schemars(range(min = 1))]
    pub days: u64,
    /// Names of arguments whose values are not recorded, beside the plainly secret ones; `*` stands for anything.
    pub redact: Vec<String>,
    /// Behaviour of calls while the trace cannot be written.
    pub when_unwritable: WhenUnwritable,
}

/// Behaviour of calls while the trace cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenUnwritable {
    /// Calls that change something are refused.
    #[default]
    RefuseWrites,
    /// They run, and are missing from the trace; calls with an idempotency key are refused all the same.
    GoOn,
}

impl Default for State {
    fn default() -> Self {
        Self { url: None, days: 30, redact: Vec::new(), when_unwritable: WhenUnwritable::RefuseWrites }
    }
}

// Settings of calls: the strongest effect allowed, docs to read before, limits of time and size.

/// Settings of calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Exec {
    /// The strongest effect that a call may have: `read`, `write` or `destructive`. Profiles, tokens and sessions may
    /// allow less. When absent, `read`; but a tool of a live server that a client lists by its own name runs over stdio as if
    /// the client had started the server itself, since the client asks its person.
    pub allow: Option<Effect>,
    /// Where a person approves calls first: in the client, if it can ask, or on the command line alone. When absent, in a client
    /// that has started toolcrib over stdio, and for others on the command line.
    pub approve_in: Option<ApprovalPlace>,
    /// The calls for which the session must have read the doc of the tool before.
    pub require_doc: RequireDoc,
    /// The longest result that is returned whole, in bytes; the rest of a longer one is read with `read_result`.
    #[schemars(range(min = 256))]
    pub result_bytes: usize,
    /// Longest silence during a call in seconds, unless its server or program sets a limit. None when absent.
    #[schemars(range(min = 1, max = 86_400))]
    pub call_seconds: Option<u64>,
    /// Whether to believe an untrusted source that claims a tool only reads, by the `server` of its `[[source]]`;
    /// `"*"` is all others.
    pub trust_hints: IndexMap<String, TrustHints>,
}

/// The place where a person approves calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalPlace {
    /// The client, by MCP elicitation, and then the command line.
    Client,
    /// The command line: `toolcrib approvals`.
    Command,
}

/// Traces and metrics of OpenTelemetry. Needs a toolcrib that was built with the feature `otel`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Telemetry {
    /// The address of an OTLP receiver over HTTP, such as `http://localhost:4318`.
    pub otlp: Option<String>,
}

/// Notices about calls that wait for a person, for people who are elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ApprovalNotice {
    /// The address that gets a POST with each new call that waits, without its arguments.
    pub webhook: Option<String>,
    /// The secret that signs each POST with HMAC-SHA256, in the headers of Standard Webhooks; `${NAME}` stands for the
    /// environment variable `NAME`.
    pub secret: Option<String>,
}

impl ApprovalNotice {
    /// The first mistake in these settings, with its field; `None` without a mistake.
    fn problem(&self) -> Option<(String, &'static str)> {
        match (&self.webhook, &self.secret) {
            (Some(url), _) if !is_safe_address(url) => {
                Some(("webhook".into(), "this should be an https address, or an http one of this machine"))
            }
            (Some(_), None) => Some(("secret".into(), "set `secret`, so that the receiver knows the sender")),
            _ => None,
        }
    }
}

/// Whether to believe a definition, a live server or an HTTP method that claims a tool only reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrustHints {
    /// Yes, unless the name or the request of the tool writes or deletes; then the stricter reading counts.
    #[default]
    Checked,
    /// Always.
    Always,
    /// Never; the name of the tool decides.
    Never,
}

/// The calls for which the doc of the tool must have been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RequireDoc {
    /// No calls.
    #[default]
    Never,
    /// Calls that change something.
    Write,
    /// Calls that cannot be undone.
    Destructive,
    /// All.
    Always,
}

impl Default for Exec {
    fn default() -> Self {
        Self {
            allow: None,
            approve_in: None,
            require_doc: RequireDoc::Never,
            result_bytes: 32 * 1024,
            call_seconds: None,
            trust_hints: IndexMap::new(),
        }
    }
}

impl Exec {
    /// The strongest effect that a call may have, where no client has asked its person.
    pub fn allow(&self) -> Effect {
        self.allow.unwrap_or(Effect::Read)
    }

    /// Longest silence during a call; `MAX` without a limit.
    pub fn longest_silence(&self) -> Duration {
        self.call_seconds.map_or(Duration::MAX, Duration::from_secs)
    }

    /// Whether to believe a read effect of a tool that claims the server `claimed`, from a source that the operator
    /// calls `named`. Only the operator's own name gives more than the default.
    pub fn trust_hints(&self, named: Option<&str>, claimed: Option<&str>) -> TrustHints {
        let of = |name: Option<&str>| name.and_then(|name| self.trust_hints.get(name)).copied();
        if of(claimed) == Some(TrustHints::Never) {
            return TrustHints::Never;
        }
        of(named).or_else(|| of(Some("*"))).unwrap_or_default()
    }
}

impl RequireDoc {
    /// Whether a call with this effect needs the doc read.
    pub fn covers(self, effect: Effect) -> bool {
        match self {
            RequireDoc::Never => false,
            RequireDoc::Write => effect >= Effect::Write,
            RequireDoc::Destructive => effect >= Effect::Destructive,
            RequireDoc::Always => true,
        }
    }
}

// Settings of search: synonyms, and models that help.

/// Settings of search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Search {
    /// Synonyms of this catalog: a query with the key also finds tools with one of the values.
    pub synonyms: IndexMap<String, Vec<String>>,
    /// The least probability that any tool fits; below it the answer is `no_match`. 0 never gives it.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub no_match_below: Option<f64>,
    /// Most tokens that the usage of hits, and help on the first, add to an answer of `tool_search`; its queries share them.
    /// With 0 hits are pointers alone.
    pub usage_tokens: usize,
    /// A model that measures how near two texts are in meaning; unset, search goes by words alone.
    pub semantic: Option<SearchSemantic>,
    /// A chat model for the scorer `llm` of `pick`; optional.
    pub llm: Option<SearchModel>,
}

impl Default for Search {
    fn default() -> Self {
        let synonyms = IndexMap::new();
        let usage_tokens = 600;
        Self { synonyms, no_match_below: None, usage_tokens, semantic: None, llm: None }
    }
}

/// A model that turns texts into vectors, behind an OpenAI-compatible API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["url", "model"]))]
pub struct SearchSemantic {
    /// The base of the API, which has `/v1/embeddings`, such as `http://localhost:11434/v1`.
    pub url: String,
    /// The model to ask.
    pub model: String,
    /// The environment variable that holds the API key, if one is needed.
    pub key_env: Option<String>,
    /// Longest wait for the vector of a query, in milliseconds, before the search goes on with words alone.
    #[schemars(range(min = 1, max = 60_000))]
    pub timeout_ms: u64,
    /// A folder, relative to the configuration, in which vectors of tools are kept between starts.
    pub cache: Option<PathBuf>,
}

impl Default for SearchSemantic {
    fn default() -> Self {
        Self { url: String::new(), model: String::new(), key_env: None, timeout_ms: 300, cache: None }
    }
}

impl SearchSemantic {
    /// Longest wait for the vector of a query.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    /// The first mistake in these settings, and its field.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        problem_of_api(&self.url, &self.model)
    }
}

/// A chat model behind an OpenAI-compatible API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["url", "model"]))]
pub struct SearchModel {
    /// The base of the API, such as `http://localhost:8000/v1`.
    pub url: String,
    /// The model to ask.
    pub model: String,
    /// The environment variable that holds the API key, if one is needed.
    pub key_env: Option<String>,
    /// Longest wait for its answer, in milliseconds.
    #[schemars(range(min = 1, max = 600_000))]
    pub timeout_ms: u64,
}

impl Default for SearchModel {
    fn default() -> Self {
        Self { url: String::new(), model: String::new(), key_env: None, timeout_ms: 10_000 }
    }
}

impl SearchModel {
    /// The first mistake in these settings, and its field.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        problem_of_api(&self.url, &self.model)
    }
}

/// The first mistake in the address of an API and the name of its model, and its field.
fn problem_of_api(url: &str, model: &str) -> Option<(&'static str, String)> {
    if let Some(problem) = url_problem(url) {
        return Some(("url", problem));
    }
    model.trim().is_empty().then(|| ("model", "`model` names the model to ask".into()))
}

fn url_problem(url: &str) -> Option<String> {
    let Some(rest) = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")) else {
        return Some("`url` must start with http:// or https://".into());
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.contains('@') {
        return Some("`url` holds a password; name an environment variable with `key_env` instead".into());
    }
    host.is_empty().then(|| "`url` names no host".into())
}

#[cfg(test)]
mod tests {

    #[test]
    fn every_preset_can_be_read() {
        for name in super::preset_names() {
            let overlays = super::preset(name).unwrap();
            assert!(
                overlays.iter().all(|overlay| !overlay.tools.is_empty() && overlay.tools.errors().is_empty())
            );
        }
    }
}

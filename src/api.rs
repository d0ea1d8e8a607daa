//! The public interface: a catalog and its jobs. The command line calls the same stages.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Map, Value};

use toolcrib_catalog::arguments::Repair;
use toolcrib_catalog::config::Mode;
use toolcrib_catalog::{self as catalog, CategoryTree, Checked, Resolved, Tool, UnknownProfile, config};
use toolcrib_definition::Effect;
use toolcrib_definition::finding::{Document, Finding, Format as Notation};
use toolcrib_definition::guard::locked;
pub use toolcrib_docs::WorkspaceTemplate;
use toolcrib_docs::help::{self, Format, Groups, HelpOptions, beginning, directory, of_tool};
use toolcrib_docs::{
    self as render, Around, Doc, Docs, PromptSection, RenderError, Seeded, TemplateError, Templates,
    ValueError, folder,
};
use toolcrib_providers::call::{CallEntry, CallError, ParseError, Parser};
use toolcrib_providers::report::ReportError;
use toolcrib_providers::{
    self as provider, PayloadError, PayloadRequest, Provider, ProviderFormat, RequestHeader, ToolResult,
    report,
};
use toolcrib_search::{Hit, Index, IndexEntry, SearchRequest, Verdict};

/// A checked catalog of tools, with its configuration and templates. It never changes: open it again after an edit.
#[derive(Debug)]
pub struct Catalog {
    checked: Checked,
    templates: Templates,
    index: OnceLock<Index>,
    profiles: Profiles,
}

impl Catalog {
    /// Opens a `toolcrib.toml`, a folder, or one file of definitions in any known format. Live servers are not
    /// contacted. Definitions that are wrong become [`Catalog::findings`], and the others are there.
    ///
    /// ```
    /// let catalog = toolcrib::Catalog::open("examples/github")?;
    /// assert_eq!(catalog.tools().count(), 117);
    /// # Ok::<(), toolcrib::Error>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        if !path.exists() {
            return Err(Error::CatalogMissing(path.to_path_buf()));
        }
        Self::of(config::read(path))
    }

    /// Opens definitions that a program holds as JSON, in any known format, with the settings of a `toolcrib.toml` and
    /// without its sources.
    ///
    /// ```
    /// let tools = r#"[{ "name": "greet", "description": "Greets.", "inputSchema": { "type": "object" } }]"#;
    /// let catalog = toolcrib::Catalog::from_json(tools, None)?;
    /// assert_eq!(catalog.tools().count(), 1);
    /// # Ok::<(), toolcrib::Error>(())
    /// ```
    pub fn from_json(definitions: &str, config: Option<&Path>) -> Result<Self, Error> {
        let workspace = match config {
            Some(path) if !path.exists() => return Err(Error::CatalogMissing(path.to_path_buf())),
            Some(path) => config::read(path),
            None => config::Workspace::default(),
        };
        let mut workspace = workspace.without_files();
        match Document::parse("definitions.json", definitions.into(), Notation::Json) {
            Ok(document) => workspace.definitions = Some(document),
            Err(finding) => workspace.findings.push(finding),
        }
        Self::of(workspace)
    }

    fn of(workspace: config::Workspace) -> Result<Self, Error> {
        let templates = Templates::of(&workspace.config.render, &workspace.root)?;
        Ok(Self {
            checked: catalog::open(workspace),
            templates,
            index: OnceLock::new(),
            profiles: Profiles::default(),
        })
    }

    /// The checked catalog and its templates, for bindings in other languages, which call the stages as the command
    /// line does.
    #[doc(hidden)]
    pub fn stages(&self) -> (&Checked, &Templates) {
        (&self.checked, &self.templates)
    }

    /// The hash of all content; the same content has the same version.
    pub fn version(&self) -> &str {
        &self.checked.catalog.version
    }

    /// Whether all input could be read. Otherwise a tool that is not here may be in what could not.
    pub fn is_complete(&self) -> bool {
        self.checked.catalog.complete
    }

    /// Findings on the input, with places and configured severities.
    pub fn findings(&self) -> &[Finding] {
        &self.checked.findings
    }

    /// The tools, in the order of their sources.
    pub fn tools(&self) -> impl Iterator<Item = ToolSummary> {
        self.checked.catalog.tools.iter().map(|tool| summary(tool))
    }

    /// Writes docs of the tools of a profile into a folder, which must be toolcrib's or not exist.
    pub fn render(&self, folder: impl AsRef<Path>, profile: Option<&str>) -> Result<Written, Error> {
        Ok(self.docs(profile)?.write(folder.as_ref(), &|_| {})?.into())
    }

    /// Seeds the workspace of an agent: docs of the tools of a profile below `tools/`, and an `AGENTS.md`.
    pub fn seed(&self, workspace: impl AsRef<Path>, profile: Option<&str>) -> Result<Written, Error> {
        self.seed_with(workspace, profile, &WorkspaceTemplate::default())
    }

    /// Seeds a workspace from a template of your own, with the values of the job that its files name.
    ///
    /// ```no_run
    /// let catalog = toolcrib::Catalog::open("examples/universal-agent")?;
    /// let values = [("job_id".to_string(), "42".into())].into_iter().collect();
    /// let template = toolcrib::WorkspaceTemplate {
    ///     folder: Some("template".into()), values, ..Default::default()
    /// };
    /// catalog.seed_with("workspace", Some("creator"), &template)?;
    /// # Ok::<(), toolcrib::Error>(())
    /// ```
    pub fn seed_with(
        &self,
        workspace: impl AsRef<Path>,
        profile: Option<&str>,
        template: &WorkspaceTemplate,
    ) -> Result<Written, Error> {
        template.check_values()?;
        Ok(render::seed(self.docs(profile)?, workspace.as_ref(), template, &|_| {})?.into())
    }

    /// The doc of one tool, in markdown, by any name that means one tool.
    pub fn doc(&self, name: &str) -> Result<String, Error> {
        self.doc_in(None, name)
    }

    /// Help on one tool, as JSON: `summary`, `usage`, `args`, and a `call` that fits. On a group of tools: the
    /// groups in it, and its ops by their effect (`read`, `write`, `destructive`); the path `root` has all.
    ///
    /// ```
    /// let catalog = toolcrib::Catalog::open("examples/github")?;
    /// assert!(catalog.help("create_issue")?.contains_key("args"));
    /// assert!(catalog.help("issues")?.contains_key("write"));
    /// # Ok::<(), toolcrib::Error>(())
    /// ```
    pub fn help(&self, path: &str) -> Result<Map<String, Value>, Error> {
        self.help_in(None, path)
    }

    /// The part of a request body with the tools.
    ///
    /// ```
    /// use toolcrib::{Catalog, PayloadOptions, Provider};
    ///
    /// let catalog = Catalog::open("examples/github")?;
    /// let payload = catalog.payload(&PayloadOptions::new(Provider::Anthropic).profile("core"))?;
    /// assert!(payload.body["tools"].is_array());
    /// # Ok::<(), toolcrib::Error>(())
    /// ```
    pub fn payload(&self, options: &PayloadOptions) -> Result<Payload, Error> {
        let profile = self.profile(options.profile.as_deref())?;
        let (request, reason) = self.payload_request(options, &profile);
        let provider::Payload { mode, body, findings, headers, mut notes, .. } = provider::payload(request)?;
        notes.extend(reason);
        Ok(Payload { mode, body, findings, headers, notes })
    }

    /// The section of the system prompt that goes with a payload of the same options.
    pub fn prompt(&self, options: &PayloadOptions) -> Result<String, Error> {
        let profile = self.profile(options.profile.as_deref())?;
        let (request, _) = self.payload_request(options, &profile);
        let section = PromptSection {
            mode: options.provider.mode(request.mode),
            deferred: request.options.deferred,
            folder: render::DOCS,
            discovery: request.options.discovery,
            tokens: request.options.prompt_tokens,
        };
        Ok(section.render(&self.checked.catalog, &profile, &self.templates)?)
    }

    /// The calls in the body of a response, each with arguments that fit or with what is wrong with it.
    ///
    /// ```
    /// use toolcrib::{Catalog, Provider};
    ///
    /// let catalog = Catalog::open("examples/github")?;
    /// let response = r#"{"content":[{"type":"tool_use","id":"1","name":"get_me","input":{}}]}"#;
    /// let calls = catalog.parse(Provider::Anthropic, response)?;
    /// assert_eq!(calls[0].name.as_deref(), Some("get_me"));
    /// assert!(calls[0].arguments.is_ok());
    /// # Ok::<(), toolcrib::Error>(())
    /// ```
    pub fn parse(&self, provider: Provider, response: &str) -> Result<Vec<Call>, Error> {
        let entries = Parser::new(&self.checked.catalog, provider).parse(response)?;
        Ok(entries.into_iter().map(Call::from).collect())
    }

    /// The results of calls as the message, or messages, that go back to the provider. For a call that never ran,
    /// the error is sent instead.
    pub fn results(&self, provider: Provider, answered: &[(Call, Option<Value>)]) -> Value {
        let parser = Parser::new(&self.checked.catalog, provider);
        let result = |(call, result): &(Call, Option<Value>)| {
            let told = ToolResult::or_error(result.clone(), call.arguments.as_ref().err());
            let name = parser.emitted(call.name.as_deref().unwrap_or_default()).into_owned();
            ToolResult { call_id: call.call_id.clone(), name, search: call.is_search, ..told }
        };
        let results: Vec<ToolResult> = answered.iter().map(result).collect();
        provider::result_messages(provider, &results)
    }

    /// Tokens that the tools of a profile cost in each mode; without a profile, of all profiles.
    pub fn tokens(&self, provider: Provider, profile: Option<&str>) -> Result<report::Report, Error> {
        let catalog = &self.checked.catalog;
        let payload = config::Payload { provider, ..catalog.config.payload };
        let options = report::Options { profile, mode: None, payload, budget: None };
        Ok(report::report(catalog, &self.templates, options)?)
    }

    /// The tools that fit what somebody wants, by words. The first search makes the index.
    ///
    /// ```
    /// let catalog = toolcrib::Catalog::open("examples/github")?;
    /// let found = catalog.search("open a pull request", 3);
    /// assert_ne!(found.verdict, toolcrib::search::Verdict::NoMatch);
    /// assert_eq!(found.hits[0].tool.name, "create_pull_request");
    /// # Ok::<(), toolcrib::Error>(())
    /// ```
    pub fn search(&self, query: &str, limit: usize) -> Found {
        let catalog = &self.checked.catalog;
        found(catalog, self.index.get_or_init(|| index_of(catalog)), query, limit)
    }

    /// The request of a payload, and for `auto` the reason of its mode.
    fn payload_request<'a>(
        &'a self,
        options: &'a PayloadOptions,
        profile: &'a catalog::Profile<'a>,
    ) -> (PayloadRequest<'a>, Option<String>) {
        let catalog = &self.checked.catalog;
        let configured = catalog.config.payload;
        let mut request = PayloadRequest {
            catalog,
            profile,
            provider: options.provider,
            mode: config::Mode::Full,
            options: configured,
        };
        let (mode, reason) = report::mode_of(&request, options.mode.or(config::Mode::named(configured.mode)));
        request.mode = mode;
        (request, reason)
    }

    fn profile<'a>(&'a self, name: Option<&'a str>) -> Result<catalog::Profile<'a>, Error> {
        Ok(self.checked.catalog.profile(name)?)
    }

    fn docs<'a>(&'a self, profile: Option<&'a str>) -> Result<Docs<'a>, Error> {
        Ok(Docs::new(&self.checked.catalog, self.profile(profile)?, &self.templates))
    }
}

fn summary(tool: &Tool) -> ToolSummary {
    ToolSummary {
        name: tool.name.clone(),
        safe_name: tool.safe_name.clone(),
        op: tool.op.clone(),
        summary: tool.short.clone(),
        effect: tool.effect,
    }
}

// Search, docs and help for the tools of one profile, or of the whole catalog. For a profile nothing else exists: its index is made
// of its own tools, and a tool outside of it is unknown.

/// The tools of a profile with their index, by the name of the profile. Made at the first question.
#[derive(Debug, Default)]
struct Profiles(Mutex<HashMap<String, Arc<OfProfile>>>);

#[derive(Debug)]
struct OfProfile {
    catalog: catalog::Catalog,
    index: OnceLock<Index>,
}

impl Catalog {
    /// The tools of a profile that fit what somebody wants, by words; without a profile, [`Catalog::search`].
    ///
    /// ```
    /// let catalog = toolcrib::Catalog::open("examples/github")?;
    /// let found = catalog.search_in(Some("core"), "open a pull request", 3)?;
    /// assert_eq!(found.hits[0].tool.name, "create_pull_request");
    /// # Ok::<(), toolcrib::Error>(())
    /// ```
    pub fn search_in(&self, profile: Option<&str>, query: &str, limit: usize) -> Result<Found, Error> {
        let Some(name) = profile else { return Ok(self.search(query, limit)) };
        let of_profile = self.of_profile(name)?;
        let index = of_profile.index.get_or_init(|| index_of(&of_profile.catalog));
        Ok(found(&of_profile.catalog, index, query, limit))
    }

    /// The doc of one tool of a profile, in markdown; without a profile, [`Catalog::doc`].
    pub fn doc_in(&self, profile: Option<&str>, name: &str) -> Result<String, Error> {
        let doc = |tool: &Tool| {
            let catalog = &self.checked.catalog;
            Ok(Doc::of(tool, catalog).render(&self.templates, &catalog.version, Around::FUNCTIONS)?)
        };
        match profile {
            Some(profile) => doc(tool_of(&self.of_profile(profile)?.catalog, name)?),
            None => doc(tool_of(&self.checked.catalog, name)?),
        }
    }

    /// Help on one tool or group of a profile, as JSON; without a profile, [`Catalog::help`].
    pub fn help_in(&self, profile: Option<&str>, path: &str) -> Result<Map<String, Value>, Error> {
        match profile {
            Some(profile) => help_of(&self.of_profile(profile)?.catalog, path),
            None => help_of(&self.checked.catalog, path),
        }
    }

    fn of_profile(&self, name: &str) -> Result<Arc<OfProfile>, Error> {
        let known = || locked(&self.profiles.0);
        if let Some(of_profile) = known().get(name) {
            return Ok(Arc::clone(of_profile));
        }
        let whole = &self.checked.catalog;
        let mode = whole.modes(Some(name))?;
        let tools = whole.tools.iter().filter(|tool| mode(tool).is_some()).cloned().collect();
        let of_profile = Arc::new(OfProfile { catalog: whole.with_tools(tools), index: OnceLock::new() });
        Ok(Arc::clone(known().entry(name.to_string()).or_insert(of_profile)))
    }
}

/// The index of the tools of a catalog.
fn index_of(catalog: &catalog::Catalog) -> Index {
    let entries: Vec<IndexEntry> = catalog.tools.iter().map(|tool| IndexEntry::from(&**tool)).collect();
    Index::configured(&entries, &catalog.config.search)
}

/// The tools of a catalog that fit a query; `index` is theirs.
fn found(catalog: &catalog::Catalog, index: &Index, query: &str, limit: usize) -> Found {
    let found = index.find(SearchRequest { query, within: None, limit });
    let verdict = if found.hits.is_empty() { Verdict::NoMatch } else { found.verdict };
    let unmet = if verdict == Verdict::Match { Vec::new() } else { index.unmet(query, &found.hits) };
    let hit = |hit: Hit| {
        let tool = summary(catalog.tools.get(hit.entry)?);
        Some(FoundTool { tool, confidence: hit.confidence, reason: hit.reason })
    };
    let hits = found.hits.into_iter().filter_map(hit).collect();
    Found { verdict, is_complete: catalog.complete, unmet, hits }
}

fn help_of(catalog: &catalog::Catalog, path: &str) -> Result<Map<String, Value>, Error> {
    let options = HelpOptions {
        format: Format::Short,
        examples: false,
        schemas: false,
        short_tokens: help::SHORT_TOKENS,
    };
    let unknown = match tool_of(catalog, path) {
        Ok(tool) => return Ok(of_tool(tool, options)),
        Err(unknown) => unknown,
    };
    let groups = Groups::of(catalog, &CategoryTree::of(catalog));
    match groups.find(path) {
        Some((group, only)) => Ok(directory(catalog, &groups, group, only, Format::Short)),
        None => beginning(catalog, path, Format::Short).ok_or(unknown),
    }
}

fn tool_of<'a>(catalog: &'a catalog::Catalog, name: &str) -> Result<&'a Tool, Error> {
    let nearest = match catalog.resolve(name) {
        Resolved::Tool(tool) => return Ok(tool),
        Resolved::Ambiguous(tools) => tools.into_iter().map(|tool| tool.name.clone()).collect(),
        Resolved::Unknown(nearest) => nearest.into_iter().map(String::from).collect(),
    };
    Err(Error::UnknownTool { name: name.to_string(), nearest })
}

// Owned values that the interface takes and gives.

/// A tool of a catalog, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolSummary {
    /// The canonical name, unique in the catalog.
    pub name: String,
    /// The name of its doc file, and of the function that providers see.
    pub safe_name: String,
    /// The dotted name in the gateway.
    pub op: String,
    /// When to use it, in one line.
    pub summary: String,
    /// The change that a call may make.
    pub effect: Effect,
}

/// Options of a payload: a provider, and where needed a mode and a profile.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PayloadOptions {
    /// The provider.
    pub provider: Provider,
    /// The mode; `None` uses the configured mode.
    pub mode: Option<Mode>,
    /// The profile; `None` takes all tools.
    pub profile: Option<String>,
}

impl PayloadOptions {
    /// A payload of all tools for a provider, in the mode that the configuration names.
    pub fn new(provider: Provider) -> Self {
        Self { provider, mode: None, profile: None }
    }

    /// The same in this mode.
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode: Some(mode), ..self }
    }

    /// The same with the tools of this profile.
    pub fn profile(self, profile: impl Into<String>) -> Self {
        Self { profile: Some(profile.into()), ..self }
    }
}

/// The part of a request that holds the tools.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Payload {
    /// The mode that it has: another than was asked for where the provider lacks it.
    pub mode: Mode,
    /// The part of the request body with the tools.
    pub body: Value,
    /// Findings on what this provider's schemas cannot say.
    pub findings: Vec<Finding>,
    /// Headers that the request needs for what is bound.
    pub headers: Vec<RequestHeader>,
    /// Notes for a person: the mode is another one, or a step is left to you.
    pub notes: Vec<String>,
}

/// One call of a response.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Call {
    /// The canonical name, or what the model wrote if no tool has that name; `None` if it wrote no name.
    pub name: Option<String>,
    /// The id to which the result refers.
    pub call_id: Option<String>,
    /// The namespace that must be sent back with the call.
    pub namespace: Option<String>,
    /// The thought signature that must be sent back with the call.
    pub signature: Option<String>,
    /// Whether the call is the provider's own form of a search for tools.
    pub is_search: bool,
    /// Arguments that fit the schema of the tool, under their canonical names, or the reasons why they do not.
    pub arguments: Result<Map<String, Value>, CallError>,
    /// Repairs of the arguments, in order.
    pub repaired: Vec<Repair>,
}

impl From<CallEntry<'_>> for Call {
    fn from(entry: CallEntry<'_>) -> Self {
        Self {
            name: entry.name.map(Into::into),
            call_id: entry.call_id,
            namespace: entry.namespace,
            signature: entry.signature,
            is_search: entry.search,
            arguments: entry.outcome.map(|call| call.arguments().clone()),
            repaired: entry.repaired,
        }
    }
}

/// Tools that fit a query.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Found {
    /// Whether any of them fits. With `NoMatch`, the hits are the nearest.
    pub verdict: Verdict,
    /// Whether all input could be read. Otherwise a tool that was not found may be in what could not.
    pub is_complete: bool,
    /// Words of the query that no hit has, unless the verdict is `Match`.
    pub unmet: Vec<String>,
    /// The tools, best first.
    pub hits: Vec<FoundTool>,
}

/// A tool that a search found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FoundTool {
    /// The tool.
    pub tool: ToolSummary,
    /// Probability that it is the wanted tool, from 0 to 1.
    pub confidence: f32,
    /// The words that led to it.
    pub reason: String,
}

/// The files that a run wrote or left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// Number of new files.
    pub created: usize,
    /// Number of files with new content.
    pub updated: usize,
    /// Number of files that were deleted, since they are no longer generated.
    pub removed: usize,
    /// Number of files that were current and were not touched.
    pub unchanged: usize,
    /// Files that were left as they are, since they have been edited or are kept.
    pub kept: Vec<String>,
}

impl From<folder::Report> for Written {
    fn from(report: folder::Report) -> Self {
        let folder::Report { created, updated, removed, unchanged, kept } = report;
        Self { created, updated, removed, unchanged, kept }
    }
}

impl From<Seeded> for Written {
    fn from(seeded: Seeded) -> Self {
        let mut written = Written::from(seeded.docs);
        written.created += seeded.written.len();
        written.kept.extend(seeded.kept.into_iter().chain(seeded.unclear));
        written
    }
}

// Errors of the public interface.

/// Reasons why a job could not be done. A wrong definition is a [`Finding`] instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path of the catalog does not exist.
    #[error("there is no catalog at {}", .0.display())]
    CatalogMissing(PathBuf),
    /// The catalog has no profile of this name; the message lists the profiles.
    #[error(transparent)]
    UnknownProfile(#[from] UnknownProfile),
    /// No tool, or no single tool, goes by this name.
    #[error("no single tool goes by the name `{name}`{}", did_you_mean(.nearest))]
    UnknownTool {
        /// The name.
        name: String,
        /// Names of tools that may have been meant, best first.
        nearest: Vec<String>,
    },
    /// A template cannot be read or rendered.
    #[error(transparent)]
    Template(Box<dyn std::error::Error + Send + Sync>),
    /// Docs or a workspace cannot be written.
    #[error(transparent)]
    Write(Box<dyn std::error::Error + Send + Sync>),
    /// The provider refuses such a payload.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// The response is not one of the provider.
    #[error(transparent)]
    Response(#[from] ParseError),
}

impl Error {
    /// The code of the error; stable.
    pub fn code(&self) -> &'static str {
        match self {
            Error::CatalogMissing(_) => "catalog_missing",
            Error::UnknownProfile(_) => "unknown_profile",
            Error::UnknownTool { .. } => "unknown_tool",
            Error::Template(_) => "template_invalid",
            Error::Write(_) => "not_written",
            Error::Payload(_) => "payload_refused",
            Error::Response(_) => "response_unreadable",
        }
    }
}

fn did_you_mean(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; did you mean {}?", nearest.join(" or ")) }
}

impl From<TemplateError> for Error {
    fn from(error: TemplateError) -> Self {
        Error::Template(Box::new(error))
    }
}

impl From<ValueError> for Error {
    fn from(error: ValueError) -> Self {
        Error::Template(Box::new(error))
    }
}

impl From<RenderError> for Error {
    fn from(error: RenderError) -> Self {
        match error {
            RenderError::Template(error) => error.into(),
            RenderError::Value(error) => error.into(),
            other => Error::Write(Box::new(other)),
        }
    }
}

impl From<ReportError> for Error {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Profile(error) => error.into(),
            ReportError::Template(error) => error.into(),
        }
    }
}

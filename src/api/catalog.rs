//! A catalog and its jobs.

use std::path::Path;

use serde_json::{Map, Value};

use super::error::Error;
use super::tools::{Profiles, found, help_of, index_of, tool_of};
use super::values::{Call, Found, Payload, PayloadOptions, ToolSummary, Written, seeded, summary};
use crate::BUILT_IN;
use toolcrib_catalog::{self as catalog, Checked, config};
use toolcrib_definition::document::{Document, Format as Notation};
use toolcrib_definition::finding::Finding;
use toolcrib_providers::call::Parser;
use toolcrib_providers::{self as provider, PayloadRequest, Provider, ProviderFormat, ToolResult, report};
use toolcrib_render::{self as render, Around, Doc, Docs, PromptSection, Templates, WorkspaceTemplate};

/// A checked catalog of tools, with its configuration and templates. It never changes: open it again after an edit.
#[derive(Debug)]
pub struct Catalog {
    checked: Checked,
    templates: Templates,
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
        let templates = Templates::of(BUILT_IN, &workspace.config.render, &workspace.root)?;
        Ok(Self { checked: catalog::open(workspace), templates, profiles: Profiles::default() })
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
        Ok(self.docs(profile)?.write(folder.as_ref(), &|_| {})?)
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
        Ok(seeded(render::seed(self.docs(profile)?, workspace.as_ref(), template, &|_| {})?))
    }

    /// The doc of one tool, in markdown, by any name that means one tool; of those in a profile, if one is named.
    pub fn doc(&self, name: &str, profile: Option<&str>) -> Result<String, Error> {
        let of_profile = self.profiles.of(&self.checked.catalog, profile)?;
        let doc = Doc::of(tool_of(&of_profile.catalog, name)?, &self.checked.catalog);
        Ok(doc.render(&self.templates, self.version(), Around::FUNCTIONS)?)
    }

    /// Help on one tool, as JSON: `summary`, `usage`, `args`, and a `call` that fits. On a group of tools: the
    /// groups in it, and its ops by their effect (`read`, `write`, `destructive`); the path `root` has all. For a profile
    /// nothing else exists.
    ///
    /// ```
    /// let catalog = toolcrib::Catalog::open("examples/github")?;
    /// assert!(catalog.help("create_issue", None)?.contains_key("args"));
    /// assert!(catalog.help("issues", None)?.contains_key("write"));
    /// # Ok::<(), toolcrib::Error>(())
    /// ```
    pub fn help(&self, path: &str, profile: Option<&str>) -> Result<Map<String, Value>, Error> {
        help_of(&self.profiles.of(&self.checked.catalog, profile)?.catalog, path)
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
        let section = PromptSection::of(options.provider.mode(request.mode), request.options);
        // Nothing here has written pages.
        let section = PromptSection { has_pages: false, ..section };
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

    /// The tools that fit what somebody wants, by words; of those in a profile, if one is named. The first search makes the
    /// index.
    ///
    /// ```
    /// let catalog = toolcrib::Catalog::open("examples/github")?;
    /// let found = catalog.search("open a pull request", 3, Some("core"))?;
    /// assert_ne!(found.verdict, toolcrib::search::Verdict::NoMatch);
    /// assert_eq!(found.hits[0].tool.name, "create_pull_request");
    /// # Ok::<(), toolcrib::Error>(())
    /// ```
    pub fn search(&self, query: &str, limit: usize, profile: Option<&str>) -> Result<Found, Error> {
        let of_profile = self.profiles.of(&self.checked.catalog, profile)?;
        let index = of_profile.index.get_or_init(|| index_of(&of_profile.catalog));
        Ok(found(&of_profile.catalog, index, query, limit))
    }

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
        let (mode, reason) =
            report::mode_of(&request, &self.templates, options.mode.or(config::Mode::named(configured.mode)));
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

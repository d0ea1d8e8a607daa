//! The catalog and its jobs. Each method is one job of the library.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolcrib::catalog::Resolved;
use toolcrib::providers::AnsweredCalls;
use toolcrib::providers::call::Parser;
use toolcrib::render::Doc;
use toolcrib::{
    Error, Mode, PayloadOptions, Provider, ToolSummary, WorkspaceTemplate, Written, finding, report,
};

use crate::error::Failure;
use crate::session;

/// What a job made, or why it could not be done.
pub type Made<T> = Result<T, Failure>;

/// What a payload is for, by names.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The provider.
    pub provider: String,
    /// The mode; without one, or as `auto`, the one that costs a whole task least.
    pub mode: Option<String>,
    /// The profile.
    pub profile: Option<String>,
}

impl Request {
    fn options(self) -> Made<PayloadOptions> {
        let mut options = PayloadOptions::new(provider_of(&self.provider)?);
        options.mode = mode_of(self.mode.as_deref())?;
        options.profile = self.profile;
        Ok(options)
    }
}

pub(crate) fn provider_of(name: &str) -> Made<Provider> {
    Provider::parse(name).ok_or_else(|| {
        let known: Vec<&str> = Provider::ALL.iter().map(|provider| provider.as_str()).collect();
        Failure::argument(format!("there is no provider \"{name}\"; providers are: {}", known.join(", ")))
    })
}

fn mode_of(name: Option<&str>) -> Made<Option<Mode>> {
    let Some(name) = name.filter(|name| *name != "auto") else { return Ok(None) };
    let mode = Mode::ALL.iter().copied().find(|mode| mode.as_str() == name);
    mode.map(Some).ok_or_else(|| {
        let known: Vec<&str> = Mode::ALL.iter().map(|mode| mode.as_str()).collect();
        Failure::argument(format!("there is no mode \"{name}\"; modes are: auto, {}", known.join(", ")))
    })
}

fn in_json(tool: &ToolSummary) -> Map<String, Value> {
    let fields = json!({
        "name": tool.name, "safe_name": tool.safe_name, "op": tool.op, "summary": tool.summary,
        "effect": tool.effect.as_str(),
    });
    if let Value::Object(fields) = fields { fields } else { Map::new() }
}

fn written(written: Written) -> String {
    let Written { created, updated, removed, unchanged, kept, replaced } = written;
    json!({
        "created": created, "updated": updated, "removed": removed, "unchanged": unchanged, "kept": kept,
        "replaced": replaced,
    })
    .to_string()
}

/// A checked catalog of tools. Clones share it.
#[derive(Clone, Debug)]
pub struct Catalog(Arc<toolcrib::Catalog>);

impl Catalog {
    /// Opens a path.
    pub fn open(path: &Path) -> Made<Self> {
        Ok(Self(Arc::new(toolcrib::Catalog::open(path)?)))
    }

    /// Opens definitions as JSON text.
    pub fn from_json(definitions: &str, config: Option<&Path>) -> Made<Self> {
        Ok(Self(Arc::new(toolcrib::Catalog::from_json(definitions, config)?)))
    }

    /// The hash of all content.
    pub fn version(&self) -> &str {
        self.0.version()
    }

    /// Whether all input could be read.
    pub fn is_complete(&self) -> bool {
        self.0.is_complete()
    }

    /// The findings, as `check --json` prints them.
    pub fn findings(&self) -> String {
        finding::json_report(self.0.findings()).to_string()
    }

    /// The tools, in the order of their sources.
    pub fn tools(&self) -> String {
        Value::from_iter(self.0.tools().map(|tool| in_json(&tool))).to_string()
    }

    /// The names of the profiles.
    pub fn profiles(&self) -> Vec<String> {
        self.0.stages().0.catalog.config.profiles.keys().cloned().collect()
    }

    /// Fails where there is no such profile.
    pub(crate) fn check_profile(&self, profile: Option<&str>) -> Made<()> {
        self.0.stages().0.catalog.profile(profile).map_err(Error::from)?;
        Ok(())
    }

    /// The canonical names of the tools.
    pub(crate) fn names(&self) -> HashSet<String> {
        self.0.tools().map(|tool| tool.name.to_string()).collect()
    }

    /// The canonical name of a tool, by this name or its safe name: what a session may run.
    pub fn runnable(&self, name: &str) -> Made<String> {
        let of = |is_meant: &dyn Fn(&ToolSummary) -> bool| {
            self.0.tools().find(|tool| is_meant(tool)).map(|tool| tool.name.to_string())
        };
        let known = of(&|tool| *tool.name == *name).or_else(|| of(&|tool| *tool.safe_name == *name));
        if let Some(known) = known.or_else(|| session::is_ours(name).then(|| name.to_owned())) {
            return Ok(known);
        }
        let nearest = self.doc(name, None).err().map(|failure| failure.nearest).unwrap_or_default();
        let message = format!("`run` has a function for `{name}`, and there is no such tool");
        Err(Failure { class: "UnknownTool", code: "unknown_tool", message, nearest })
    }

    /// The body of a payload, and the facts beside it.
    pub fn payload(&self, request: Request) -> Made<(String, String)> {
        let payload = self.0.payload(&request.options()?)?;
        let headers: Map<String, Value> = payload
            .headers
            .iter()
            .map(|header| (header.name.to_string(), header.value.to_string().into()))
            .collect();
        let facts = json!({
            "mode": payload.mode.as_str(), "headers": headers, "notes": payload.notes,
            "findings": finding::json_report(&payload.findings),
        });
        Ok((payload.body.to_string(), facts.to_string()))
    }

    /// The section of the system prompt that goes with a payload.
    pub fn prompt(&self, request: Request) -> Made<String> {
        Ok(self.0.prompt(&request.options()?)?)
    }

    /// The calls of a response, as `parse` prints them; also those left in its text, if they are to be read.
    pub fn parse(
        &self,
        provider: &str,
        response: &str,
        profile: Option<&str>,
        from_text: bool,
    ) -> Made<String> {
        let (provider, catalog) = (provider_of(provider)?, &self.0.stages().0.catalog);
        let profile = catalog.profile(profile).map_err(Error::from)?;
        let parser = Parser::of_profile(catalog, &profile, provider);
        let mut entries = parser.parse(response).map_err(Error::from)?;
        if from_text {
            entries.extend(parser.left_in_text(response, &entries));
        }
        Ok(serde_json::to_string(&entries)?)
    }

    /// The number of calls that a model left in the text of a response, and that `parse` does not read.
    pub fn left_in_text(&self, provider: &str, response: &str, profile: Option<&str>) -> Made<u32> {
        let (provider, catalog) = (provider_of(provider)?, &self.0.stages().0.catalog);
        let profile = catalog.profile(profile).map_err(Error::from)?;
        let parser = Parser::of_profile(catalog, &profile, provider);
        let entries = parser.parse(response).map_err(Error::from)?;
        Ok(u32::try_from(parser.left_in_text(response, &entries).len()).unwrap_or(u32::MAX))
    }

    /// The messages that `results` prints.
    pub fn results(&self, provider: &str, answered: &str, profile: Option<&str>) -> Made<String> {
        let (provider, catalog) = (provider_of(provider)?, &self.0.stages().0.catalog);
        let answers = AnsweredCalls::read(answered, provider)?;
        let profile = catalog.profile(profile).map_err(Error::from)?;
        Ok(answers.messages(catalog, &profile).map_err(Error::from)?.to_string())
    }

    /// The tools of a profile that fit what somebody wants, or the nearest; without a profile, of all.
    pub fn search(&self, query: &str, limit: usize, profile: Option<&str>) -> Made<String> {
        let found = self.0.search(query, limit, profile)?;
        let hits = found.hits.iter().map(|hit| {
            let mut fields = in_json(&hit.tool);
            fields.insert("confidence".into(), hit.confidence.into());
            fields.insert("reason".into(), hit.reason.as_str().into());
            fields
        });
        Ok(json!({
            "verdict": found.verdict.as_str(), "is_complete": found.is_complete, "unmet": found.unmet,
            "hits": Value::from_iter(hits),
        })
        .to_string())
    }

    /// The doc of one tool of a profile, in markdown.
    pub fn doc(&self, name: &str, profile: Option<&str>) -> Made<String> {
        Ok(self.0.doc(name, profile)?)
    }

    /// Whether the doc of a tool has to be read before it is called, and the receipt of who has read it.
    pub fn receipt(&self, name: &str) -> Made<(bool, String)> {
        self.0.doc(name, None)?;
        let catalog = &self.0.stages().0.catalog;
        let Resolved::Tool(tool) = catalog.resolve(name) else { return Ok((false, String::new())) };
        let is_required = catalog.config.exec.require_doc.covers(tool.rules.effect);
        Ok((is_required, Doc::of(tool, catalog).receipt))
    }

    /// Help on one tool, or a group, of a profile.
    pub fn help(&self, name: &str, profile: Option<&str>) -> Made<String> {
        Ok(Value::from(self.0.help(name, profile)?).to_string())
    }

    /// The report that `tokens --json` prints.
    pub fn tokens(
        &self,
        provider: &str,
        profile: Option<&str>,
        mode: Option<&str>,
        budget: Option<usize>,
    ) -> Made<String> {
        let (checked, templates) = self.0.stages();
        let mode = mode_of(mode)?;
        let mut payload = checked.catalog.config.payload;
        payload.provider = provider_of(provider)?;
        let options = report::Options { profile, mode, payload, budget };
        let report = report::report(&checked.catalog, templates, options).map_err(Error::from)?;
        Ok(serde_json::to_string(&report)?)
    }

    /// Writes docs into a folder.
    pub fn render(&self, folder: &Path, profile: Option<&str>) -> Made<String> {
        Ok(written(self.0.render(folder, profile)?))
    }

    /// Seeds a workspace; `values` is a JSON object.
    pub fn seed(
        &self,
        workspace: &Path,
        profile: Option<&str>,
        template: Option<PathBuf>,
        values: &str,
    ) -> Made<String> {
        let template = WorkspaceTemplate {
            folder: template,
            values: serde_json::from_str(values)?,
            ..WorkspaceTemplate::default()
        };
        Ok(written(self.0.seed_with(workspace, profile, &template)?))
    }
}

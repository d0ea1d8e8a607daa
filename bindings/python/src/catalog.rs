//! The catalog and its jobs. Each method is one job of the library, with names in and JSON text out.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use toolcrib::catalog::Resolved;
use toolcrib::provider::call::Parser;
use toolcrib::provider::{AnsweredCalls, ResponseStream};
use toolcrib::render::Doc;
use toolcrib::{
    Error, PayloadOptions, Provider, Surface, ToolSummary, WorkspaceTemplate, Written, finding, report,
};

use crate::error::Failure;

type Made<T> = Result<T, Failure>;

fn provider_of(name: &str) -> Made<Provider> {
    Provider::parse(name).ok_or_else(|| {
        let known: Vec<&str> = Provider::ALL.iter().map(|provider| provider.as_str()).collect();
        Failure::argument(format!("there is no provider \"{name}\"; providers are: {}", known.join(", ")))
    })
}

fn surface_of(name: Option<&str>) -> Made<Option<Surface>> {
    let Some(name) = name.filter(|name| *name != "auto") else { return Ok(None) };
    let surface = Surface::ALL.iter().copied().find(|surface| surface.as_str() == name);
    surface.map(Some).ok_or_else(|| {
        let known: Vec<&str> = Surface::ALL.iter().map(|surface| surface.as_str()).collect();
        Failure::argument(format!("there is no surface \"{name}\"; surfaces are: auto, {}", known.join(", ")))
    })
}

fn options(
    provider: &str,
    surface: Option<&str>,
    profile: Option<String>,
    loaded: Vec<String>,
) -> Made<PayloadOptions> {
    let mut options = PayloadOptions::new(provider_of(provider)?).loaded(loaded);
    options.surface = surface_of(surface)?;
    options.profile = profile;
    Ok(options)
}

fn in_json(tool: &ToolSummary) -> Map<String, Value> {
    let fields = json!({
        "name": tool.name, "safe_name": tool.safe_name, "op": tool.op, "summary": tool.summary,
        "effect": tool.effect.as_str(),
    });
    if let Value::Object(fields) = fields { fields } else { Map::new() }
}

fn written(written: Written) -> String {
    let Written { created, updated, removed, unchanged, kept, .. } = written;
    json!({ "created": created, "updated": updated, "removed": removed, "unchanged": unchanged, "kept": kept })
        .to_string()
}

/// A checked catalog of tools.
#[pyclass(frozen, module = "toolcrib._toolcrib")]
pub(crate) struct Catalog(Arc<toolcrib::Catalog>);

#[pymethods]
impl Catalog {
    /// Opens a path.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let opened = py.detach(|| toolcrib::Catalog::open(path)).map_err(Failure::from)?;
        Ok(Self(Arc::new(opened)))
    }

    /// Opens definitions as JSON text.
    #[staticmethod]
    #[pyo3(signature = (definitions, config=None))]
    fn from_json(py: Python<'_>, definitions: &str, config: Option<PathBuf>) -> PyResult<Self> {
        let opened = py.detach(|| toolcrib::Catalog::from_json(definitions, config.as_deref()));
        Ok(Self(Arc::new(opened.map_err(Failure::from)?)))
    }

    fn version(&self) -> &str {
        self.0.version()
    }

    fn is_complete(&self) -> bool {
        self.0.is_complete()
    }

    /// The findings, as `check --json` prints them.
    fn findings(&self, py: Python<'_>) -> String {
        py.detach(|| finding::json_report(self.0.findings()).to_string())
    }

    fn tools(&self, py: Python<'_>) -> String {
        py.detach(|| Value::from_iter(self.0.tools().map(|tool| in_json(&tool))).to_string())
    }

    fn profiles(&self) -> Vec<String> {
        self.0.stages().0.catalog.config.profiles.keys().cloned().collect()
    }

    /// The body, and the facts beside it.
    #[pyo3(signature = (provider, surface=None, profile=None, loaded=Vec::new()))]
    fn payload(
        &self,
        py: Python<'_>,
        provider: &str,
        surface: Option<&str>,
        profile: Option<String>,
        loaded: Vec<String>,
    ) -> PyResult<(String, String)> {
        let made = py.detach(|| -> Made<(String, String)> {
            let payload = self.0.payload(&options(provider, surface, profile, loaded)?)?;
            let headers: Map<String, Value> = payload
                .headers
                .iter()
                .map(|header| (header.name.to_string(), header.value.to_string().into()))
                .collect();
            let facts = json!({
                "surface": payload.surface.as_str(), "headers": headers, "notes": payload.notes,
                "findings": finding::json_report(&payload.findings),
            });
            Ok((payload.body.to_string(), facts.to_string()))
        });
        Ok(made?)
    }

    #[pyo3(signature = (provider, surface=None, profile=None, loaded=Vec::new()))]
    fn prompt(
        &self,
        py: Python<'_>,
        provider: &str,
        surface: Option<&str>,
        profile: Option<String>,
        loaded: Vec<String>,
    ) -> PyResult<String> {
        let made =
            py.detach(|| Ok::<_, Failure>(self.0.prompt(&options(provider, surface, profile, loaded)?)?));
        Ok(made?)
    }

    /// The calls of a response, as `parse` prints them.
    #[pyo3(signature = (provider, response, profile=None))]
    fn parse(
        &self,
        py: Python<'_>,
        provider: &str,
        response: &str,
        profile: Option<&str>,
    ) -> PyResult<String> {
        Ok(py.detach(|| self.entries(provider_of(provider)?, response, profile))?)
    }

    /// A response that arrives in chunks.
    #[pyo3(signature = (provider, profile=None))]
    fn stream(&self, provider: &str, profile: Option<String>) -> PyResult<CallStream> {
        let provider = provider_of(provider)?;
        let response = Mutex::new(Some(ResponseStream::new(provider)));
        Ok(CallStream { catalog: Self(Arc::clone(&self.0)), provider, profile, response })
    }

    /// The messages that `results` prints.
    #[pyo3(signature = (provider, answered, profile=None))]
    fn results(
        &self,
        py: Python<'_>,
        provider: &str,
        answered: &str,
        profile: Option<&str>,
    ) -> PyResult<String> {
        let made = py.detach(|| -> Made<String> {
            let (provider, catalog) = (provider_of(provider)?, &self.0.stages().0.catalog);
            let answers = AnsweredCalls::read(answered, provider)?;
            let profile = catalog.profile(profile).map_err(Error::from)?;
            Ok(answers.messages(catalog, &profile).map_err(Error::from)?.to_string())
        });
        Ok(made?)
    }

    #[pyo3(signature = (query, limit=5))]
    fn search(&self, py: Python<'_>, query: &str, limit: usize) -> String {
        py.detach(|| {
            let found = self.0.search(query, limit);
            let hits = found.hits.iter().map(|hit| {
                let mut fields = in_json(&hit.tool);
                fields.insert("confidence".into(), hit.confidence.into());
                fields.insert("reason".into(), hit.reason.as_str().into());
                fields
            });
            json!({ "is_match": found.is_match, "unmet": found.unmet, "hits": Value::from_iter(hits) })
                .to_string()
        })
    }

    fn doc(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        Ok(py.detach(|| self.0.doc(name).map_err(Failure::from))?)
    }

    /// Whether the doc of a tool has to be read before it is called, and the receipt of who has read it.
    fn receipt(&self, py: Python<'_>, name: &str) -> PyResult<(bool, String)> {
        let made = py.detach(|| -> Made<(bool, String)> {
            self.0.doc(name)?;
            let catalog = &self.0.stages().0.catalog;
            let Resolved::Tool(tool) = catalog.resolve(name) else { return Ok((false, String::new())) };
            let is_required = catalog.config.exec.require_doc.covers(tool.effect);
            Ok((is_required, Doc::of(tool, catalog).receipt().to_string()))
        });
        Ok(made?)
    }

    fn help(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        Ok(py.detach(|| self.0.help(name).map(|help| Value::from(help).to_string()).map_err(Failure::from))?)
    }

    /// The report that `tokens --json` prints.
    #[pyo3(signature = (provider, profile=None, surface=None, budget=None, iterations=84))]
    fn tokens(
        &self,
        py: Python<'_>,
        provider: &str,
        profile: Option<&str>,
        surface: Option<&str>,
        budget: Option<usize>,
        iterations: u32,
    ) -> PyResult<String> {
        let made = py.detach(|| -> Made<String> {
            let (checked, templates) = self.0.stages();
            let (provider, surface) = (provider_of(provider)?, surface_of(surface)?);
            let payload = checked.catalog.config.payload;
            let options = report::Options { profile, provider, surface, payload, iterations, budget };
            let report = report::report(&checked.catalog, templates, options).map_err(Error::from)?;
            Ok(serde_json::to_string(&report)?)
        });
        Ok(made?)
    }

    #[pyo3(signature = (folder, profile=None))]
    fn render(&self, py: Python<'_>, folder: PathBuf, profile: Option<&str>) -> PyResult<String> {
        Ok(py.detach(|| self.0.render(folder, profile).map(written).map_err(Failure::from))?)
    }

    /// Seeds a workspace; `values` is a JSON object.
    #[pyo3(signature = (workspace, profile=None, template=None, values="{}"))]
    fn seed(
        &self,
        py: Python<'_>,
        workspace: PathBuf,
        profile: Option<&str>,
        template: Option<PathBuf>,
        values: &str,
    ) -> PyResult<String> {
        let made = py.detach(|| -> Made<String> {
            let template = WorkspaceTemplate { folder: template, values: serde_json::from_str(values)? };
            Ok(written(self.0.seed_with(workspace, profile, &template)?))
        });
        Ok(made?)
    }
}

impl Catalog {
    fn entries(&self, provider: Provider, response: &str, profile: Option<&str>) -> Made<String> {
        let catalog = &self.0.stages().0.catalog;
        let profile = catalog.profile(profile).map_err(Error::from)?;
        let entries = Parser::of_profile(catalog, &profile, provider).parse(response).map_err(Error::from)?;
        Ok(serde_json::to_string(&entries)?)
    }
}

/// A response that arrives in chunks of bytes.
#[pyclass(frozen, module = "toolcrib._toolcrib")]
pub(crate) struct CallStream {
    catalog: Catalog,
    provider: Provider,
    profile: Option<String>,
    /// Taken when the stream has ended.
    response: Mutex<Option<ResponseStream>>,
}

#[pymethods]
impl CallStream {
    /// Takes the next bytes.
    fn push(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        Ok(py.detach(|| match self.response.lock() {
            Ok(mut response) => response.as_mut().map(|response| response.push(bytes)).ok_or_else(ended),
            Err(_) => Err(ended()),
        })?)
    }

    /// The calls of the whole response.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let made = py.detach(|| -> Made<String> {
            let response =
                self.response.lock().ok().and_then(|mut response| response.take()).ok_or_else(ended)?;
            let body = response.body().map_err(Error::from)?;
            self.catalog.entries(self.provider, &body, self.profile.as_deref())
        });
        Ok(made?)
    }
}

fn ended() -> Failure {
    Failure::argument("the stream has ended: begin another one".into())
}

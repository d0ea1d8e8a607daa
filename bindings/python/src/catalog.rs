//! The catalog and its jobs, as Python calls them.

use std::path::PathBuf;

use pyo3::prelude::*;
use toolcrib_bindings as core;
use toolcrib_bindings::Request;

use crate::error::detached;

/// A checked catalog of tools.
#[pyclass(frozen, module = "toolcrib._toolcrib")]
pub(crate) struct Catalog(pub(crate) core::Catalog);

#[pymethods]
impl Catalog {
    /// Opens a path.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        detached(py, || core::Catalog::open(&path)).map(Self)
    }

    /// Opens definitions as JSON text.
    #[staticmethod]
    #[pyo3(signature = (definitions, config=None))]
    fn from_json(py: Python<'_>, definitions: &str, config: Option<PathBuf>) -> PyResult<Self> {
        detached(py, || core::Catalog::from_json(definitions, config.as_deref())).map(Self)
    }

    fn version(&self) -> &str {
        self.0.version()
    }

    fn is_complete(&self) -> bool {
        self.0.is_complete()
    }

    fn findings(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.findings())
    }

    fn tools(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.tools())
    }

    fn profiles(&self) -> Vec<String> {
        self.0.profiles()
    }

    fn runnable(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        detached(py, || self.0.runnable(name))
    }

    #[pyo3(signature = (provider, mode=None, profile=None))]
    fn payload(
        &self,
        py: Python<'_>,
        provider: String,
        mode: Option<String>,
        profile: Option<String>,
    ) -> PyResult<(String, String)> {
        detached(py, || self.0.payload(Request { provider, mode, profile }))
    }

    #[pyo3(signature = (provider, mode=None, profile=None))]
    fn prompt(
        &self,
        py: Python<'_>,
        provider: String,
        mode: Option<String>,
        profile: Option<String>,
    ) -> PyResult<String> {
        detached(py, || self.0.prompt(Request { provider, mode, profile }))
    }

    #[pyo3(signature = (provider, response, profile=None, from_text=false))]
    fn parse(
        &self,
        py: Python<'_>,
        provider: &str,
        response: &str,
        profile: Option<&str>,
        from_text: bool,
    ) -> PyResult<String> {
        detached(py, || self.0.parse(provider, response, profile, from_text))
    }

    #[pyo3(signature = (provider, response, profile=None))]
    fn left_in_text(
        &self,
        py: Python<'_>,
        provider: &str,
        response: &str,
        profile: Option<&str>,
    ) -> PyResult<u32> {
        detached(py, || self.0.left_in_text(provider, response, profile))
    }

    #[pyo3(signature = (provider, answered, profile=None))]
    fn results(
        &self,
        py: Python<'_>,
        provider: &str,
        answered: &str,
        profile: Option<&str>,
    ) -> PyResult<String> {
        detached(py, || self.0.results(provider, answered, profile))
    }

    #[pyo3(signature = (query, limit=5, profile=None))]
    fn search(&self, py: Python<'_>, query: &str, limit: usize, profile: Option<&str>) -> PyResult<String> {
        detached(py, || self.0.search(query, limit, profile))
    }

    #[pyo3(signature = (name, profile=None))]
    fn doc(&self, py: Python<'_>, name: &str, profile: Option<&str>) -> PyResult<String> {
        detached(py, || self.0.doc(name, profile))
    }

    fn receipt(&self, py: Python<'_>, name: &str) -> PyResult<(bool, String)> {
        detached(py, || self.0.receipt(name))
    }

    #[pyo3(signature = (name, profile=None))]
    fn help(&self, py: Python<'_>, name: &str, profile: Option<&str>) -> PyResult<String> {
        detached(py, || self.0.help(name, profile))
    }

    #[pyo3(signature = (provider, profile=None, mode=None, budget=None))]
    fn tokens(
        &self,
        py: Python<'_>,
        provider: &str,
        profile: Option<&str>,
        mode: Option<&str>,
        budget: Option<usize>,
    ) -> PyResult<String> {
        detached(py, || self.0.tokens(provider, profile, mode, budget))
    }

    #[pyo3(signature = (folder, profile=None))]
    fn render(&self, py: Python<'_>, folder: PathBuf, profile: Option<&str>) -> PyResult<String> {
        detached(py, || self.0.render(&folder, profile))
    }

    #[pyo3(signature = (workspace, profile=None, template=None, values="{}"))]
    fn seed(
        &self,
        py: Python<'_>,
        workspace: PathBuf,
        profile: Option<&str>,
        template: Option<PathBuf>,
        values: &str,
    ) -> PyResult<String> {
        detached(py, || self.0.seed(&workspace, profile, template, values))
    }
}

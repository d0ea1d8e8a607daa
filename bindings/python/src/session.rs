//! A session and its jobs, as Python drives them.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use toolcrib_bindings as core;

use crate::catalog::Catalog;
use crate::error::detached;

/// The calls of one agent.
#[pyclass(frozen, module = "toolcrib._toolcrib")]
pub(crate) struct Session(core::Session);

/// A job until it is done.
#[pyclass(frozen, module = "toolcrib._toolcrib")]
pub(crate) struct Job(Mutex<core::Job>);

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (catalog, runnable, profile=None, require_docs=None))]
    fn new(
        py: Python<'_>,
        catalog: &Catalog,
        runnable: Vec<String>,
        profile: Option<String>,
        require_docs: Option<bool>,
    ) -> PyResult<Self> {
        let settings = core::Settings { profile, require_docs, runnable };
        detached(py, || core::Session::new(&catalog.0, settings)).map(Self)
    }

    fn call(&self, py: Python<'_>, name: &str, arguments: &str) -> PyResult<String> {
        detached(py, || self.0.call(name, arguments))
    }

    fn run(&self, py: Python<'_>, call: &str) -> PyResult<Job> {
        detached(py, || self.0.run(call)).map(|job| Job(Mutex::new(job)))
    }

    fn answer(&self, py: Python<'_>, provider: &str, calls: &str) -> PyResult<Job> {
        detached(py, || self.0.answer(provider, calls)).map(|job| Job(Mutex::new(job)))
    }
}

#[pymethods]
impl Job {
    #[pyo3(signature = (answer=None))]
    fn next(&self, py: Python<'_>, answer: Option<&str>) -> PyResult<String> {
        detached(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).next(answer))
    }
}

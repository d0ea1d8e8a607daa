//! Errors of the core as the exceptions of `toolcrib.errors`.

use pyo3::prelude::*;
use toolcrib::Error;
use toolcrib::provider::AnswersError;

/// An error on its way to Python: the name of its class, its code, the message, and near names.
pub(crate) struct Failure {
    class: &'static str,
    code: &'static str,
    message: String,
    nearest: Vec<String>,
}

impl Failure {
    /// A mistake in the arguments of a call from Python.
    pub(crate) fn argument(message: String) -> Self {
        Self { class: "ArgumentError", code: "argument_invalid", message, nearest: Vec::new() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (code, message) = (error.code(), error.to_string());
        let (class, nearest) = match error {
            Error::CatalogMissing(_) => ("CatalogMissing", Vec::new()),
            Error::UnknownProfile(_) => ("UnknownProfile", Vec::new()),
            Error::UnknownTool { nearest, .. } => ("UnknownTool", nearest),
            Error::Template(_) => ("TemplateError", Vec::new()),
            Error::Write(_) => ("WriteError", Vec::new()),
            Error::Payload(_) => ("PayloadError", Vec::new()),
            Error::Response(_) => ("ResponseError", Vec::new()),
            _ => ("Error", Vec::new()),
        };
        Self { class, code, message, nearest }
    }
}

impl From<AnswersError> for Failure {
    fn from(error: AnswersError) -> Self {
        Self {
            class: "ResultsError",
            code: "results_invalid",
            message: error.to_string(),
            nearest: Vec::new(),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::argument(error.to_string())
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| {
            let class = py.import("toolcrib.errors").and_then(|errors| errors.getattr(failure.class));
            match class.and_then(|class| class.call1((failure.message, failure.code, failure.nearest))) {
                Ok(error) => PyErr::from_value(error),
                Err(error) => error,
            }
        })
    }
}

//! Errors of the core as the classes that each language has.

use serde_json::json;
use toolcrib::Error;
use toolcrib::providers::AnswersError;

/// An error on its way to another language: the name of its class, its code, the message, and near names.
#[derive(Debug)]
pub struct Failure {
    /// The name of the class, the same in each language.
    pub class: &'static str,
    /// The stable code.
    pub code: &'static str,
    /// What is wrong, for a person.
    pub message: String,
    /// Names that may have been meant, best first.
    pub nearest: Vec<String>,
}

impl Failure {
    fn new(class: &'static str, code: &'static str, message: String) -> Self {
        Self { class, code, message, nearest: Vec::new() }
    }

    /// A mistake in the arguments of a call from the other language.
    pub fn argument(message: String) -> Self {
        Self::new("ArgumentError", "argument_invalid", message)
    }

    /// A mistake of toolcrib itself, for languages that a panic would end.
    pub fn panic() -> Self {
        Self::new("Error", "panic", "toolcrib made a mistake, which its authors want to know of".into())
    }

    /// The failure as JSON text, for languages whose errors carry text alone.
    pub fn to_json(&self) -> String {
        let Self { class, code, message, nearest } = self;
        json!({ "class": class, "code": code, "message": message, "nearest": nearest }).to_string()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (code, message) = (error.code(), error.to_string());
        let (class, nearest) = match error {
            Error::CatalogMissing(_) => ("CatalogMissing", Vec::new()),
            Error::UnknownProfile(unknown) => ("UnknownProfile", unknown.nearest.into_iter().collect()),
            Error::UnknownTool { nearest, .. } => ("UnknownTool", nearest),
            Error::Template(_) => ("TemplateError", Vec::new()),
            Error::Write(_) => ("WriteError", Vec::new()),
            Error::Payload(_) => ("PayloadError", Vec::new()),
            Error::Response(_) => ("ResponseError", Vec::new()),
            _ => ("Error", Vec::new()),
        };
        Self { nearest, ..Self::new(class, code, message) }
    }
}

impl From<AnswersError> for Failure {
    fn from(error: AnswersError) -> Self {
        Self::new("ResultsError", "results_invalid", error.to_string())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::argument(error.to_string())
    }
}

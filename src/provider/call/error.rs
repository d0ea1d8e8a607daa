//! Errors of responses, and of calls; a model reads the latter to correct its call.

use serde::Serialize;

use crate::arguments::FieldError;
use crate::provider::Provider;

/// The error of a response that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The response is no JSON; cut short, for example.
    #[error("expected the body of a response of {}, which is JSON: {reason}", provider.as_str())]
    NotJson {
        /// The provider that was asked for.
        provider: Provider,
        /// The reader's error, with its place.
        reason: String,
    },
    /// The response is an error of the provider.
    #[error("{} answered with an error: {message}", provider.as_str())]
    Refused {
        /// The provider.
        provider: Provider,
        /// Its message.
        message: String,
    },
    /// The response is JSON of another shape.
    #[error("expected a response of {}: {expected}{}", provider.as_str(), other_provider(looks_like))]
    Shape {
        /// The provider that was asked for.
        provider: Provider,
        /// The shape that was expected.
        expected: &'static str,
        /// Providers with responses of this shape.
        looks_like: Vec<Provider>,
    },
}

fn other_provider(looks_like: &[Provider]) -> String {
    let words: Vec<&str> = looks_like.iter().map(|provider| provider.as_str()).collect();
    if words.is_empty() { String::new() } else { format!("; this looks like {}", words.join(" or ")) }
}

/// The kind of a call's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallErrorCode {
    /// The arguments are no JSON, or the provider says that the call is malformed.
    Parse,
    /// The arguments do not fit the schema, or the tool cannot be called.
    Schema,
    /// No tool has this name.
    UnknownTool,
}

/// The error of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CallError {
    /// Its kind.
    pub code: CallErrorCode,
    /// The message, on one line.
    pub message: String,
    /// Errors of single fields.
    pub field_errors: Vec<FieldError>,
    /// The path for `tool_help`.
    pub help_path: String,
    /// Near names of tools, best first.
    pub nearest: Vec<String>,
    /// The outcome of a repair by a model, if one was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<String>,
    /// The arguments as the model wrote them.
    #[serde(skip)]
    pub given: String,
}

impl CallError {
    /// An error with this message; `help_path` is the path for `tool_help`.
    pub(super) fn new(code: CallErrorCode, message: impl Into<String>, help_path: &str) -> Self {
        Self {
            code,
            message: message.into(),
            field_errors: Vec::new(),
            help_path: help_path.into(),
            nearest: Vec::new(),
            repair: None,
            given: String::new(),
        }
    }
}

//! Why there is no call: for the model to read, and to do better.

use serde::Serialize;

use crate::arguments::FieldError;
use crate::provider::Provider;

/// Why a response could not be read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// It is no JSON; cut short, for example.
    #[error("expected the body of a response of {}, which is JSON: {reason}", provider.as_str())]
    NotJson {
        /// Whose response it should be.
        provider: Provider,
        /// What the reader says, and where.
        reason: String,
    },
    /// It is no answer but an error of the provider.
    #[error("{} answered with an error: {message}", provider.as_str())]
    Refused {
        /// Whose response it is.
        provider: Provider,
        /// What it says.
        message: String,
    },
    /// It is JSON of another shape.
    #[error("expected a response of {}: {expected}{}", provider.as_str(), other_provider(looks_like))]
    Shape {
        /// Whose response it should be.
        provider: Provider,
        /// What such a response is.
        expected: &'static str,
        /// The providers whose shape it has.
        looks_like: Vec<Provider>,
    },
}

fn other_provider(looks_like: &[Provider]) -> String {
    let words: Vec<&str> = looks_like.iter().map(|provider| provider.as_str()).collect();
    if words.is_empty() { String::new() } else { format!("; this looks like {}", words.join(" or ")) }
}

/// What kind of thing is wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallErrorCode {
    /// The arguments are no JSON, or the provider says that the call is malformed.
    Parse,
    /// The arguments do not fit the schema, or the tool cannot be called.
    Schema,
    /// No tool goes by this name.
    UnknownTool,
}

/// What is wrong with a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallError {
    /// What kind of thing.
    pub code: CallErrorCode,
    /// In one line.
    pub message: String,
    /// Each field that does not fit.
    pub field_errors: Vec<FieldError>,
    /// What to ask `tool_help` for.
    pub help_path: String,
    /// Tools that may have been meant.
    pub nearest: Vec<String>,
    /// What became of a repair by a model, where one was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<String>,
    /// The arguments as the model gave them.
    #[serde(skip)]
    pub given: String,
}

impl CallError {
    /// An error in these words; `help_path` is what to ask `tool_help` for.
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

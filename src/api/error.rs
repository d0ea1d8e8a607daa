//! Errors of the public interface.

use std::path::PathBuf;

use toolcrib_catalog::UnknownProfile;
use toolcrib_providers::PayloadError;
use toolcrib_providers::call::ParseError;
use toolcrib_providers::report::ReportError;
use toolcrib_render::{RenderError, TemplateError, ValueError};

/// Reasons why a job could not be done. A wrong definition is a [`Finding`](crate::Finding) instead.
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

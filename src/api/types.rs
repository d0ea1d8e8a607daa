//! Owned values that the public interface takes and gives.

use std::path::PathBuf;

use serde_json::{Map, Value};

use toolcrib_catalog::UnknownProfile;
use toolcrib_catalog::arguments::Repair;
use toolcrib_catalog::config::Mode;
use toolcrib_definition::Effect;
use toolcrib_definition::finding::Finding;
use toolcrib_docs::{RenderError, Seeded, TemplateError, ValueError, folder};
use toolcrib_providers::call::{CallEntry, CallError, ParseError};
use toolcrib_providers::report::ReportError;
use toolcrib_providers::{PayloadError, Provider, RequestHeader};
use toolcrib_search::Verdict;

/// A tool of a catalog, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolSummary {
    /// The canonical name, unique in the catalog.
    pub name: String,
    /// The name of its doc file, and of the function that providers see.
    pub safe_name: String,
    /// The dotted name in the gateway.
    pub op: String,
    /// When to use it, in one line.
    pub summary: String,
    /// The change that a call may make.
    pub effect: Effect,
}

/// Options of a payload: a provider, and where needed a mode and a profile.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PayloadOptions {
    /// The provider.
    pub provider: Provider,
    /// The mode; `None` uses the configured mode.
    pub mode: Option<Mode>,
    /// The profile; `None` takes all tools.
    pub profile: Option<String>,
}

impl PayloadOptions {
    /// A payload of all tools for a provider, in the mode that the configuration names.
    pub fn new(provider: Provider) -> Self {
        Self { provider, mode: None, profile: None }
    }

    /// The same in this mode.
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode: Some(mode), ..self }
    }

    /// The same with the tools of this profile.
    pub fn profile(self, profile: impl Into<String>) -> Self {
        Self { profile: Some(profile.into()), ..self }
    }
}

/// The part of a request that holds the tools.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Payload {
    /// The mode that it has: another than was asked for where the provider lacks it.
    pub mode: Mode,
    /// The part of the request body with the tools.
    pub body: Value,
    /// Findings on what this provider's schemas cannot say.
    pub findings: Vec<Finding>,
    /// Headers that the request needs for what is bound.
    pub headers: Vec<RequestHeader>,
    /// Notes for a person: the mode is another one, or a step is left to you.
    pub notes: Vec<String>,
}

/// One call of a response.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Call {
    /// The canonical name; the model's own text where no tool has this name; `None` where there is no name.
    pub name: Option<String>,
    /// The id to which the result refers.
    pub call_id: Option<String>,
    /// The namespace that must be sent back with the call.
    pub namespace: Option<String>,
    /// The thought signature that must be sent back with the call.
    pub signature: Option<String>,
    /// Whether the call is the provider's own form of a search for tools.
    pub is_search: bool,
    /// Arguments that fit the schema of the tool, under their canonical names, or the reasons why they do not.
    pub arguments: Result<Map<String, Value>, CallError>,
    /// Repairs of the arguments, in order.
    pub repaired: Vec<Repair>,
}

impl From<CallEntry<'_>> for Call {
    fn from(entry: CallEntry<'_>) -> Self {
        Self {
            name: entry.name.map(Into::into),
            call_id: entry.call_id,
            namespace: entry.namespace,
            signature: entry.signature,
            is_search: entry.search,
            arguments: entry.outcome.map(|call| call.arguments().clone()),
            repaired: entry.repaired,
        }
    }
}

/// Tools that fit a query.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Found {
    /// Whether any of them fits. With `NoMatch`, the hits are the nearest.
    pub verdict: Verdict,
    /// Whether all input could be read. Otherwise a tool that was not found may be in what could not.
    pub is_complete: bool,
    /// Words of the query that no hit has, unless the verdict is `Match`.
    pub unmet: Vec<String>,
    /// The tools, best first.
    pub hits: Vec<FoundTool>,
}

/// A tool that a search found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FoundTool {
    /// The tool.
    pub tool: ToolSummary,
    /// Probability that it is the wanted tool, from 0 to 1.
    pub confidence: f32,
    /// The words that led to it.
    pub reason: String,
}

/// The files that a run wrote or left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// Number of new files.
    pub created: usize,
    /// Number of files with new content.
    pub updated: usize,
    /// Number of files that were deleted, since they are no longer generated.
    pub removed: usize,
    /// Number of files that were current and were not touched.
    pub unchanged: usize,
    /// Files that were left as they are, since they have been edited or are kept.
    pub kept: Vec<String>,
}

impl From<folder::Report> for Written {
    fn from(report: folder::Report) -> Self {
        let folder::Report { created, updated, removed, unchanged, kept } = report;
        Self { created, updated, removed, unchanged, kept }
    }
}

impl From<Seeded> for Written {
    fn from(seeded: Seeded) -> Self {
        let mut written = Written::from(seeded.docs);
        written.created += seeded.written.len();
        written.kept.extend(seeded.kept.into_iter().chain(seeded.unclear));
        written
    }
}

// Errors of the public interface.

/// Reasons why a job could not be done. A wrong definition is a [`Finding`] instead.
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

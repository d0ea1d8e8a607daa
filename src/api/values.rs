//! Owned values that the interface takes and gives.

use serde_json::{Map, Value};

use toolcrib_catalog::Tool;
use toolcrib_catalog::arguments::Repair;
use toolcrib_catalog::config::Mode;
use toolcrib_definition::Effect;
use toolcrib_definition::finding::Finding;
use toolcrib_providers::call::{CallEntry, CallError};
use toolcrib_providers::{Provider, RequestHeader};
use toolcrib_render::Seeded;
pub use toolcrib_render::folder::Written;
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
    /// The canonical name, or what the model wrote if no tool has that name; `None` if it wrote no name.
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

/// What a seeding wrote: the files of the workspace beside the docs.
pub(super) fn seeded(seeded: Seeded) -> Written {
    let mut written = seeded.docs;
    written.created += seeded.written.len();
    written.kept.extend(seeded.kept.into_iter().chain(seeded.unclear));
    written
}

pub(super) fn summary(tool: &Tool) -> ToolSummary {
    ToolSummary {
        name: tool.names.canonical.clone(),
        safe_name: tool.names.safe.clone(),
        op: tool.names.op.clone(),
        summary: tool.texts.short.clone(),
        effect: tool.rules.effect,
    }
}

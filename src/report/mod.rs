//! What the tools of a catalog cost, in tokens: on each surface, and one by one (DOC-9, BIND-6). And, in [`retrieval`],
//! how well search finds them.
//!
//! 1. [`meter`] makes a payload, and counts what of it is in the context ([`context`]).
//! 2. [`surface`] compares the surfaces of a profile.
//! 3. [`tool`] compares what one tool costs in full, deferred, and as a doc.
//! 4. [`cost`] says what that adds up to over a job.
//! 5. [`budget`] says what to defer when a surface costs too much.
//! 6. [`table`] shows all of it to people; serialized, it is for scripts.

mod budget;
mod context;
mod cost;
mod meter;
pub mod retrieval;
mod surface;
mod table;
mod tool;

use serde::Serialize;

use crate::catalog::{Catalog, Profile, ProfileTool};
use crate::config::{self, Deferred, Surface};
use crate::provider::Provider;
use crate::render::{TemplateError, Templates};

pub use budget::OverBudget;
pub use surface::{Measured, SurfaceReport};
pub use tool::ToolReport;

pub(crate) use table::grouped;

use meter::Meter;

/// What to report.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The profile; the whole catalog and all of its profiles when there is none.
    pub profile: Option<&'a str>,
    /// The wire.
    pub provider: Provider,
    /// The surface; all when there is none.
    pub surface: Option<Surface>,
    /// How payloads are made.
    pub payload: config::Payload,
    /// How many requests a job has.
    pub iterations: u32,
    /// How many tokens a surface may bind.
    pub budget: Option<usize>,
}

impl Options<'_> {
    /// The surface that the budget is for.
    fn budgeted(&self) -> Surface {
        self.surface.or(self.payload.surface).unwrap_or_default()
    }
}

/// What the tools of a catalog cost.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The content that was counted.
    pub registry_version: String,
    /// The wire.
    pub provider: &'static str,
    /// What is bound of deferred tools.
    pub deferred: Deferred,
    /// How many requests a job has.
    pub iterations: u32,
    /// The whole catalog and its profiles, or the one profile that was named.
    pub profiles: Vec<ProfileReport>,
    /// Each tool, dearest first.
    pub tools: Vec<ToolReport>,
    /// Tools that cannot be bound for this provider, by canonical name; they count nowhere.
    pub left_out: Vec<String>,
    /// Profiles that bind more than the budget, when there is one.
    pub over_budget: Vec<OverBudget>,
    /// What these numbers are, and what they are not.
    pub notes: Vec<&'static str>,
}

/// One profile on each surface.
#[derive(Debug, Serialize)]
pub struct ProfileReport {
    /// Its name; none for the whole catalog.
    pub profile: Option<String>,
    /// How many tools it has.
    pub tools: usize,
    /// How many of them are bound in full.
    pub full: usize,
    /// How many are deferred.
    pub deferred: usize,
    /// The surfaces, from most to least bound.
    pub surfaces: Vec<SurfaceReport>,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// There is no such profile.
    #[error("{0}")]
    Profile(String),
    /// A template is broken.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// Counts. Same input, same numbers.
pub fn report(catalog: &Catalog, templates: &Templates, options: Options<'_>) -> Result<Report, ReportError> {
    let named = |name| catalog.profile(name).map_err(ReportError::Profile);
    let mut profiles = vec![named(options.profile)?];
    if options.profile.is_none() {
        let more: Result<Vec<_>, _> = catalog.config.profiles.keys().map(|name| named(Some(name))).collect();
        profiles.extend(more?);
    }
    let mut meter = Meter::new(catalog, templates, options);
    let tools = tool::tools(&mut meter, &profiles[0])?;
    let mut reports = Vec::new();
    let mut over_budget = Vec::new();
    for profile in &profiles {
        let deferred = profile.tools.iter().filter(|entry| meter::is_deferred(entry)).count();
        reports.push(ProfileReport {
            profile: profile.name.map(str::to_string),
            tools: profile.tools.len(),
            full: profile.tools.len() - deferred,
            deferred,
            surfaces: surface::surfaces(&mut meter, profile)?,
        });
        over_budget.extend(budget::over(&mut meter, profile, &tools.reports));
    }
    Ok(Report {
        registry_version: catalog.version.clone(),
        provider: options.provider.as_str(),
        deferred: options.payload.deferred,
        iterations: options.iterations,
        profiles: reports,
        tools: tools.reports,
        left_out: tools.left_out,
        over_budget,
        notes: NOTES.to_vec(),
    })
}

/// What is said under every report.
const NOTES: [&str; 6] = [
    "Counted is the compact JSON of the payload, with o200k (in the columns without a name) and cl100k. What is billed \
     differs: every provider renders tools in a way of its own before it counts, and Claude and Gemini publish no \
     vocabulary. Between surfaces of one provider the ratio is what holds.",
    "bound: what is in the context of every request. What a provider's own deferral keeps out of it is sent but not \
     bound. What the model then searches for, reads or loads comes on top of it.",
    "wrapping: what is left of the whole without names, descriptions, schemas and our own functions. saving: of what is \
     bound, against the surface `full`.",
    "job: bound and prompt (`toolcrib prompt`) in every request. cached: the first request at 1.25 of the price of a \
     token and later ones at 0.1, as Anthropic publishes for its prompt cache, if it never expires; other providers \
     have other prices.",
    "read: the doc, and a call of `read_tool_doc` for it.",
    "reads: from so many reads in one job on, binding the tool in full is cheaper. Binding costs (full - deferred) in \
     each of N requests; a read costs `read` once and then stays in the history, on average for half of the job: \
     N * (full - deferred) against reads * read * (N + 1) / 2.",
];

/// The same tools in other modes.
fn with_modes<'a>(
    profile: &Profile<'a>,
    change: impl FnMut(&ProfileTool<'a>) -> Option<ProfileTool<'a>>,
) -> Profile<'a> {
    let tools = profile.tools.iter().filter_map(change).collect();
    Profile { name: profile.name, description: profile.description, tools }
}

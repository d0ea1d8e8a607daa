//! The cost of a catalog's tools in tokens: on each surface, and one by one. And, in [`retrieval`], measures of
//! search.
//!
//! 1. [`meter`] makes a payload, and counts the part of it that is in the context ([`context`]).
//! 2. [`surface`] compares the surfaces of a profile.
//! 3. [`tool`] compares the cost of one tool in full, deferred, and as a doc.
//! 4. [`cost`] adds this up over a job, [`whole_task`] estimates a task, and [`auto_surface()`] takes the surface that costs least.
//! 5. [`budget`] advises on tools to defer when a surface costs too much.
//! 6. [`table`] prints all of it for people; serialized, it is for scripts.

mod auto_surface;
mod budget;
mod context;
mod cost;
mod layout;
mod meter;
mod random;
mod request;
pub mod retrieval;
mod surface;
mod table;
mod tool;
mod whole_task;

use serde::Serialize;

use crate::catalog::{Catalog, Profile, ProfileTool, UnknownProfile};
use crate::config::{self, Deferred, Surface};
use crate::provider::Provider;
use crate::render::{TemplateError, Templates};

pub use auto_surface::{AutoSurface, auto_surface, surface_of};
pub use budget::OverBudget;
pub use request::RequestMeter;
pub use surface::{Measured, SurfaceReport};
pub use tool::ToolReport;

pub(crate) use layout::grouped;

use meter::Meter;

/// Options of the report.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The profile; `None` for the whole catalog and all of its profiles.
    pub profile: Option<&'a str>,
    /// The wire.
    pub provider: Provider,
    /// The surface; `None` for all.
    pub surface: Option<Surface>,
    /// Settings of payloads.
    pub payload: config::Payload,
    /// Requests per job.
    pub iterations: u32,
    /// Most tokens that a surface may bind.
    pub budget: Option<usize>,
}

/// The cost of a catalog's tools.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The registry version that was counted.
    pub registry_version: String,
    /// The wire.
    pub provider: &'static str,
    /// The schema of deferred tools.
    pub deferred: Deferred,
    /// Requests per job.
    pub iterations: u32,
    /// The whole catalog and its profiles, or the one profile that was named.
    pub profiles: Vec<ProfileReport>,
    /// Each tool, the largest first.
    pub tools: Vec<ToolReport>,
    /// Tools that cannot be bound for this provider, by canonical name; they are not counted.
    pub left_out: Vec<String>,
    /// Profiles that bind more than the budget, where one is set.
    pub over_budget: Vec<OverBudget>,
    /// Explanations of the numbers and of their limits.
    pub notes: Vec<&'static str>,
}

/// One profile on each surface.
#[derive(Debug, Serialize)]
pub struct ProfileReport {
    /// Its name; `None` for the whole catalog.
    pub profile: Option<String>,
    /// Number of its tools.
    pub tools: usize,
    /// Number of tools that are bound in full.
    pub full: usize,
    /// Number of tools that are deferred.
    pub deferred: usize,
    /// The surfaces, from most to least bound.
    pub surfaces: Vec<SurfaceReport>,
    /// The surface that `auto` stands for.
    pub auto: AutoSurface,
}

/// Reason why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// There is no such profile.
    #[error(transparent)]
    Profile(#[from] UnknownProfile),
    /// A template is broken.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// Makes the report. The same input gives the same numbers.
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
            auto: meter.auto(profile),
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

/// Notes under every report.
const NOTES: [&str; 7] = [
    "Counted is the compact JSON of the payload, with o200k (--json has cl100k too). What is billed \
     differs: every provider renders tools in a way of its own before it counts, and Claude and Gemini publish no \
     vocabulary. Between surfaces of one provider the ratio is what holds.",
    "bound: what is in the context of every request. What a provider's own deferral keeps out of it is sent but not \
     bound. What the model then searches for, reads or loads comes on top of it.",
    "wrapping: what is left of the whole without names, descriptions, schemas and our own functions. prompt: the section that \
     `toolcrib prompt` prints. saving: of bound and prompt together, against the surface `full`.",
    "task: an estimate of all requests of a whole task, each with the host's own context (`payload.host_tokens`), bound \
     and prompt. On `full` a task has 5.5 requests; deferred tools take up to 2.5 more, for searches and docs, whose text \
     stays in the context.",
    "job: bound and prompt in every request. cached: the first request at 1.25 of the price of a \
     token and later ones at 0.1, as Anthropic publishes for its prompt cache, if it never expires; other providers \
     have other prices.",
    "read: the doc, and a call of `read_tool_doc` for it.",
    "reads: from so many reads in one job on, binding the tool in full is cheaper. Binding costs (full - deferred) in \
     each of N requests; a read costs `read` once and then stays in the history, on average for half of the job: \
     N * (full - deferred) against reads * read * (N + 1) / 2.",
];

/// The same tools with other modes.
fn with_modes<'a>(
    profile: &Profile<'a>,
    change: impl FnMut(&ProfileTool<'a>) -> Option<ProfileTool<'a>>,
) -> Profile<'a> {
    let tools = profile.tools.iter().filter_map(change).collect();
    Profile { tools, ..*profile }
}

//! The cost of a catalog's tools in tokens: in each mode, and one by one. And, in [`retrieval`], measures of
//! search.
//!
//! 1. [`meter`] makes a payload, and counts the part of it that is in the context.
//! 2. [`table`] compares the modes of a profile, and the cost of one tool in full, deferred, and as a page, and prints both.
//! 3. [`mod@estimate`] estimates a task, takes the mode that costs least, and names the modes that fit a budget.

mod estimate;
mod meter;
pub mod retrieval;
mod table;

use serde::Serialize;

use toolcrib_catalog::config::{self, Deferred, Mode};
use toolcrib_catalog::{Catalog, Profile, ProfileTool, UnknownProfile};
use toolcrib_definition::DescriptionMode;
use toolcrib_docs::{TemplateError, Templates};

pub use estimate::{AutoMode, OverBudget, RequestCost, auto_mode, mode_of};
pub use meter::{Counted, Meter, TokenParts};
pub use table::{Measured, ModeReport, ToolReport};

pub use table::grouped;

/// Options of the report.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The profile; `None` for the whole catalog and all of its profiles.
    pub profile: Option<&'a str>,
    /// The mode; `None` for all.
    pub mode: Option<Mode>,
    /// Settings of payloads.
    pub payload: config::Payload,
    /// Most tokens that a mode may bind.
    pub budget: Option<usize>,
}

/// The cost of a catalog's tools.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The registry version that was counted.
    pub registry_version: String,
    /// The provider.
    pub provider: &'static str,
    /// The schema of deferred tools.
    pub deferred: Deferred,
    /// What the tools cost in each request, without toolcrib and with it.
    pub request: RequestCost,
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

/// One profile in each mode.
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
    /// The modes, from most to least bound.
    pub modes: Vec<ModeReport>,
    /// The mode that `auto` stands for.
    pub auto: AutoMode,
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
    let request = RequestCost::of(catalog, options.profile, options.payload)?;
    let mut meter = Meter::new(catalog, templates, options);
    let (tools, left_out) = table::tool_rows(&mut meter, &profiles[0])?;
    let mut reports = Vec::new();
    let mut over_budget = Vec::new();
    for profile in &profiles {
        let deferred = profile.tools.iter().filter(|entry| meter::is_deferred(entry)).count();
        reports.push(ProfileReport {
            profile: profile.name.map(str::to_string),
            tools: profile.tools.len(),
            full: profile.tools.len() - deferred,
            deferred,
            modes: table::mode_rows(&mut meter, profile)?,
            auto: meter.auto(profile),
        });
        over_budget.extend(estimate::over(&mut meter, profile));
    }
    Ok(Report {
        registry_version: catalog.version.clone(),
        provider: options.payload.provider.as_str(),
        deferred: options.payload.deferred,
        request,
        profiles: reports,
        tools,
        left_out,
        over_budget,
        notes: NOTES.to_vec(),
    })
}

/// Notes under every report.
const NOTES: [&str; 5] = [
    "Counted is the compact JSON of the payload, with o200k. What is billed differs: every provider renders tools in \
     a way of its own before it counts, and Claude and Gemini publish no vocabulary. Between modes of one provider the ratio is what holds.",
    "bound: what is in the context of every request. What a provider's own deferral keeps out of it is sent but not \
     bound. What the model then searches for, reads or loads comes on top of it.",
    "wrapping: what is left of the whole without names, descriptions, schemas and our own functions. prompt: the section that \
     `toolcrib prompt` prints. saving: of bound and prompt together, against the mode `full`.",
    "task: an estimate of all requests of a whole task, each with the host's own context (`payload.host_tokens`), bound \
     and prompt. On `full` a task has 5.5 requests; deferred tools take up to 2.5 more, for searches and docs, whose text \
     stays in the context.",
    "read: the doc, and a call of `read_tool_doc` for it.",
];

/// The same tools with other modes.
fn with_modes<'a>(profile: &Profile<'a>, mode: impl Fn(&ProfileTool<'a>) -> DescriptionMode) -> Profile<'a> {
    let tools = profile.tools.iter().map(|entry| ProfileTool { mode: mode(entry), ..*entry }).collect();
    Profile { tools, ..*profile }
}

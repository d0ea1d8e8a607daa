//! The cost of a catalog's tools in tokens: in each mode, and one by one. And, in [`retrieval`], measures of
//! search.
//!
//! 1. [`meter`] makes a payload, and counts the part of it that is in the context ([`context`]).
//! 2. [`mod@estimate`] estimates a task, and [`auto`] takes the mode that costs least. [`request_cost`] is one line about it.
//! 3. The report compares the modes of a profile ([`modes`]), and the cost of one tool in full, deferred, and as a page
//!    ([`tools`]), and names the modes that fit a budget ([`budget`]).
//! 4. [`table`] prints it for people.

mod auto;
mod budget;
mod context;
mod costs;
mod estimate;
mod meter;
mod modes;
mod request_cost;
pub mod retrieval;
mod table;
mod text;
mod tools;

use modes::mode_rows;
use toolcrib_catalog::{Catalog, UnknownProfile};
use toolcrib_render::{TemplateError, Templates};
use tools::tool_rows;

pub use auto::{AutoMode, auto_mode, auto_mode_soon, mode_of};
pub use budget::OverBudget;
pub use costs::{ProfileReport, Report};
pub use meter::{Counted, Meter, Options, TokenParts};
pub use modes::{Measured, ModeReport};
pub use request_cost::{CostReader, RequestCost};
pub use text::grouped;
pub use tools::ToolReport;

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
    let request = RequestCost::of(catalog, templates, options.profile, options.payload)?;
    let mut meter = Meter::new(catalog, templates, options);
    let (tools, left_out) = tool_rows(&mut meter, &profiles[0])?;
    let mut reports = Vec::new();
    let mut over_budget = Vec::new();
    for profile in &profiles {
        let deferred = profile.tools.iter().filter(|entry| meter::is_deferred(entry)).count();
        reports.push(ProfileReport {
            profile: profile.name.map(str::to_string),
            tools: profile.tools.len(),
            full: profile.tools.len() - deferred,
            deferred,
            modes: mode_rows(&mut meter, profile)?,
            auto: meter.auto(profile),
        });
        over_budget.extend(budget::over(&mut meter, profile));
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

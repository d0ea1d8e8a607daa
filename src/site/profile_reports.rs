//! Reports on profiles, which take a while: each is made once.

use super::Site;
use crate::provider::Provider;
use crate::render::TemplateError;
use crate::report::{self, Options, Report, ReportError};
use crate::tool::DescriptionMode;

/// Most tools on a page.
pub(super) const MAX_TOOLS: usize = 200;
/// The provider whose payload is counted.
pub(super) const PROVIDER: Provider = Provider::OpenAi;

/// The slow parts of the page, which are computed once.
#[derive(Debug)]
pub(super) struct ProfileReports {
    report: Result<Report, TemplateError>,
    /// The tools, in the order of the catalog, as many as a page lists.
    pub(super) full: Vec<usize>,
    pub(super) deferred: Vec<usize>,
}

impl ProfileReports {
    pub(super) fn of(site: &Site<'_>, profile: Option<&str>) -> Self {
        let options = Options {
            profile,
            provider: PROVIDER,
            mode: None,
            payload: site.catalog.config.payload,
            budget: None,
        };
        let report = report::report(site.catalog, site.templates, options).map_err(|error| match error {
            ReportError::Template(error) => error,
            ReportError::Profile(error) => {
                TemplateError { name: "site/profile.html".into(), problem: error.to_string(), missing: None }
            }
        });
        let tools = site.catalog.profile(profile).map(|profile| profile.tools).unwrap_or_default();
        let of = |mode| {
            let chosen = tools.iter().filter(|entry| entry.mode == mode).take(MAX_TOOLS);
            chosen.filter_map(|entry| site.index.tool_file(site.catalog, &entry.tool.safe_name)).collect()
        };
        let (full, deferred) = (of(DescriptionMode::Full), of(DescriptionMode::Deferred));
        Self { report, full, deferred }
    }

    pub(super) fn report(&self) -> Result<&Report, TemplateError> {
        self.report.as_ref().map_err(Clone::clone)
    }
}

//! What a report has: the cost of a catalog's tools, of each profile in each mode, and of each tool.

use serde::Serialize;

use super::auto::AutoMode;
use super::budget::OverBudget;
use super::modes::ModeReport;
use super::request_cost::RequestCost;
use super::tools::ToolReport;
use toolcrib_catalog::config::Deferred;

/// The cost of a catalog's tools.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The registry version that was counted.
    pub registry_version: String,
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

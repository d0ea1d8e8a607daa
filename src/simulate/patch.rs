//! A choice as settings of `toolcrib.toml`: the surface, and the tools of a profile in full and deferred.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;

use super::Simulation;
use crate::catalog::Tool;
use crate::config::{Config, Selectors, Surface};
use crate::provider::Provider;
use crate::tool::DescriptionMode;

/// The profile of a choice for the whole catalog.
const TUNED: &str = "tuned";

/// Settings of `toolcrib.toml`.
#[derive(Clone, Debug, Serialize)]
pub struct Patch {
    /// The table that names the surface: `payload`, or `serve` for MCP clients.
    pub table: &'static str,
    pub surface: Surface,
    /// The profile with the lists; `None` where the surface binds tools whatever their modes.
    pub profile: Option<String>,
    pub full: Vec<String>,
    /// Selectors of tools that would be full by another setting.
    pub deferred: Vec<String>,
}

impl Patch {
    /// The settings by which these tools of the simulation's profile are full, and all others deferred.
    pub(super) fn of(simulation: &Simulation<'_>, surface: Surface, full: &HashSet<&str>) -> Self {
        let table = if simulation.provider == Provider::Mcp { "serve" } else { "payload" };
        let has_lists = ![Surface::Full, Surface::Gateway].contains(&surface);
        if !has_lists {
            return Self { table, surface, profile: None, full: Vec::new(), deferred: Vec::new() };
        }
        let name = simulation.profile.unwrap_or(TUNED);
        let tools = simulation.catalog.tools.iter().map(|tool| &**tool);
        let is_full = |tool: &&Tool| full.contains(tool.name.as_str());
        let listed: Vec<&Tool> = tools.clone().filter(is_full).collect();
        let selectors: Vec<String> = listed.iter().map(|tool| selector(&tool.name)).collect();
        let deferred = deferred(simulation, name, &listed, &selectors);
        Self { table, surface, profile: Some(name.to_string()), full: selectors, deferred }
    }
}

/// The selectors of deferred tools: the profile's own, unless they select a full tool, and every tool that another
/// setting would make full.
fn deferred(simulation: &Simulation<'_>, name: &str, full: &[&Tool], selectors: &[String]) -> Vec<String> {
    let catalog = simulation.catalog;
    let mut config = Config::clone(&catalog.config);
    let profile = config.profiles.entry(name.to_string()).or_default();
    let own: Vec<String> = std::mem::take(&mut profile.deferred).into();
    let kept = own.into_iter().filter(|text| {
        let one = Selectors::from_iter([text.clone()]);
        !full.iter().any(|tool| one.contains(&tool.facts()))
    });
    let kept: Vec<String> = kept.collect();
    profile.full = selectors.iter().cloned().collect();
    profile.deferred = kept.iter().cloned().collect();
    let mut changed = catalog.with_tools(catalog.tools.clone());
    changed.config = Arc::new(config);
    let Ok(mode) = changed.modes(Some(name)) else { return kept };
    let is_wrong = |tool: &&Arc<Tool>| {
        mode(tool) == Some(DescriptionMode::Full) && !full.iter().any(|chosen| chosen.name == tool.name)
    };
    let wrong = catalog.tools.iter().filter(is_wrong).map(|tool| selector(&tool.name));
    kept.iter().cloned().chain(wrong).collect()
}

/// The selector of a name.
fn selector(name: &str) -> String {
    let reads_as_other = name.split_once(':').is_some_and(|(subject, _)| {
        ["name", "category", "tag", "source", "server", "effect"].contains(&subject)
    });
    if reads_as_other { format!("name:{name}") } else { name.to_string() }
}

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
    /// Whether tools of the profile without a mode of their own have to be deferred, since another setting makes them full.
    pub is_deferred: bool,
    pub full: Vec<String>,
    /// Selectors of tools that would be full by another setting.
    pub deferred: Vec<String>,
}

impl Patch {
    /// The settings by which these tools of the simulation's profile are full, and all others deferred.
    pub(super) fn of(simulation: &Simulation<'_>, surface: Surface, full: &HashSet<&str>) -> Self {
        let table = if simulation.provider == Provider::Mcp { "serve" } else { "payload" };
        let has_lists = ![Surface::Full, Surface::Gateway].contains(&surface);
        let plain = Self {
            table,
            surface,
            profile: None,
            is_deferred: false,
            full: Vec::new(),
            deferred: Vec::new(),
        };
        if !has_lists {
            return plain;
        }
        let name = simulation.profile.unwrap_or(TUNED).to_string();
        let mut config = Config::clone(&simulation.catalog.config);
        let of_catalog = config.description_mode;
        let profile = config.profiles.entry(name.clone()).or_default();
        let is_deferred = profile.description_mode.or(of_catalog) == Some(DescriptionMode::Full);
        if is_deferred {
            profile.description_mode = Some(DescriptionMode::Deferred);
        }
        let tools = || simulation.catalog.tools.iter();
        let is_full = |tool: &&Arc<Tool>| full.contains(tool.name.as_str());
        let selectors: Vec<String> = tools().filter(is_full).map(|tool| selector(&tool.name)).collect();
        let own: Vec<String> = std::mem::take(&mut profile.deferred).into();
        let selects_none = |text: &String| {
            let one = Selectors::from_iter([text.clone()]);
            !tools().filter(is_full).any(|tool| one.contains(&tool.facts()))
        };
        let mut deferred: Vec<String> = own.into_iter().filter(selects_none).collect();
        profile.full = selectors.iter().cloned().collect();
        profile.deferred = deferred.iter().cloned().collect();
        let mut changed = simulation.catalog.with_tools(simulation.catalog.tools.clone());
        changed.config = Arc::new(config);
        if let Ok(mode) = changed.modes(Some(&name)) {
            let is_wrong = |tool: &&Arc<Tool>| mode(tool) == Some(DescriptionMode::Full) && !is_full(tool);
            deferred.extend(tools().filter(is_wrong).map(|tool| selector(&tool.name)));
        }
        Self { profile: Some(name), is_deferred, full: selectors, deferred, ..plain }
    }
}

/// The selector of a name.
fn selector(name: &str) -> String {
    let reads_as_other = name.split_once(':').is_some_and(|(subject, _)| {
        ["name", "category", "tag", "source", "server", "effect"].contains(&subject)
    });
    if reads_as_other { format!("name:{name}") } else { name.to_string() }
}

//! `toolcrib.toml` as a whole: its settings, each in a table of its own.

use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exec::{ApprovalNotice, Exec};
use super::lint::Lint;
use super::live_name::live_name;
use super::overlay::Overlay;
use super::pages::{Category, Render, ShortDescription};
use super::payload::{Payload, Repair};
use super::profile::Profile;
use super::search::{Eval, Search};
use super::serve::Serve;
use super::server::Server;
use super::source::Source;
use super::state::{State, Telemetry};
use toolcrib_definition::DescriptionMode;

/// The configuration of a catalog. Everything is optional.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, title = "toolcrib.toml")]
pub struct Config {
    /// The file with this configuration, where there is one.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// The title of the catalog on its pages.
    pub title: Option<String>,
    /// A file of environment variables for servers, `NAME=value` on each line, relative to the configuration. They win over
    /// those of the environment.
    pub env_file: Option<PathBuf>,
    /// Overlays that ship with toolcrib, applied before your own: `buildos`.
    pub presets: Vec<String>,
    /// The description mode of tools that no more specific setting covers.
    pub description_mode: Option<DescriptionMode>,
    /// Longest short description.
    pub short_description: ShortDescription,
    /// Sources of definitions; without any, all definition files beside this file.
    #[serde(rename = "source")]
    pub sources: Vec<Source>,
    /// Fields added to tools of a source; later overlays win.
    #[serde(rename = "overlay")]
    pub overlays: Vec<Overlay>,
    /// Categories with their own summary or tags.
    #[serde(rename = "category")]
    pub categories: Vec<Category>,
    /// The profiles: one set of tools for each kind of agent.
    #[serde(rename = "profile")]
    pub profiles: IndexMap<String, Profile>,
    /// Severities of findings, and findings to leave out.
    pub lint: Lint,
    /// Settings of the documentation.
    pub render: Render,
    /// Settings of payloads.
    pub payload: Payload,
    /// A model that may repair a call once; unset, no call is repaired by a model.
    pub repair: Option<Repair>,
    /// Settings of search.
    pub search: Search,
    /// Settings of the server.
    pub serve: Serve,
    /// The servers that run tools, by the names that backends use for them.
    #[serde(rename = "server")]
    pub servers: IndexMap<String, Server>,
    /// Settings of calls.
    pub exec: Exec,
    /// Where people learn of calls that wait for them.
    pub approval: ApprovalNotice,
    /// Where traces and metrics are sent.
    pub telemetry: Telemetry,
    /// The place of state: keys, approvals, sessions, traces.
    pub state: State,
    /// Labelled queries, and the thresholds of search.
    pub eval: Eval,
}

impl Config {
    /// The file to edit, for messages: by its path for the person of this machine, and by its name for others.
    pub fn place(&self, is_here: bool) -> String {
        match &self.file {
            Some(path) if is_here => path.display().to_string(),
            _ => "toolcrib.toml".into(),
        }
    }

    /// The live MCP servers among the sources, each with its name as in findings, `mcp:NAME`.
    pub fn live_sources(&self) -> impl Iterator<Item = (String, &Source)> {
        let sources = self.sources.iter().enumerate();
        sources
            .filter(|(_, source)| source.mcp.as_ref().is_some_and(|server| server.problem().is_none()))
            .map(|(index, source)| {
                let name = source.server.clone().unwrap_or_else(|| (index + 1).to_string());
                (live_name(&name), source)
            })
    }
}

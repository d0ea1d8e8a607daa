//! `toolcrib.toml`: read with places, checked, and handed on as plain values.
//!
//! 1. [`read`] finds the configuration that a `--catalog` path means, and reads it field by field.
//! 2. [`Selector`]s pick tools by name, category, tag, source, server or effect.
//! 3. [`Overlay`]s give tools what their source does not say; presets are overlays that we ship.

mod eval;
mod exec;
mod overlay;
mod payload;
mod preset;
mod read;
mod search;
mod selector;
mod serve;
mod server;
mod state;

use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tool::{DescriptionMode, Effect};

pub use eval::{Eval, Thresholds};
pub use exec::{Exec, RequireDoc, TrustHints};
pub use overlay::Overlay;
pub use payload::{Deferred, Payload, Repair, SearchBy, Surface};
pub use preset::preset_names;
pub use read::{Workspace, read};
pub use search::{Search, SearchModel, SearchSemantic};
pub use selector::{Facts, Selector, Selectors};
pub use serve::{Serve, ServeLimits, ServeSurface, ServeToken, ToolList};
pub use server::Server;
pub use state::{State, WhenUnwritable};

/// The configuration of a catalog. Everything is optional.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, title = "toolcrib.toml")]
pub struct Config {
    /// What the catalog is called on its pages.
    pub title: Option<String>,
    /// Overlays that ship with toolcrib, applied before your own: `buildos`.
    pub presets: Vec<String>,
    /// The mode of tools for which nothing else says one.
    pub description_mode: Option<DescriptionMode>,
    /// How long a short description may be.
    pub short_description: ShortDescription,
    /// Where definitions come from; without any, all definition files beside this file.
    #[serde(rename = "source")]
    pub sources: Vec<Source>,
    /// What tools get that their source does not say; later ones win.
    #[serde(rename = "overlay")]
    pub overlays: Vec<Overlay>,
    /// What is said of categories beyond what follows from their tools.
    #[serde(rename = "category")]
    pub categories: Vec<Category>,
    /// The sets of tools that kinds of agents get.
    #[serde(rename = "profile")]
    pub profiles: IndexMap<String, Profile>,
    /// Which findings matter.
    pub lint: Lint,
    /// How documentation is written.
    pub render: Render,
    /// How payloads are made.
    pub payload: Payload,
    /// A model that may repair a call, once; none unless it is named.
    pub repair: Option<Repair>,
    /// How tools are searched.
    pub search: Search,
    /// How the catalog is served.
    pub serve: Serve,
    /// The servers that run tools, by the names that backends have for them.
    #[serde(rename = "server")]
    pub servers: IndexMap<String, Server>,
    /// How calls are run.
    pub exec: Exec,
    /// Where what outlives a call is kept.
    pub state: State,
    /// How well search has to do on it.
    pub eval: Eval,
}

/// The cap on short descriptions; the tighter limit counts.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ShortDescription {
    /// In characters.
    pub max_chars: usize,
    /// In tokens, estimated.
    pub max_tokens: usize,
}

impl Default for ShortDescription {
    fn default() -> Self {
        Self { max_chars: 120, max_tokens: 30 }
    }
}

/// Where definitions come from.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Source {
    /// A file, a folder or a glob, relative to the configuration.
    pub path: String,
    /// A live MCP server instead of a path.
    pub mcp: Option<Server>,
    /// The server that the tools belong to, when the source does not say.
    pub server: Option<String>,
    /// The category of tools that have none.
    pub category: Option<String>,
    /// Whether its definitions may name programs and environment variables: `run`, or `read` when absent.
    #[serde(skip_serializing_if = "Trust::is_read")]
    pub trust: Trust,
}

/// How far the operator trusts the definitions of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// They are documented. Programs that they name are not run, and a read effect is a claim.
    #[default]
    Read,
    /// They count as if the operator had written them.
    Run,
}

impl Trust {
    fn is_read(&self) -> bool {
        *self == Trust::Read
    }
}

/// What is said of a category.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["path"]))]
pub struct Category {
    /// Its path, such as `Storage/Buckets`.
    pub path: String,
    /// What its tools are for, in one line. Derived when absent.
    pub summary: Option<String>,
    /// Labels to filter by. Those that its tools have most often when absent.
    pub tags: Vec<String>,
}

/// The set of tools that one kind of agent gets (DOC-4).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Profile {
    /// Who it is for.
    pub description: Option<String>,
    /// Tools to take; all when empty.
    pub include: Selectors,
    /// Tools to leave out of those.
    pub exclude: Selectors,
    /// Core tools, bound in full whatever they say themselves.
    pub full: Selectors,
    /// Tools that are deferred whatever they say themselves; wins over `full`.
    pub deferred: Selectors,
    /// The mode of the profile's tools for which nothing else says one.
    pub description_mode: Option<DescriptionMode>,
    /// The most that its calls may change, where that is less than `[exec] allow`.
    pub allow: Option<Effect>,
}

/// Which findings matter.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Lint {
    /// Severity by finding code.
    pub severity: IndexMap<String, LintLevel>,
    /// Findings to leave out.
    pub ignore: Vec<Ignore>,
}

/// A configured severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LintLevel {
    /// `check` exits 1.
    Error,
    /// Reported.
    Warning,
    /// Reported on request.
    Info,
    /// Not reported.
    Off,
}

/// Findings to leave out.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["code"]))]
pub struct Ignore {
    /// The finding code.
    pub code: String,
    /// The tools for which it is left out; all when empty.
    #[serde(rename = "match")]
    pub tools: Selectors,
    /// Why, for the next reader.
    pub reason: Option<String>,
}

/// How documentation is written.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Render {
    /// A folder of templates that replace ours one by one, relative to the configuration.
    pub templates: Option<PathBuf>,
    /// Up to this many tools the index lists each; beyond, it lists category pages.
    pub index_tools: usize,
    /// The size that no index page exceeds, in tokens.
    pub page_tokens: usize,
}

impl Default for Render {
    fn default() -> Self {
        Self { templates: None, index_tools: 150, page_tokens: 3000 }
    }
}

//! Profiles: the set of tools that one kind of agent gets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::selector::Selectors;
use toolcrib_definition::{DescriptionMode, Effect};

/// The name that stands for every profile in `profiles` of the server and of grants.
pub const EVERY_PROFILE: &str = "*";

/// The set of tools that one kind of agent gets.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Profile {
    /// The kind of agent that it is for.
    pub description: Option<String>,
    /// Tools to take; all when empty.
    pub include: Selectors,
    /// Tools to leave out of the ones taken.
    pub exclude: Selectors,
    /// Core tools, bound in full whatever their own mode.
    pub full: Selectors,
    /// Tools that are deferred whatever their own mode; wins over `full`.
    pub deferred: Selectors,
    /// The description mode of the profile's tools without a more specific setting.
    pub description_mode: Option<DescriptionMode>,
    /// The strongest effect of its calls, where it is less than `[exec] allow`.
    pub allow: Option<Effect>,
}

impl Profile {
    /// Its lists of tools, by the names of their settings.
    pub(crate) fn lists(&self) -> [(&'static str, &Selectors); 4] {
        let Self { include, exclude, full, deferred, .. } = self;
        [("include", include), ("exclude", exclude), ("full", full), ("deferred", deferred)]
    }
}

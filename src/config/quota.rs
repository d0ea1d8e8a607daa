//! Limits of calls, by caller, role and tool.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Facts, Selectors};

/// A limit of calls. Each caller has a count of its own, which the selected tools share. A call has to keep every limit that is
/// for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Quota {
    /// The role of the callers that it limits; every caller when absent.
    pub role: Option<String>,
    /// The name of the one caller that it limits; every caller when absent.
    pub caller: Option<String>,
    /// The tools whose calls count; every tool when empty.
    pub tools: Selectors,
    /// Most calls in a minute, over a longer time.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub per_minute: Option<u32>,
    /// Most calls without a pause between them; `per_minute` when absent.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub burst: Option<u32>,
    /// Most calls that run at once.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub at_once: Option<u32>,
}

impl Quota {
    /// The mistake in these settings; `None` when there is none.
    pub fn problem(&self) -> Option<&'static str> {
        match (self.per_minute, self.burst, self.at_once) {
            (None, Some(_), _) => Some("`burst` needs `per_minute`: the calls that follow it"),
            (None, None, None) => Some("a quota has `per_minute`, `at_once` or both"),
            _ => None,
        }
    }

    /// Whether it limits the caller of this name with these roles.
    pub fn limits(&self, caller: &str, roles: &[String]) -> bool {
        self.caller.as_deref().is_none_or(|name| name == caller)
            && self.role.as_ref().is_none_or(|role| roles.contains(role))
    }

    /// Whether calls of this tool count.
    pub fn counts(&self, tool: &Facts<'_>) -> bool {
        self.tools.is_empty() || self.tools.contains(tool)
    }
}

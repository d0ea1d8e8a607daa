//! Options of a pick, and its filter of tools.

use std::time::Duration;

use toolcrib_catalog::Tool;
use toolcrib_definition::Effect;

/// Options of a pick.
#[derive(Clone, Debug)]
pub struct Options {
    /// Most tools to pick.
    pub max_candidates: usize,
    /// Least score of a picked tool.
    pub min_score: f32,
    /// Whether tools that are marked unsafe count.
    pub allow_unsafe: bool,
    /// Filter of all other tools.
    pub filter: Filter,
    /// Longest time of scoring altogether.
    pub timeout: Option<Duration>,
    /// Whether each tool has the provenance of its score.
    pub debug: bool,
}

impl Default for Options {
    fn default() -> Self {
        let filter = Filter::default();
        Self { max_candidates: 3, min_score: 0.05, allow_unsafe: false, filter, timeout: None, debug: false }
    }
}

impl Options {
    /// Whether a tool passes the filter.
    pub fn counts(&self, tool: &Tool) -> bool {
        (self.allow_unsafe || tool.rules.safe != Some(false)) && self.filter.passes(tool)
    }
}

/// A filter of tools. A missing field does not exclude a tool, except for capabilities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Keeps tools that this role may call.
    pub role: Option<String>,
    /// Keeps tools with all of these capabilities, such as `streaming`.
    pub capabilities: Vec<String>,
    /// Keeps tools that cost at most this.
    pub max_cost: Option<f64>,
    /// Keeps tools with at most this effect.
    pub max_effect: Option<Effect>,
}

impl Filter {
    /// Whether the filter keeps a tool.
    pub fn passes(&self, tool: &Tool) -> bool {
        let roles = &tool.rules.roles;
        let can =
            |wanted: &String| tool.labels.capabilities.iter().any(|known| known.eq_ignore_ascii_case(wanted));
        self.role.as_ref().is_none_or(|role| roles.is_empty() || roles.contains(role))
            && self.capabilities.iter().all(can)
            && self.max_cost.is_none_or(|most| tool.labels.cost.is_none_or(|cost| cost <= most))
            && self.max_effect.is_none_or(|most| tool.rules.effect <= most)
    }
}

//! Filters tools by fields of their definitions.

use crate::catalog::Tool;
use crate::tool::Effect;

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
        let definition = &tool.definition;
        let roles = &definition.allowed_roles;
        let can =
            |wanted: &String| definition.capabilities.iter().any(|known| known.eq_ignore_ascii_case(wanted));
        self.role.as_ref().is_none_or(|role| roles.is_empty() || roles.contains(role))
            && self.capabilities.iter().all(can)
            && self.max_cost.is_none_or(|most| definition.cost.is_none_or(|cost| cost <= most))
            && self.max_effect.is_none_or(|most| tool.effect <= most)
    }
}

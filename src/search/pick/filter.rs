//! Which tools count, by what their definitions say of them.

use crate::catalog::Tool;
use crate::tool::Effect;

/// Which tools count. What a definition does not say does not keep its tool out, but for capabilities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Those that this role may call.
    pub role: Option<String>,
    /// Those that can do all of these, such as `streaming`.
    pub capabilities: Vec<String>,
    /// Those that cost no more.
    pub max_cost: Option<f64>,
    /// Those whose calls change no more.
    pub max_effect: Option<Effect>,
}

impl Filter {
    /// Whether a tool counts.
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

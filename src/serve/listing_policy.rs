//! The policy of the lists of clients: functions of toolcrib, or the catalog's own tools. It depends only on the
//! configuration.

use crate::config::{ServeSurface, ToolList};

/// The policy of the lists of clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListingPolicy {
    /// The catalog's tools, or functions of toolcrib.
    pub surface: ServeSurface,
    /// The functions that are listed, where functions are.
    pub tool_list: ToolList,
    /// Whether `tool_exec` is listed as two tools, one that reads and one that changes something.
    pub split_exec: bool,
}

/// The functions of the gateway: a model sees at most four.
const GATEWAY: [&str; 4] = ["tool_search", "tool_help", "tool_exec", "tool_batch"];
/// The same for clients that ask a person depending on the effect. A batch may have any effect.
const SPLIT: [&str; 4] = ["tool_search", "tool_help", "tool_exec_read", "tool_exec_write"];
const DISCOVERY: [&str; 6] =
    ["list", "search_nodes", "search_tool_by_category", "expand_tool", "call_tool", "read_tool_doc"];
/// Functions for tools that are listed in short form.
const HYBRID: [&str; 2] = ["read_tool_doc", "tool_search"];

impl ListingPolicy {
    /// Whether a function is listed.
    pub fn lists(self, function: &str) -> bool {
        match (self.surface, self.tool_list) {
            (ServeSurface::Full, _) => false,
            (ServeSurface::Hybrid, _) => HYBRID.contains(&function),
            (ServeSurface::Gateway, ToolList::Gateway) if self.split_exec => SPLIT.contains(&function),
            (ServeSurface::Gateway, ToolList::Gateway) => GATEWAY.contains(&function),
            (ServeSurface::Gateway, ToolList::Discovery) => DISCOVERY.contains(&function),
            (ServeSurface::Gateway, ToolList::All) => match function {
                "tool_exec" => !self.split_exec,
                "tool_exec_read" | "tool_exec_write" => self.split_exec,
                _ => true,
            },
        }
    }

    /// Whether the catalog's tools are listed.
    pub fn lists_tools(self) -> bool {
        self.surface != ServeSurface::Gateway
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::Function;

    #[test]
    fn the_gateway_shows_four_functions() {
        let shown = |shown: ListingPolicy| {
            Function::all().iter().filter(|function| shown.lists(function.name())).count()
        };
        assert_eq!(shown(ListingPolicy::default()), 4);
        assert_eq!(shown(ListingPolicy { split_exec: true, ..ListingPolicy::default() }), 4);
        assert_eq!(shown(ListingPolicy { tool_list: ToolList::Discovery, ..ListingPolicy::default() }), 6);
        assert_eq!(shown(ListingPolicy { surface: ServeSurface::Hybrid, ..ListingPolicy::default() }), 2);
        assert_eq!(shown(ListingPolicy { surface: ServeSurface::Full, ..ListingPolicy::default() }), 0);
    }
}

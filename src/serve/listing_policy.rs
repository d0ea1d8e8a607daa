//! The policy of the lists of clients: functions of toolcrib, or the catalog's own tools. It depends only on the
//! configuration.

use crate::config::{ServeSurface, ToolList};
use crate::functions::{Function, FunctionList};

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

impl ListingPolicy {
    /// Whether a function is listed.
    pub fn lists(self, function: &Function) -> bool {
        self.function_list().is_some_and(|list| function.is_in(list))
    }

    /// The list of functions for clients.
    fn function_list(self) -> Option<FunctionList> {
        // `gateway` and `core` have the same functions.
        Some(match (self.surface, self.tool_list, self.split_exec) {
            (ServeSurface::Full, ..) => return None,
            (ServeSurface::Hybrid, ..) => FunctionList::Hybrid,
            (_, ToolList::Gateway, false) => FunctionList::Gateway,
            (_, ToolList::Gateway, true) => FunctionList::SplitGateway,
            (_, ToolList::Discovery, _) => FunctionList::Discovery,
            (_, ToolList::All, false) => FunctionList::All,
            (_, ToolList::All, true) => FunctionList::SplitAll,
        })
    }

    /// Whether the catalog's tools are listed.
    pub fn lists_tools(self) -> bool {
        self.surface != ServeSurface::Gateway
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gateway_shows_four_functions() {
        let shown =
            |shown: ListingPolicy| Function::all().iter().filter(|function| shown.lists(function)).count();
        assert_eq!(shown(ListingPolicy::default()), 4);
        assert_eq!(shown(ListingPolicy { split_exec: true, ..ListingPolicy::default() }), 4);
        assert_eq!(shown(ListingPolicy { tool_list: ToolList::Discovery, ..ListingPolicy::default() }), 6);
        assert_eq!(shown(ListingPolicy { surface: ServeSurface::Core, ..ListingPolicy::default() }), 4);
        assert_eq!(shown(ListingPolicy { surface: ServeSurface::Hybrid, ..ListingPolicy::default() }), 2);
        assert_eq!(shown(ListingPolicy { surface: ServeSurface::Full, ..ListingPolicy::default() }), 0);
    }
}

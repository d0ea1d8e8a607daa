//! The policy of the lists of clients: functions of toolcrib, or the catalog's own tools. It depends only on the
//! configuration and on the catalog that the server started with, so that a list keeps its kind for every client.

use std::collections::BTreeMap;

use crate::catalog::Catalog;
use crate::config::{Mode, ServeMode, ToolList};
use crate::functions::{Function, FunctionList};
use crate::provider::{PayloadRequest, Provider};
use crate::report::{AutoMode, auto_mode};

/// Modes that `auto` may stand for in a list.
const CANDIDATES: [Mode; 2] = [Mode::Full, Mode::Gateway];

/// The policy of the lists of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListingPolicy {
    /// The catalog's tools, or functions of toolcrib: `full`, `hybrid` or `gateway`.
    pub mode: Mode,
    /// The functions that are listed, where functions are.
    pub tool_list: ToolList,
    /// Whether `tool_exec` is listed as two tools, one that reads and one that changes something.
    pub split_exec: bool,
}

impl Default for ListingPolicy {
    fn default() -> Self {
        Self { mode: Mode::Gateway, tool_list: ToolList::default(), split_exec: false }
    }
}

impl ListingPolicy {
    /// Whether a function is listed.
    pub fn lists(self, function: &Function) -> bool {
        self.function_list().is_some_and(|list| function.is_in(list))
    }

    /// The list of functions for clients.
    fn function_list(self) -> Option<FunctionList> {
        Some(match (self.mode, self.tool_list, self.split_exec) {
            (Mode::Full, ..) => return None,
            (Mode::Hybrid, ..) => FunctionList::Hybrid,
            (_, ToolList::Gateway, false) => FunctionList::Gateway,
            (_, ToolList::Gateway, true) => FunctionList::SplitGateway,
            (_, ToolList::Discovery, _) => FunctionList::Discovery,
            (_, ToolList::All, false) => FunctionList::All,
            (_, ToolList::All, true) => FunctionList::SplitAll,
        })
    }
}

/// Options of the policies: `mode` may be `auto`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListingOptions {
    /// The tool list of a client.
    pub mode: ServeMode,
    /// The functions that are listed, if somebody asks for some.
    pub tool_list: Option<ToolList>,
    /// Whether `tool_exec` is listed as two tools, one that reads and one that changes something.
    pub split_exec: bool,
}

/// The policies of all profiles, decided at the start.
#[derive(Debug)]
pub(super) struct Listings {
    policy: ListingPolicy,
    /// The mode of each profile for which `auto` was decided; `None` is the whole catalog.
    decided: BTreeMap<Option<String>, Mode>,
}

impl Listings {
    /// Decides on the policies of these profiles, the one of requests that choose none first. A catalog that lacks tools
    /// now may get any number of them later, so that its mode is `gateway`. So it is where somebody asks for functions.
    pub(super) fn of<'p>(
        options: ListingOptions,
        catalog: &Catalog,
        profiles: impl Iterator<Item = Option<&'p str>>,
    ) -> Self {
        let ListingOptions { mode, tool_list, split_exec } = options;
        let asks_for_functions = tool_list.is_some() || split_exec;
        let tool_list = tool_list.unwrap_or_default();
        let policy = ListingPolicy { mode: Mode::Gateway, tool_list, split_exec };
        if let Some(mode) = mode.named() {
            return Self { policy: ListingPolicy { mode, ..policy }, decided: BTreeMap::new() };
        }
        let mut decided = BTreeMap::new();
        for name in profiles.filter(|_| catalog.complete && !asks_for_functions) {
            let Some(auto) = decide(catalog, name).filter(|_| !catalog.tools.is_empty()) else { continue };
            let profile = name.unwrap_or("the whole catalog");
            tracing::info!(profile, "{}", auto.note());
            decided.insert(name.map(str::to_string), auto.mode);
        }
        Self { policy, decided }
    }

    /// The policy of a profile. One that was not there at the start gets the gateway.
    pub(super) fn policy(&self, profile: Option<&str>) -> ListingPolicy {
        let decided = self.decided.iter().find(|(name, _)| name.as_deref() == profile);
        ListingPolicy { mode: decided.map_or(self.policy.mode, |(_, mode)| *mode), ..self.policy }
    }
}

fn decide(catalog: &Catalog, profile: Option<&str>) -> Option<AutoMode> {
    let profile = &catalog.profile(profile).ok()?;
    let (provider, options) = (Provider::Mcp, catalog.config.payload);
    let request = PayloadRequest { catalog, profile, provider, mode: Mode::Full, options };
    Some(auto_mode(&request, &CANDIDATES))
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
        assert_eq!(shown(ListingPolicy { mode: Mode::Hybrid, ..ListingPolicy::default() }), 2);
        assert_eq!(shown(ListingPolicy { mode: Mode::Full, ..ListingPolicy::default() }), 0);
    }
}

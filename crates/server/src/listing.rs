//! What clients list: toolcrib's functions, or the catalog's tools. The policy depends only on the configuration and
//! on the catalog that the server started with, so that every client gets the same kind of list.

use std::collections::BTreeMap;

use toolcrib_catalog::Catalog;
use toolcrib_catalog::config::{Mode, ServeMode, ToolList};
use toolcrib_gateway::functions::{Function, FunctionList};
use toolcrib_providers::report::{AutoMode, auto_mode_soon};
use toolcrib_providers::{PayloadRequest, Provider};
use toolcrib_render::Templates;

/// What clients list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListingPolicy {
    /// The catalog's tools, or functions of toolcrib: `full`, `hybrid` or `gateway`.
    pub mode: Mode,
    /// The functions that are listed, unless the mode is `full` or `hybrid`.
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

/// Options of the policies. The mode may be `auto`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListingOptions {
    /// The tool list of a client.
    pub mode: ServeMode,
    /// The functions that are listed, if the operator chose them.
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
    /// Decides the policy of each profile. Only the tools that could be read count, so that an unreadable source does
    /// not change how other tools are listed. Without tools, or if the operator chose a list of functions, `auto` means
    /// `gateway`.
    pub(super) fn of<'p>(
        options: ListingOptions,
        catalog: &Catalog,
        templates: &Templates,
        profiles: impl Iterator<Item = Option<&'p str>>,
    ) -> Self {
        let ListingOptions { mode, tool_list, split_exec } = options;
        let named = Mode::named(mode);
        let mut decided = BTreeMap::new();
        if named.is_none() && tool_list.is_none() && !catalog.tools.is_empty() {
            for name in profiles {
                let Some(auto) = decide(catalog, templates, name) else { continue };
                let profile = name.unwrap_or("the whole catalog");
                tracing::info!(profile, "{}", auto.note());
                decided.insert(name.map(str::to_string), auto.mode);
            }
        }
        let mode = named.unwrap_or(Mode::Gateway);
        Self { policy: ListingPolicy { mode, tool_list: tool_list.unwrap_or_default(), split_exec }, decided }
    }

    /// The policy of a profile. With `auto`, a profile that was not there at the start gets `gateway`.
    pub(super) fn policy(&self, profile: Option<&str>) -> ListingPolicy {
        let decided = self.decided.iter().find(|(name, _)| name.as_deref() == profile);
        ListingPolicy { mode: decided.map_or(self.policy.mode, |(_, mode)| *mode), ..self.policy }
    }
}

fn decide(catalog: &Catalog, templates: &Templates, profile: Option<&str>) -> Option<AutoMode> {
    let profile = &catalog.profile(profile).ok()?;
    let provider = Provider::Mcp;
    let options = catalog.config.payload;
    let request = PayloadRequest { catalog, profile, provider, mode: Mode::Full, options };
    Some(auto_mode_soon(&request, templates))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gateway_shows_four_functions() {
        let usual = ListingPolicy { mode: Mode::Gateway, tool_list: ToolList::default(), split_exec: false };
        let shown =
            |shown: ListingPolicy| Function::all().iter().filter(|function| shown.lists(function)).count();
        assert_eq!(shown(usual), 4);
        assert_eq!(shown(ListingPolicy { split_exec: true, ..usual }), 4);
        assert_eq!(shown(ListingPolicy { tool_list: ToolList::Discovery, ..usual }), 6);
        assert_eq!(shown(ListingPolicy { mode: Mode::Hybrid, ..usual }), 2);
        assert_eq!(shown(ListingPolicy { mode: Mode::Full, ..usual }), 0);
    }
}

//! Differences to the direct connection that show in the tools of a server: `adopt` and `doctor` print them after those of its entry.

use toolcrib_catalog::config::{Difference, Mode};
use toolcrib_catalog::{Catalog, Tool};
use toolcrib_definition::Effect;

/// The differences in the tools of a server, which a client lists in this mode.
pub(super) fn of_tools(catalog: &Catalog, server: &str, mode: Mode) -> Vec<Difference> {
    let is_own = |tool: &&Tool| tool.origin.server.as_deref() == Some(server);
    let tools = || catalog.tools.iter().map(|tool| &**tool).filter(is_own);
    let is_doubted = |tool: &&Tool| {
        let hints = tool.origin.mcp.get("annotations");
        // A client that lists the tools themselves sees their hints.
        mode == Mode::Gateway
            && tool.rules.effect != Effect::Read
            && hints.is_some_and(|hints| hints["readOnlyHint"] == true)
    };
    let hints = tools().filter(is_doubted).map(|tool| Difference::Hint { tool: tool.names.written.clone() });
    let renamed = tools().filter_map(|tool| {
        let name = tool.listed_name();
        (*name != *tool.names.canonical)
            .then(|| Difference::Name { tool: tool.names.canonical.clone(), name: name.into_owned() })
    });
    renamed.chain(hints).collect()
}

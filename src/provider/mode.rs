//! The functions that a mode binds, in order, with the extent of each.
//!
//! Functions of toolcrib come first, then tools in catalog order: a new tool only appends, so that the prompt cache of the
//! text before it holds.

use super::PayloadRequest;
use super::bound_function::{Extent, SelectedTool};
use crate::catalog::{Profile, Tool, functions};
use crate::config::{Deferred, Mode, SearchBy};
use crate::tool::DescriptionMode;

/// The function that reads docs: it comes with tools that are bound in short.
pub const READ_TOOL_DOC: &str = "read_tool_doc";
/// The function that answers searches of a provider that leaves them to its client.
pub(super) const TOOL_SEARCH: &str = "tool_search";
/// The functions of the gateway.
const GATEWAY: [&str; 4] = [TOOL_SEARCH, "tool_help", "tool_exec", "tool_batch"];
/// The functions of the discovery protocol.
const DISCOVERY: [&str; 5] = ["list", "search_nodes", "search_tool_by_category", "expand_tool", "call_tool"];

/// The tools that a mode binds.
pub(super) fn select_tools<'a>(request: &PayloadRequest<'a>, mode: Mode) -> Vec<SelectedTool<'a>> {
    let profile: &'a Profile<'a> = request.profile;
    let tools = || profile.tools.iter();
    let whole = |tool: &'a Tool| SelectedTool { tool, ours: false, extent: Extent::Full, deferred: false };
    let any_deferred = || tools().any(|entry| entry.mode == DescriptionMode::Deferred);
    let mut chosen: Vec<SelectedTool<'a>> = Vec::new();
    chosen.extend(ours(if request.options.discovery { &DISCOVERY } else { &[] }));
    match mode {
        Mode::Full => chosen.extend(tools().map(|entry| whole(entry.tool))),
        Mode::Hybrid => {
            let extent = match request.options.deferred {
                Deferred::Stub => Extent::Stub,
                Deferred::Compact => Extent::Compact,
            };
            chosen.extend(ours(if any_deferred() { &[READ_TOOL_DOC] } else { &[] }));
            chosen.extend(tools().map(|entry| match entry.mode {
                DescriptionMode::Full => whole(entry.tool),
                DescriptionMode::Deferred => SelectedTool { extent, ..whole(entry.tool) },
            }));
        }
        Mode::Native => {
            let own_search = any_deferred() && request.options.search == SearchBy::Client;
            chosen.extend(ours(if own_search { &[TOOL_SEARCH] } else { &[] }));
            chosen.extend(tools().map(|entry| SelectedTool {
                deferred: entry.mode == DescriptionMode::Deferred,
                ..whole(entry.tool)
            }));
        }
        Mode::Gateway => {
            chosen.extend(ours(&GATEWAY));
            chosen.extend(profile.full().map(whole));
        }
        // Tools that were picked for this request.
        Mode::Files => chosen.extend(profile.full().filter(|_| profile.picked).map(whole)),
    }
    chosen
}

fn ours<'a>(names: &'static [&'static str]) -> impl Iterator<Item = SelectedTool<'a>> {
    names.iter().filter_map(|name| functions().named(name)).map(|tool| SelectedTool {
        tool,
        ours: true,
        extent: Extent::Full,
        deferred: false,
    })
}

//! The tools that a mode binds, and to which extent.
//!
//! Functions of toolcrib come first, then tools in catalog order: a new tool only appends, so that the prompt cache of the
//! text before it holds.

use super::request::PayloadRequest;
use crate::format::Extent;
use toolcrib_catalog::config::{Deferred, Mode, Provider, SearchBy};
use toolcrib_catalog::{Profile, Tool, functions};
use toolcrib_definition::DescriptionMode;

/// The function that reads docs: it comes with tools that are bound in short.
pub const READ_TOOL_DOC: &str = "read_tool_doc";
/// The function that answers searches of a provider that leaves them to its client.
pub(crate) const TOOL_SEARCH: &str = "tool_search";
/// The functions of the gateway.
const GATEWAY: [&str; 4] = [TOOL_SEARCH, "tool_help", "tool_exec", "tool_batch"];
/// The same for clients that ask a person before a change.
const SPLIT_GATEWAY: [&str; 4] = [TOOL_SEARCH, "tool_help", "tool_exec_read", "tool_exec_write"];
/// The functions of the discovery protocol.
const DISCOVERY: [&str; 5] = ["list", "search_nodes", "search_tool_by_category", "expand_tool", "call_tool"];

/// A tool that will be bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct SelectedTool<'a> {
    pub(super) tool: &'a Tool,
    /// Whether it is a function of toolcrib.
    pub(super) ours: bool,
    /// Extent of its binding.
    pub(super) extent: Extent,
    /// Whether the provider should keep it out of the context.
    pub(super) deferred: bool,
}

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
            let is_split = request.provider == Provider::Mcp && request.catalog.config.serve.split_exec;
            chosen.extend(ours(if is_split { &SPLIT_GATEWAY } else { &GATEWAY }));
            chosen.extend(profile.full().map(whole));
        }
        // Tools that were picked for this request.
        Mode::Files if profile.picked => chosen.extend(profile.full().map(whole)),
        Mode::Files => {}
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

//! Tools for the example arguments of functions: those that a caller can call as they are documented.

use std::sync::Arc;

use serde_json::Value;

use crate::context::CatalogView;
use toolcrib_catalog::Tool;
use toolcrib_definition::Effect;
use toolcrib_render::help;

/// A call of a tool by `tool_exec`.
pub(super) fn called(tool: &Arc<Tool>) -> Value {
    help::called(tool, &tool.input.call.clone().unwrap_or_default())
}

/// The tools that a caller can call as they are documented.
pub(super) fn tools(view: &CatalogView) -> impl Iterator<Item = &Arc<Tool>> {
    let tools = view.catalog().tools.iter().enumerate();
    tools
        .filter(|(index, tool)| tool.input.call.is_some() && !view.is_forbidden(*index))
        .map(|(_, tool)| tool)
}

pub(super) fn reads(tool: &&Arc<Tool>) -> bool {
    tool.rules.effect == Effect::Read
}

/// A tool that changes nothing, where there is one.
pub(super) fn harmless(view: &CatalogView) -> Option<&Arc<Tool>> {
    tools(view).find(reads).or_else(|| tools(view).next())
}

//! Example calls of functions with a tool of the caller's catalog: a caller who copies the definitions' own examples
//! should not name a tool that does not exist.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{CatalogView, Function};
use crate::catalog::Tool;
use crate::help;
use crate::tool::Effect;

/// A doc to read.
pub(super) fn doc(view: &CatalogView) -> Option<Value> {
    Some(json!({ "names": [harmless(view)?.name] }))
}

/// An op to ask about.
pub(super) fn help(view: &CatalogView) -> Option<Value> {
    Some(json!({ "path": harmless(view)?.op, "format": "short" }))
}

/// A call of a tool.
pub(super) fn call(view: &CatalogView) -> Option<Value> {
    harmless(view).map(called)
}

/// A call of a tool that changes nothing.
pub(super) fn read(view: &CatalogView) -> Option<Value> {
    tools(view).find(reads).map(called)
}

/// A call of a tool that changes something.
pub(super) fn write(view: &CatalogView) -> Option<Value> {
    tools(view).find(|tool| !reads(tool)).map(called)
}

/// A batch: help on a tool, and a call of it.
pub(super) fn batch(view: &CatalogView) -> Option<Value> {
    let tool = harmless(view)?;
    Some(json!({ "calls": [
        { "function": "tool_help", "input": { "path": tool.op } },
        { "function": Function::tool_exec().name(), "input": called(tool) },
    ] }))
}

/// A tool to expand.
pub(super) fn expand(view: &CatalogView) -> Option<Value> {
    Some(json!({ "tool_id": harmless(view)?.op }))
}

/// A call in the words of the discovery protocol.
pub(super) fn call_tool(view: &CatalogView) -> Option<Value> {
    let tool = harmless(view)?;
    Some(json!({ "tool_id": tool.op, "arguments": tool.call }))
}

fn called(tool: &Arc<Tool>) -> Value {
    help::called(tool, &tool.call.clone().unwrap_or_default())
}

fn tools(view: &CatalogView) -> impl Iterator<Item = &Arc<Tool>> {
    let tools = view.catalog().tools.iter().enumerate();
    tools.filter(|(index, tool)| tool.call.is_some() && !view.is_forbidden(*index)).map(|(_, tool)| tool)
}

fn reads(tool: &&Arc<Tool>) -> bool {
    tool.effect == Effect::Read
}

/// A tool that changes nothing, where there is one.
fn harmless(view: &CatalogView) -> Option<&Arc<Tool>> {
    tools(view).find(reads).or_else(|| tools(view).next())
}

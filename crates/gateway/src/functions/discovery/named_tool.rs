//! Finds a tool by any of its names. The error of an unknown name has hints.

use serde_json::{Value, json};

use crate::context::CatalogView;
use crate::tool_error::{ErrorCode, ToolError};
use toolcrib_catalog::{Resolved, Tool};
use toolcrib_definition::quoted;

/// The tool with its position, if it exists and the caller may use it.
pub(crate) fn named_tool<'e>(view: &'e CatalogView, name: &str) -> Result<(usize, &'e Tool), ToolError> {
    let index = view.resolve(name.trim()).map_err(|unresolved| unknown_tool(view, name, unresolved))?;
    if view.is_forbidden(index) {
        return Err(not_authorized(name));
    }
    let tool = view.catalog().tools.get(index);
    tool.map(|tool| (index, &**tool)).ok_or_else(|| unknown_tool(view, name, Resolved::Unknown(Vec::new())))
}

/// The error for a tool that exists, but not for this caller.
pub(crate) fn not_authorized(name: &str) -> ToolError {
    ToolError::lacks_role(ErrorCode::NotAuthorized, &quoted(name))
}

fn unknown_tool(view: &CatalogView, name: &str, found: Resolved<'_>) -> ToolError {
    let is_tool = matches!(found, Resolved::Tool(_));
    let unresolved = view.catalog().explain(name, found);
    let (code, next) = match (unresolved.is_ambiguous, unresolved.near.is_empty()) {
        (true, _) => (ErrorCode::Ambiguous, "ask for one of `nearest`"),
        (false, _) if is_tool => (ErrorCode::ToolNotFound, "start with list"),
        (false, true) => (
            ErrorCode::ToolNotFound,
            "find the tool by what it does, with search_tool_by_category or tool_search",
        ),
        (false, false) => (
            ErrorCode::ToolNotFound,
            "ask for one of `nearest`, or find the tool by what it does with search_tool_by_category",
        ),
    };
    let hint = |tool: &&Tool| json!({ "tool_id": tool.names.op, "summary": tool.texts.short });
    let hints: Vec<Value> = unresolved.near.iter().map(hint).collect();
    let mut error = ToolError::new(code, unresolved.message, next).hint("tools", hints);
    error.nearest = unresolved.near.iter().map(|tool| tool.names.op.clone()).collect();
    error
}

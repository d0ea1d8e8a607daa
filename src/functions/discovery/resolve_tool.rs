//! Resolves a name to a tool, by any of its names.

use serde_json::Value;

use crate::catalog::{Resolved, Tool};
use crate::functions::{CatalogView, ErrorCode, Refusal};
use crate::tool::quoted;

/// The tool with its position, if it exists and the caller may use it.
pub(super) fn named<'e>(view: &'e CatalogView, name: &str) -> Result<(usize, &'e Tool), Refusal> {
    let index = view.resolve(name.trim()).map_err(|unresolved| refusal(view, name, unresolved))?;
    if view.is_forbidden(index) {
        return Err(not_authorized(name));
    }
    let tool = view.catalog().tools.get(index);
    tool.map(|tool| (index, &**tool)).ok_or_else(|| refusal(view, name, Resolved::Unknown(Vec::new())))
}

/// The tool exists, but not for this caller.
pub(in crate::functions) fn not_authorized(name: &str) -> Refusal {
    Refusal::new(
        ErrorCode::NotAuthorized,
        format!("you may not use `{}`: it needs a role that you do not have", quoted(name)),
        "do without it, or say that this task needs it; asking again changes nothing",
    )
}

fn refusal(view: &CatalogView, name: &str, found: Resolved<'_>) -> Refusal {
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
    let hint = |tool: &&Tool| serde_json::json!({ "tool_id": tool.op, "summary": tool.short });
    let hints: Vec<Value> = unresolved.near.iter().map(hint).collect();
    let mut refusal = Refusal::new(code, unresolved.message, next).hint("tools", hints);
    refusal.nearest = unresolved.near.iter().map(|tool| tool.op.clone()).collect();
    refusal
}

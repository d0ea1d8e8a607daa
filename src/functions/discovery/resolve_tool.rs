//! Resolves a name to a tool, by any of its names.

use serde_json::Value;

use super::listing::shown;
use crate::catalog::{Resolved, Tool};
use crate::functions::{CatalogView, ErrorCode, Refusal};

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
        format!("you may not use `{}`: it needs a role that you do not have", shown(name)),
        "do without it, or say that this task needs it; asking again changes nothing",
    )
}

fn refusal(view: &CatalogView, name: &str, unresolved: Resolved<'_>) -> Refusal {
    let shown = shown(name);
    let catalog = view.catalog();
    let (code, message, tools, next) = match unresolved {
        Resolved::Ambiguous(tools) => (
            ErrorCode::Ambiguous,
            format!("{} tools go by the name `{shown}`", tools.len()),
            tools,
            "ask for one of `nearest`",
        ),
        Resolved::Unknown(nearest) => {
            let tools: Vec<&Tool> = nearest.into_iter().filter_map(|name| catalog.find(name)).collect();
            let next = match tools.is_empty() {
                true => "find the tool by what it does, with search_tool_by_category or tool_search",
                false => {
                    "ask for one of `nearest`, or find the tool by what it does with search_tool_by_category"
                }
            };
            (ErrorCode::ToolNotFound, format!("there is no tool `{shown}`"), tools, next)
        }
        Resolved::Tool(_) => {
            (ErrorCode::ToolNotFound, format!("there is no tool `{shown}`"), Vec::new(), "start with list")
        }
    };
    // A tool's name and its op are often both near.
    let ops: indexmap::IndexSet<&str> = tools.iter().map(|tool| tool.op.as_str()).collect();
    let hints = ops.iter().filter_map(|op| catalog.find(op));
    let hints = hints
        .map(|tool| serde_json::json!({ "tool_id": tool.op, "summary": tool.short }))
        .collect::<Vec<Value>>();
    let mut refusal = Refusal::new(code, message, next).hint("tools", hints);
    refusal.nearest = ops.into_iter().map(ToString::to_string).collect();
    refusal
}

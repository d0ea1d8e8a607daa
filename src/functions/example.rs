//! Example calls of functions with a tool of the caller's catalog: a caller who copies the definitions' own examples
//! should not name a tool that does not exist.

use serde_json::{Value, json};

use super::CatalogView;
use crate::catalog::Tool;
use crate::tool::Effect;

/// Valid arguments of a function, where its definition can only invent them.
pub(super) fn of(function: &str, view: &CatalogView) -> Option<Value> {
    let tools = || {
        let tools = view.catalog().tools.iter().enumerate();
        tools.filter(|(index, tool)| tool.call.is_some() && !view.is_forbidden(*index)).map(|(_, tool)| tool)
    };
    let reads = |tool: &&std::sync::Arc<Tool>| tool.effect == Effect::Read;
    let harmless = || tools().find(reads).or_else(|| tools().next());
    let call = |tool: &Tool| json!({ "op": tool.op, "args": tool.call });
    Some(match function {
        "read_tool_doc" => json!({ "names": [harmless()?.name] }),
        "tool_help" => json!({ "path": harmless()?.op, "format": "short" }),
        "tool_exec" => call(harmless()?),
        "tool_exec_read" => call(tools().find(reads)?),
        "tool_exec_write" => call(tools().find(|tool| !reads(tool))?),
        "tool_batch" => {
            let tool = harmless()?;
            json!({ "calls": [
                { "function": "tool_help", "input": { "path": tool.op } },
                { "function": "tool_exec", "input": call(tool) },
            ] })
        }
        "expand_tool" => json!({ "tool_id": harmless()?.op }),
        "call_tool" => json!({ "tool_id": harmless()?.op, "arguments": harmless()?.call }),
        _ => return None,
    })
}

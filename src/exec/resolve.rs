//! The tool that a call names, by any of its names. A near name is suggested, and never run.

use std::sync::Arc;

use serde_json::Value;

use super::call::Call;
use super::{CallContext, CallRequest, call_fields};
use crate::arguments::{corrected, decoded};
use crate::catalog::{Catalog, Resolved, Tool, UnresolvedName};

use crate::refusal::{ErrorCode, Refusal};
use crate::tool::{Effect, quoted};

/// The tool of a call and its place in the catalog, if the caller may use it.
pub(super) fn find_tool(call: &mut Call) -> Result<(usize, Arc<Tool>), Refusal> {
    let context = Arc::clone(&call.context);
    let found = match call.request.tool {
        Some(index) => Ok(index),
        None => by_name(&*context, &mut call.request),
    };
    let found = found.and_then(|index| match context.catalog().tools.get(index) {
        Some(tool) if context.is_forbidden(index) => {
            context.caller().note_lacked_right(true);
            Err(forbidden(tool))
        }
        Some(tool) => Ok((index, Arc::clone(tool))),
        None => Err(Refusal::new(ErrorCode::Internal, "the tool is gone", "send the call again")),
    });
    if found.is_err() {
        call_fields::take_dry_run(&mut call.request);
        call.is_dry_run = call.request.dry_run == Some(true);
    }
    found
}

/// The index of the one tool that a name means.
fn by_name(context: &dyn CallContext, request: &mut CallRequest) -> Result<usize, Refusal> {
    let (catalog, name) = (context.catalog(), &request.op);
    let tool = match catalog.resolve(name) {
        Resolved::Tool(tool) => tool,
        found @ Resolved::Ambiguous(_) => return Err(ambiguous(catalog.explain(name, found))),
        Resolved::Unknown(nearest) => match respelled(catalog, name) {
            Some(tool) => {
                request.warnings.push(format!("`{}` was read as `{}`", quoted(name), tool.op));
                tool
            }
            None => {
                return Err(unknown(context, name, &catalog.tools_named(nearest), &request.args));
            }
        },
    };
    catalog.position(&tool.name).ok_or_else(|| unknown(context, name, &[], &request.args))
}

/// The one tool with this name in another case, or with slashes or underscores in place of dots. Other separators are
/// refused for destructive tools.
fn respelled<'c>(catalog: &'c Catalog, name: &str) -> Option<&'c Tool> {
    let lower = name.to_lowercase();
    if let Resolved::Tool(tool) = catalog.resolve(&lower) {
        return Some(tool);
    }
    catalog.respelled(&lower).filter(|tool| tool.effect != Effect::Destructive)
}

fn forbidden(tool: &Tool) -> Refusal {
    Refusal::new(
        ErrorCode::PermissionDenied,
        format!("you may not use `{}`: it needs a role that you do not have", tool.op),
        "do without it, or say that this task needs it; asking again changes nothing",
    )
}

fn ambiguous(UnresolvedName { message, near, .. }: UnresolvedName<'_>) -> Refusal {
    let next = "send the call again with one of `nearest` as `op`";
    let mut failure = Refusal::new(ErrorCode::Ambiguous, message, next);
    failure.nearest = near.iter().map(|tool| tool.op.clone()).collect();
    failure.help_path = Some(near.first().map_or("root", |tool| group(&tool.op)).to_string());
    failure
}

fn unknown(context: &dyn CallContext, name: &str, near: &[&Tool], args: &Value) -> Refusal {
    let next = match near {
        [] => "find the op by what it does, with tool_search",
        _ => "send one of `nearest` as `op` if that is what you mean, or find the op with tool_search",
    };
    let message = format!("there is no op `{}`", quoted(name));
    let mut failure = Refusal::new(ErrorCode::NotFound, message, next);
    failure.nearest = near.iter().map(|tool| tool.op.clone()).collect();
    failure.help_path = Some(nearest_group(context.catalog(), name, near).to_string());
    let usable = near.iter().find(|tool| {
        let place = context.catalog().position(&tool.name);
        place.is_some_and(|index| !context.is_forbidden(index))
    });
    // The tool of a destructive call is never guessed.
    let Some(tool) = usable.filter(|tool| tool.effect != Effect::Destructive) else { return failure };
    let args = match args {
        Value::String(text) => decoded(text).unwrap_or_default(),
        Value::Null => Value::Object(Default::default()),
        args => args.clone(),
    };
    let args = call_fields::without(tool.parameters.schema(), args);
    failure.example_op = Some(tool.op.clone());
    failure.offering(corrected(tool, context.catalog().secrets(), &args))
}

/// The longest group that a name begins with; else the group of the nearest op.
fn nearest_group<'n>(catalog: &'n Catalog, name: &'n str, near: &[&'n Tool]) -> &'n str {
    let mut prefix = name;
    while let Some((shorter, _)) = prefix.rsplit_once('.') {
        let is_group = |op: &str| op.strip_prefix(shorter).is_some_and(|rest| rest.starts_with('.'));
        if catalog.tools.iter().any(|tool| is_group(&tool.op)) {
            return shorter;
        }
        prefix = shorter;
    }
    near.first().map_or("root", |tool| group(&tool.op))
}

fn group(op: &str) -> &str {
    op.rsplit_once('.').map_or("root", |(group, _)| group)
}

//! Finds the tool of a call by any of its names. The error of an unknown name has a corrected call of the nearest tool.

use std::sync::Arc;

use serde_json::Value;

use super::arguments::apart;
use super::call_fields::{take_dry_run, without};
use crate::context::FunctionContext;
use crate::exec::call::Call;
use crate::exec::request::CallRequest;
use crate::tool_error::{ErrorCode, Result, ToolError};
use toolcrib_catalog::arguments::{corrected, value_in_text};
use toolcrib_catalog::{Catalog, Resolved, Tool, UnresolvedName};
use toolcrib_definition::{Effect, quoted};

/// The tool of a call and its place in the catalog, if the caller may use it.
pub(super) async fn find_tool(call: &mut Call) -> Result<(usize, Arc<Tool>)> {
    let context = call.context.clone();
    let by_exact_name = || context.view.catalog().unique_position(&call.request.op);
    let found = match call.request.tool.or_else(by_exact_name) {
        Some(index) => Ok(index),
        None => apart(call, by_name).await,
    };
    let found = found.and_then(|index| match context.view.catalog().tools.get(index) {
        Some(tool) if context.view.is_forbidden(index) => {
            context.caller.note_lacked_right(true);
            Err(ToolError::lacks_role(ErrorCode::PermissionDenied, &tool.names.op))
        }
        Some(tool) => Ok((index, Arc::clone(tool))),
        None => Err(ToolError::new(ErrorCode::Internal, "the tool is gone", "send the call again")),
    });
    if found.is_err() {
        take_dry_run(&mut call.request);
        call.is_dry_run = call.request.dry_run == Some(true);
    }
    found
}

/// The index of the one tool that a name means.
fn by_name(context: &FunctionContext, request: &mut CallRequest) -> Result<usize> {
    let catalog = context.view.catalog();
    let name = &request.op;
    let tool = match catalog.called(name, &|_| true) {
        Ok(tool) => tool,
        Err(several) if !several.is_empty() => {
            return Err(ambiguous(catalog.explain(name, Resolved::Ambiguous(several))));
        }
        Err(_) => {
            let near = match catalog.resolve(name) {
                Resolved::Unknown(near) => catalog.tools_named(near),
                _ => Vec::new(),
            };
            return Err(unknown(context, name, &near, &request.args));
        }
    };
    request.warnings.push(format!("`{}` was read as `{}`", quoted(name), tool.names.op));
    catalog.position(&tool.names.canonical).ok_or_else(|| unknown(context, name, &[], &request.args))
}

fn ambiguous(UnresolvedName { message, near, .. }: UnresolvedName<'_>) -> ToolError {
    let next = "send the call again with one of `nearest` as `op`";
    let mut failure = ToolError::new(ErrorCode::Ambiguous, message, next);
    failure.nearest = near.iter().map(|tool| tool.names.op.clone()).collect();
    failure.help_path = Some(near.first().map_or("root", |tool| group(&tool.names.op)).to_string());
    failure
}

fn unknown(context: &FunctionContext, name: &str, near: &[&Tool], args: &Value) -> ToolError {
    let next = match near {
        [] => "find the op by what it does, with tool_search",
        _ => "send one of `nearest` as `op` if that is what you mean, or find the op with tool_search",
    };
    let unlisted = context.services.backends.unlisted(&context.caller);
    let message = format!("there is no op `{}`{unlisted}", quoted(name));
    let mut failure = ToolError::new(ErrorCode::NotFound, message, next);
    failure.nearest = near.iter().map(|tool| tool.names.op.clone()).collect();
    failure.help_path = Some(nearest_group(context.view.catalog(), name, near).to_string());
    let usable = near.iter().find(|tool| {
        let place = context.view.catalog().position(&tool.names.canonical);
        place.is_some_and(|index| !context.view.is_forbidden(index))
    });
    // The tool of a destructive call is never guessed.
    let Some(tool) = usable.filter(|tool| tool.rules.effect != Effect::Destructive) else { return failure };
    let args = match args {
        Value::String(text) => value_in_text(text).unwrap_or_default(),
        Value::Null => Value::Object(Default::default()),
        args => args.clone(),
    };
    let args = without(tool.input.parameters.schema(), args);
    failure.example_op = Some(tool.names.op.clone());
    failure.offering(corrected(tool, context.view.catalog().secrets(), &args))
}

/// The longest group that a name begins with; else the group of the nearest op.
fn nearest_group<'n>(catalog: &'n Catalog, name: &'n str, near: &[&'n Tool]) -> &'n str {
    let mut prefix = name;
    while let Some((shorter, _)) = prefix.rsplit_once('.') {
        let is_group = |op: &str| op.strip_prefix(shorter).is_some_and(|rest| rest.starts_with('.'));
        if catalog.tools.iter().any(|tool| is_group(&tool.names.op)) {
            return shorter;
        }
        prefix = shorter;
    }
    near.first().map_or("root", |tool| group(&tool.names.op))
}

fn group(op: &str) -> &str {
    op.rsplit_once('.').map_or("root", |(group, _)| group)
}

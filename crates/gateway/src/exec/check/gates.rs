//! The gates of a call: its backend, the effects that function, server, profile and caller allow, and a trace that can be written.

use std::fmt::Display;

use crate::context::FunctionContext;
use crate::exec::approvals::{is_allowed_by_asking, may_run_as_direct, runs_as_direct};
use crate::exec::backend::{Backends, no_backend};
use crate::exec::call::Call;
use crate::exec::record::{CHANGES_NOTHING, NOT_CHECKED, NOT_RECORDED};
use crate::exec::request::EffectLimit;
use crate::tool_error::{ErrorCode, Result, ToolError};
use toolcrib_catalog::Tool;
use toolcrib_catalog::config::WhenUnwritable;
use toolcrib_definition::{Effect, NoSchemaMode};

/// Refuses a call that no arguments could make allowed, before they are read. A dry run is only warned, by [`pass_gates`].
pub(super) fn pass_first_gates(call: &Call, tool: &Tool) -> Result<()> {
    if call.is_dry_run || Backends::of(tool, call.config()).is_none() {
        return Ok(());
    }
    let denied = function_denies(call, tool).or_else(|| effect_denied(call, tool));
    denied.map_or(Ok(()), Err)
}

/// Passes a call whose arguments are valid, or says why not. A dry run gets a warning about the gate that would stop it.
pub(super) fn pass_gates(call: &mut Call, tool: &Tool) -> Result<()> {
    if Backends::of(tool, call.config()).is_none() {
        return Err(no_backend(tool, call.arguments()));
    }
    if let Some(failure) = function_denies(call, tool) {
        return Err(failure);
    }
    if call.request.limit == EffectLimit::WritesOnly && tool.rules.effect == Effect::Read {
        call.request.warnings.push(CHANGES_NOTHING.into());
    }
    let denied = effect_denied(call, tool);
    match denied {
        Some(failure) if !call.is_dry_run => return Err(failure),
        Some(failure) => {
            call.request.warnings.push(format!("to run it would be refused: {}", failure.message))
        }
        None => {}
    }
    if call.no_schema_mode() == Some(NoSchemaMode::ReadOnly) && tool.rules.effect != Effect::Read {
        let message = format!(
            "`{}` has no schema, and without one only calls that change nothing are run; this one is {}",
            tool.names.op,
            kind(tool.rules.effect)
        );
        let next = "do without it, or tell the user that the tool needs a schema";
        return Err(ToolError::new(ErrorCode::PermissionDenied, message, next));
    }
    if call.no_schema_mode().is_some() {
        call.request.warnings.push(NOT_CHECKED.into());
    }
    // A call with a key may have its answer already.
    if tool.rules.effect != Effect::Read && !call.is_dry_run && call.request.idempotency_key.is_none() {
        require_writable(&call.context, &mut call.request.warnings)?;
    }
    Ok(())
}

fn kind(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "a read",
        Effect::Write => "a write",
        Effect::Destructive => "destructive",
    }
}

/// The error of a write by a function that runs reads only.
fn function_denies(call: &Call, tool: &Tool) -> Option<ToolError> {
    if call.request.limit != EffectLimit::ReadsOnly || tool.rules.effect == Effect::Read {
        return None;
    }
    let kind = kind(tool.rules.effect);
    let function = call.request.function;
    let message = format!("`{}` is {kind}, and {function} runs reads only", tool.names.op);
    let next = "send the same call with tool_exec_write";
    Some(ToolError::new(ErrorCode::PermissionDenied, message, next))
}

/// The strongest effect that the server allows this call.
fn allowed_by_server(call: &Call, tool: &Tool) -> Effect {
    if runs_as_direct(call, tool) || is_allowed_by_asking(call, tool) {
        Effect::Destructive
    } else {
        call.config().exec.allow()
    }
}

/// The error of the first setting that forbids the effect of this tool.
fn effect_denied(call: &Call, tool: &Tool) -> Option<ToolError> {
    let caller = &call.context.caller;
    let needed = tool.rules.effect.as_str();
    let of_server = allowed_by_server(call, tool);
    let profile = call.context.view.profile_name();
    let of_profile = profile.and_then(|name| Some((name, call.config().profiles.get(name)?.allow?)));
    let by_operator = |section: &str| {
        let file = call.config().place(caller.is_own_client);
        format!("the operator allows it with `allow = \"{needed}\"` below `[{section}]` in {file}")
    };
    let (who, most, how) = if tool.rules.effect > of_server {
        ("this server".to_string(), of_server, by_operator("exec"))
    } else if let Some((name, allow)) = of_profile.filter(|(_, allow)| tool.rules.effect > *allow) {
        (format!("the profile `{name}`"), allow, by_operator(&format!("profile.{name}")))
    } else if tool.rules.effect > caller.allow && caller.name.is_empty() {
        let how = format!("the caller allows it with `allow` (`--allow {needed}` on the command line)");
        ("this call".to_string(), caller.allow, how)
    } else if tool.rules.effect > caller.allow {
        caller.note_lacked_right(!call.is_dry_run);
        let how = format!("the operator allows it with `allow = \"{needed}\"` for this token or session");
        ("your token or session".to_string(), caller.allow, how)
    } else {
        return None;
    };
    let most = match most {
        Effect::Read => "reads only",
        _ => "reads and writes, and nothing destructive",
    };
    let message = format!("`{}` is {}, and {who} allows {most}", tool.names.op, kind(tool.rules.effect));
    let is_for_asking = tool.rules.effect > of_server
        && call.config().serve.split_exec
        && caller.is_own_client
        && may_run_as_direct(call, tool);
    let next = if is_for_asking {
        format!(
            "send the same call by a name that your client lists, its own or tool_exec_write, so that the client asks its person; or {how}"
        )
    } else {
        format!("tell the user, and do not send it again before it is allowed: {how}")
    };
    Some(ToolError::new(ErrorCode::PermissionDenied, message, next))
}

/// Refuses a call whose trace cannot be written, where the operator requires traces; else adds a warning.
pub(crate) fn require_writable(context: &FunctionContext, warnings: &mut Vec<String>) -> Result<()> {
    let Some(problem) = context.services.state.health().problem else { return Ok(()) };
    match context.view.catalog().config.state.when_unwritable {
        WhenUnwritable::GoOn => {
            warnings.push(NOT_RECORDED.into());
            Ok(())
        }
        WhenUnwritable::RefuseWrites => Err(unwritable(problem)),
    }
}

/// The error of a call that is not run, since the trace cannot be written.
pub(crate) fn unwritable(problem: impl Display) -> ToolError {
    let message = format!("nothing was run: the trace cannot be written now ({problem})");
    let next = "tell the operator; reads still work; try again later";
    ToolError::new(ErrorCode::StateUnavailable, message, next)
}

//! The gates of a call: its backend, and the effects that function, server, profile and caller allow.

use crate::exec::approvals::{is_allowed_by_asking, may_run_as_direct, runs_as_direct};
use crate::exec::backend::{Backends, no_backend};
use crate::exec::call::Call;
use crate::exec::record::{CHANGES_NOTHING, NOT_CHECKED, require_writable};
use crate::exec::request::EffectLimit;
use crate::tool_error::{ErrorCode, Result, ToolError};
use toolcrib_catalog::Tool;
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
    if call.request.limit == EffectLimit::WritesOnly && tool.effect == Effect::Read {
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
    if call.no_schema_mode() == Some(NoSchemaMode::ReadOnly) && tool.effect != Effect::Read {
        let message = format!(
            "`{}` has no schema, and without one only calls that change nothing are run; this one is {}",
            tool.op,
            kind(tool.effect)
        );
        let next = "do without it, or tell the user that the tool needs a schema";
        return Err(ToolError::new(ErrorCode::PermissionDenied, message, next));
    }
    if call.no_schema_mode().is_some() {
        call.request.warnings.push(NOT_CHECKED.into());
    }
    // A call with a key may have its answer already.
    if tool.effect != Effect::Read && !call.is_dry_run && call.request.idempotency_key.is_none() {
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
    if call.request.limit != EffectLimit::ReadsOnly || tool.effect == Effect::Read {
        return None;
    }
    let kind = kind(tool.effect);
    let function = call.request.function;
    let message = format!("`{}` is {kind}, and {function} runs reads only", tool.op);
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
    let config = call.config();
    let needed = tool.effect.as_str();
    let profile = call.context.view.profile_name();
    let of_profile = profile.and_then(|name| Some((name, config.profiles.get(name)?.allow?)));
    let of_server = allowed_by_server(call, tool);
    let file = config.place(call.context.caller.is_own_client);
    let (who, most, how) = if tool.effect > of_server {
        let how = format!("the operator allows it with `allow = \"{needed}\"` below `[exec]` in {file}");
        ("this server".to_string(), of_server, how)
    } else if let Some((name, allow)) = of_profile.filter(|(_, allow)| tool.effect > *allow) {
        let how =
            format!("the operator allows it with `allow = \"{needed}\"` below `[profile.{name}]` in {file}");
        (format!("the profile `{name}`"), allow, how)
    } else if tool.effect > call.context.caller.allow && call.context.caller.name.is_empty() {
        let how = format!("the caller allows it with `allow` (`--allow {needed}` on the command line)");
        ("this call".to_string(), call.context.caller.allow, how)
    } else if tool.effect > call.context.caller.allow {
        call.context.caller.note_lacked_right(!call.is_dry_run);
        let how = format!("the operator allows it with `allow = \"{needed}\"` for this token or session");
        ("your token or session".to_string(), call.context.caller.allow, how)
    } else {
        return None;
    };
    let most = match most {
        Effect::Read => "reads only",
        _ => "reads and writes, and nothing destructive",
    };
    let message = format!("`{}` is {}, and {who} allows {most}", tool.op, kind(tool.effect));
    let is_for_asking = tool.effect > of_server && config.serve.split_exec && may_run_as_direct(call, tool);
    let next = if is_for_asking && call.context.caller.is_own_client {
        format!(
            "send the same call by a name that your client lists, its own or tool_exec_write, so that the client asks its person; or {how}"
        )
    } else {
        format!("tell the user, and do not send it again before it is allowed: {how}")
    };
    Some(ToolError::new(ErrorCode::PermissionDenied, message, next))
}

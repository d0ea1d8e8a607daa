//! Gates that wait for nothing: the allowed effect, calls without a schema, a trace that can be written.

use crate::catalog::Tool;
use crate::exec::EffectLimit;
use crate::exec::backend::Backends;
use crate::exec::backend::failure::no_backend;
use crate::exec::call::Call;
use crate::exec::record::audit;
use crate::exec::record::standing_warnings::{CHANGES_NOTHING, NOT_CHECKED};
use crate::refusal::{ErrorCode, Refusal};
use crate::tool::{Backend, Effect, NoSchemaMode};

/// Passes a call whose arguments are valid, or says why not. A dry run gets a warning about the gate that would stop it.
pub(super) fn check(call: &mut Call, tool: &Tool) -> Result<(), Refusal> {
    if Backends::of(tool, call.config()).is_none() {
        return Err(no_backend(tool, call.arguments()));
    }
    function_allows(call, tool)?;
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
        return Err(Refusal::new(ErrorCode::PermissionDenied, message, next));
    }
    if call.no_schema_mode().is_some() {
        call.request.warnings.push(NOT_CHECKED.into());
    }
    // A call with a key may have its answer already.
    if tool.effect != Effect::Read && !call.is_dry_run && call.request.idempotency_key.is_none() {
        audit::require_writable(&*call.context, &mut call.request.warnings)?;
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

/// Refuses a write by a function that runs reads only.
fn function_allows(call: &mut Call, tool: &Tool) -> Result<(), Refusal> {
    match call.request.limit {
        EffectLimit::ReadsOnly if tool.effect != Effect::Read => {
            let message = format!(
                "`{}` is {}, and {} runs reads only",
                tool.op,
                kind(tool.effect),
                call.request.function
            );
            let next = "send the same call with tool_exec_write";
            Err(Refusal::new(ErrorCode::PermissionDenied, message, next))
        }
        EffectLimit::WritesOnly if tool.effect == Effect::Read => {
            call.request.warnings.push(CHANGES_NOTHING.into());
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The strongest effect that the server allows this call. Where nothing is configured, a live server's tool that the client
/// lists by its own name runs as it would without us: the client has asked its person.
fn allowed_by_server(call: &Call, tool: &Tool) -> Effect {
    let exec = &call.config().exec;
    let as_direct = exec.allow.is_none()
        && call.request.is_listed
        && call.context.caller().asks_its_person
        && matches!(Backends::of(tool, call.config()).as_deref(), Some(Backend::Mcp { .. }));
    if as_direct { Effect::Destructive } else { exec.allow() }
}

/// The refusal of the first setting that forbids the effect of this tool.
fn effect_denied(call: &Call, tool: &Tool) -> Option<Refusal> {
    let config = call.config();
    let needed = tool.effect.as_str();
    let profile = call.context.profile();
    let of_profile = profile.and_then(|name| Some((name, config.profiles.get(name)?.allow?)));
    let of_server = allowed_by_server(call, tool);
    let (who, most, how) = if tool.effect > of_server {
        let how =
            format!("the operator allows it with `allow = \"{needed}\"` below `[exec]` in toolcrib.toml");
        ("this server".to_string(), of_server, how)
    } else if let Some((name, allow)) = of_profile.filter(|(_, allow)| tool.effect > *allow) {
        let how = format!("the operator allows it with `allow = \"{needed}\"` below `[profile.{name}]`");
        (format!("the profile `{name}`"), allow, how)
    } else if tool.effect > call.context.caller().allow && call.context.caller().name.is_empty() {
        let how = format!("the caller allows it with `allow` (`--allow {needed}` on the command line)");
        ("this call".to_string(), call.context.caller().allow, how)
    } else if tool.effect > call.context.caller().allow {
        call.context.caller().note_lacked_right(!call.is_dry_run);
        let how = format!("the operator allows it with `allow = \"{needed}\"` for this token or session");
        ("your token or session".to_string(), call.context.caller().allow, how)
    } else {
        return None;
    };
    let most = match most {
        Effect::Read => "reads only",
        _ => "reads and writes, and nothing destructive",
    };
    let message = format!("`{}` is {}, and {who} allows {most}", tool.op, kind(tool.effect));
    let next = format!("tell the user, and do not send it again before it is allowed: {how}");
    Some(Refusal::new(ErrorCode::PermissionDenied, message, next))
}

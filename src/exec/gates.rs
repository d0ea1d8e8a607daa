//! Whether a call may be run: how much it may change here, what is known of its arguments, whether it can be written down.

use serde_json::{Value, json};

use super::active_call::ActiveCall;
use super::backend::Backends;
use super::{EffectLimit, Failure, audit};
use crate::catalog::Tool;
use crate::config::WhenUnwritable;
use crate::refusal::ErrorCode;
use crate::tool::{Effect, NoSchemaMode};

/// Passes a call whose arguments fit, or says why not. A dry run is told what would stop it.
pub(super) fn check(call: &mut ActiveCall, tool: &Tool) -> Result<(), Failure> {
    if Backends::of(tool, call.config()).is_none() {
        return Err(no_backend(tool, &call.arguments));
    }
    function_allows(call, tool)?;
    let denied = effect_denied(call, tool);
    match denied {
        Some(failure) if !call.is_dry_run => return Err(failure),
        Some(failure) => call.warnings.push(format!("to run it would be refused: {}", failure.message)),
        None => {}
    }
    if call.no_schema_mode == Some(NoSchemaMode::ReadOnly) && tool.effect != Effect::Read {
        let message = format!(
            "`{}` has no schema, and without one only calls that change nothing are run; this one is {}",
            tool.op,
            kind(tool.effect)
        );
        let next = "do without it, or tell the user that the tool needs a schema";
        return Err(Failure::new(ErrorCode::PermissionDenied, message, next));
    }
    if call.no_schema_mode.is_some() {
        call.warnings.push("this tool has no schema: its arguments were not checked".into());
    }
    // One with a key may have its answer already.
    if tool.effect != Effect::Read && !call.is_dry_run && call.key.is_none() {
        require_state(call)?;
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

/// Whether this function runs such calls at all.
fn function_allows(call: &mut ActiveCall, tool: &Tool) -> Result<(), Failure> {
    match call.limit {
        EffectLimit::ReadsOnly if tool.effect != Effect::Read => {
            let message =
                format!("`{}` is {}, and {} runs reads only", tool.op, kind(tool.effect), call.function);
            let next = "send the same call with tool_exec_write";
            Err(Failure::new(ErrorCode::PermissionDenied, message, next))
        }
        EffectLimit::WritesOnly if tool.effect == Effect::Read => {
            call.warnings.push("this op changes nothing; tool_exec_read runs it too".into());
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Who says that so much may not be changed.
fn effect_denied(call: &ActiveCall, tool: &Tool) -> Option<Failure> {
    let config = call.config();
    let needed = tool.effect.as_str();
    let profile = call.context.profile();
    let of_profile = profile.and_then(|name| Some((name, config.profiles.get(name)?.allow?)));
    let (who, most, how) = if tool.effect > config.exec.allow {
        let how =
            format!("the operator allows it with `allow = \"{needed}\"` below `[exec]` in toolcrib.toml");
        ("this server".to_string(), config.exec.allow, how)
    } else if let Some((name, allow)) = of_profile.filter(|(_, allow)| tool.effect > *allow) {
        let how = format!("the operator allows it with `allow = \"{needed}\"` below `[profile.{name}]`");
        (format!("the profile `{name}`"), allow, how)
    } else if tool.effect > call.context.caller().allow && call.context.caller().name.is_empty() {
        let how = format!("whoever calls allows it with `allow` (`--allow {needed}` on the command line)");
        ("this call".to_string(), call.context.caller().allow, how)
    } else if tool.effect > call.context.caller().allow {
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
    Some(Failure::new(ErrorCode::PermissionDenied, message, next))
}

/// Whether what is run can be written down, where the operator wants that.
pub(super) fn require_state(call: &mut ActiveCall) -> Result<(), Failure> {
    let Some(problem) = call.state().health().problem else { return Ok(()) };
    match call.config().state.when_unwritable {
        WhenUnwritable::GoOn => {
            call.warnings.push(audit::NOT_RECORDED.into());
            Ok(())
        }
        WhenUnwritable::RefuseWrites => Err(unavailable(&problem)),
    }
}

/// That nothing can be written down now.
pub(super) fn unavailable(problem: &str) -> Failure {
    let message = format!("nothing was run: what is run cannot be written down now ({problem})");
    Failure::new(ErrorCode::StateUnavailable, message, "tell the operator; reads still work; try again later")
}

/// The call is right; whoever asked has to run it.
pub(super) fn no_backend(tool: &Tool, arguments: &Value) -> Failure {
    let (why, next) = match &tool.withheld {
        Some(next) => ("the program or server that it needs is not trusted", next.as_str()),
        None => (
            "nothing says what runs it",
            "run `call` yourself if you have this tool, by its name; sending it here again changes nothing",
        ),
    };
    let message = format!("the call is valid, but `{}` cannot be run here: {why}", tool.op);
    let mut failure = Failure::new(ErrorCode::NoBackend, message, next);
    failure.call = Some(json!({ "tool": tool.name, "arguments": arguments }));
    failure
}

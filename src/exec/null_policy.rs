//! Nulls where the schema has none: they may mean "no value" or "clear this". Reading one as nothing is for calls that it
//! cannot harm.

use super::Failure;
use crate::catalog::Tool;
use crate::provider::call::{Repair, RepairKind};
use crate::tool::Effect;

/// What ops are called that change what is there.
const CHANGES: [&str; 9] =
    ["update", "patch", "edit", "modify", "set", "change", "rename", "move", "replace"];
/// What the names of properties end in that say what is changed, and not what it becomes.
const NAMES: [&str; 7] = ["id", "ids", "uuid", "key", "slug", "ref", "name"];

/// Why a call with nulls left out is not run, if it is not.
pub(super) fn check(tool: &Tool, arguments: &serde_json::Value, repaired: &[Repair]) -> Option<Failure> {
    let dropped: Vec<&str> = repaired
        .iter()
        .filter(|repair| matches!(repair.repair, RepairKind::NullDropped))
        .map(|repair| repair.pointer.as_str())
        .collect();
    let why = match tool.effect {
        _ if dropped.is_empty() => return None,
        Effect::Destructive => "and for what destroys, null is not read as nothing",
        Effect::Write if is_without_changes(tool, arguments) => "and without it the call changes nothing",
        _ => return None,
    };
    let message =
        format!("the arguments of `{}` do not fit: {} was null, {why}", tool.op, dropped.join(", "));
    let next = "give a value that the schema takes, or leave it out if you mean no change; tool_help with `help_path` says more";
    let failure = Failure::invalid(message, next);
    Some(dropped.iter().fold(failure, |failure, pointer| {
        let expected = expected(tool, pointer);
        failure.field(pointer, "null is no value of this", expected)
    }))
}

fn expected<'t>(tool: &'t Tool, pointer: &str) -> Option<&'t str> {
    let name = pointer.strip_prefix('/')?;
    tool.parameters.schema().get("properties")?.get(name)?.get("type")?.as_str()
}

/// Whether what is left only says what is to be changed.
fn is_without_changes(tool: &Tool, arguments: &serde_json::Value) -> bool {
    let required = tool.parameters.schema().get("required").and_then(serde_json::Value::as_array);
    let action = tool.op.rsplit('.').next().unwrap_or_default();
    let mut words = action.split(['_', '-']);
    let is_change = words.any(|word| CHANGES.contains(&word));
    let says_which = |name: &str| {
        let lower = name.to_lowercase();
        let last = lower.rsplit(['_', '-']).next().unwrap_or_default();
        NAMES.contains(&last) || name.ends_with("Id") || name.ends_with("Ids")
    };
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    arguments
        .as_object()
        .is_some_and(|fields| fields.keys().all(|name| says_which(name) || (is_change && is_required(name))))
}

//! Nulls that a repair would drop. Where null may mean something, as in a destructive call or in a change, the call is refused.

use serde_json::Value;

use super::coerce::Reading;
use super::field_error::FieldError;
use super::invalid::InvalidArguments;
use super::repair::{Repair, RepairKind};
use crate::tool::Tool;
use toolcrib_definition::Effect;

/// Verbs in ops that change something that exists.
const CHANGE_VERBS: [&str; 9] =
    ["update", "patch", "edit", "modify", "set", "change", "rename", "move", "replace"];
/// Last words of the properties that identify the changed thing.
const IDENTIFIER_WORDS: [&str; 7] = ["id", "ids", "uuid", "key", "slug", "ref", "name"];

/// Refuses dropped nulls in calls of destructive tools, and in writes that would change nothing without them.
pub(super) fn check_dropped_nulls(tool: &Tool, fit: &Reading) -> Result<(), InvalidArguments> {
    let is_dropped = |repair: &&Repair| repair.repair == RepairKind::NullDropped;
    let dropped: Vec<&str> = fit.repaired.iter().filter(is_dropped).map(|repair| &*repair.pointer).collect();
    let why = match tool.rules.effect {
        _ if dropped.is_empty() => return Ok(()),
        Effect::Destructive => "and for a destructive call, null is not read as absent",
        Effect::Write if is_without_changes(tool, &fit.value) => "and without it the call changes nothing",
        _ => return Ok(()),
    };
    let message =
        format!("the arguments of `{}` do not fit: {} was null, {why}", tool.names.op, dropped.join(", "));
    let next = "give a value that the schema takes, or leave it out if you mean no change; tool_help with `help_path` says more";
    let mut invalid = InvalidArguments::new(message, next);
    invalid.fields.extend(dropped.into_iter().map(|pointer| FieldError {
        expected: expected_type(tool, pointer),
        ..FieldError::new(pointer, "null is no value of this")
    }));
    Err(invalid)
}

/// The one type that an argument declares.
fn expected_type(tool: &Tool, pointer: &str) -> Option<String> {
    let argument = tool.input.parameters.root().property(pointer.strip_prefix('/')?)?;
    let mut words = argument.type_words();
    words.next().filter(|_| words.next().is_none()).map(str::to_string)
}

/// Whether arguments only identify the thing to change.
fn is_without_changes(tool: &Tool, arguments: &Value) -> bool {
    let root = tool.input.parameters.root();
    let action = tool.names.op.rsplit('.').next().unwrap_or_default();
    let mut words = action.split(['_', '-']);
    let is_change = words.any(|word| CHANGE_VERBS.contains(&word));
    let says_which = |name: &str| {
        let lower = name.to_lowercase();
        let last = lower.rsplit(['_', '-']).next().unwrap_or_default();
        IDENTIFIER_WORDS.contains(&last) || name.ends_with("Id") || name.ends_with("Ids")
    };
    let identifies =
        |name: &String| says_which(name) || (is_change && root.required().contains(&name.as_str()));
    arguments.as_object().is_some_and(|fields| fields.keys().all(identifies))
}

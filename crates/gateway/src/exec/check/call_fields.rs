//! Fields of a call that models put among its arguments, such as `dry_run`, are moved to where they belong.

use serde_json::{Map, Value};

use crate::exec::call::Call;
use crate::exec::request::{CallRequest, key_of, receipt_of};
use crate::tool_error::{ErrorCode, Result, ToolError};
use toolcrib_catalog::arguments::{WRAPPERS, make_object};
use toolcrib_catalog::{Callable, Tool};
use toolcrib_definition::clean_line;
use toolcrib_definition::finding::{SlipPolicy, normalized};
use toolcrib_definition::schema::Node;
use toolcrib_definition::schema::walk::any_property;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallField {
    DryRun,
    Key,
    Receipt,
}

/// Most arguments that are read as fields of the call.
const MAX_TAKEN: usize = 20;

/// Separates the fields of the call from the arguments of a tool that can be called.
pub(super) fn separate(call: &mut Call, tool: &Tool) -> Result<()> {
    let taken = separate_fields(&mut call.request, tool);
    call.is_dry_run = call.request.dry_run.unwrap_or(tool.rules.dry_run == Some(true));
    taken?;
    call.validated = Some(tool.input.parameters.is_checked());
    if let Callable::No(reason) = tool.input.parameters.callable() {
        let next = "choose another tool, or say that this one is broken";
        let message = format!("`{}` cannot be called: {reason}", tool.names.op);
        return Err(ToolError::new(ErrorCode::NoBackend, message, next));
    }
    leave_out_hidden(&mut call.request, tool);
    Ok(())
}

/// Leaves out arguments that the operator sets and hides: no caller can give them.
pub(super) fn leave_out_hidden(request: &mut CallRequest, tool: &Tool) {
    for argument in tool.input.set_arguments.iter().filter(|argument| argument.set.hidden) {
        let beside = request.extra_fields.shift_remove(&argument.name);
        let among = request.args.as_object_mut().and_then(|args| args.shift_remove(&argument.name));
        if beside.or(among).is_some() {
            request.warnings.push(format!("`{}` is set by the operator, and was left out", argument.name));
        }
    }
}

/// Moves the fields of the call out of its arguments, and makes these an object.
fn separate_fields(request: &mut CallRequest, tool: &Tool) -> Result<()> {
    let schema = tool.input.parameters.schema();
    let mut beside = Value::Object(std::mem::take(&mut request.extra_fields));
    let taken = take_from_arguments(request, schema, &mut beside);
    if let Value::Object(rest) = beside {
        request.extra_fields = rest;
    }
    let is_all = request.extra_fields.is_empty();
    if let Err(invalid) = make_object(tool, &mut request.args, is_all, &mut request.warnings) {
        let mut arguments = request.args.clone();
        take_from_arguments(request, schema, &mut arguments)?;
        return Err(invalid.into());
    }
    taken?;
    take_from_own_arguments(request, schema)
}

/// Moves the fields of the call out of its arguments.
pub(super) fn take_from_own_arguments(request: &mut CallRequest, schema: &Value) -> Result<()> {
    let mut arguments = std::mem::take(&mut request.args);
    let taken = take_from_arguments(request, schema, &mut arguments);
    request.args = arguments;
    taken
}

/// Moves the fields of the call out of `arguments`, unless the schema has properties of these names.
fn take_from_arguments(call: &mut CallRequest, schema: &Value, arguments: &mut Value) -> Result<()> {
    let Some(fields) = arguments.as_object_mut() else {
        if let Value::String(text) = arguments
            && normalized(text).contains("dryruntrue")
        {
            call.dry_run = Some(true);
        }
        return Ok(());
    };
    for (own, name, value) in taken(schema, fields) {
        let known = clean_line(&name);
        call.warnings.push(format!("`{known}` stood among the arguments, read as the field of the call"));
        match own {
            CallField::DryRun => call.dry_run = Some(is_yes(&value) || call.dry_run == Some(true)),
            CallField::Key => call.idempotency_key = call.idempotency_key.take().or(key_of(Some(value))?),
            CallField::Receipt => call.receipt = call.receipt.take().or(receipt_of(Some(value))?),
        }
    }
    if fields.len() == 1
        && let Some((name, inside)) = fields.iter_mut().next()
        && WRAPPERS.contains(&name.as_str())
        && inside.is_object()
        && !has_property(schema, name)
    {
        return take_from_arguments(call, schema, inside);
    }
    Ok(())
}

/// Reads `dry_run` at any place and in any spelling, for a call whose tool is not known.
pub(super) fn take_dry_run(call: &mut CallRequest) {
    let mut arguments = call.args.clone();
    let asks = |fields: &Map<String, Value>| {
        fields.iter().any(|(name, value)| call_field(name, value) == Some(CallField::DryRun) && is_yes(value))
    };
    let warned = call.warnings.len();
    // An unreadable field does no harm here: nothing is run.
    let _ = take_from_arguments(call, &Value::Null, &mut arguments);
    call.warnings.truncate(warned);
    if asks(&call.extra_fields) {
        call.dry_run = Some(true);
    }
}

/// Arguments without the fields of the call.
pub(super) fn without(schema: &Value, mut arguments: Value) -> Value {
    if let Some(fields) = arguments.as_object_mut() {
        taken(schema, fields);
    }
    arguments
}

fn taken(schema: &Value, fields: &mut Map<String, Value>) -> Vec<(CallField, String, Value)> {
    let root = Node::root(schema);
    let found: Vec<(CallField, String)> = fields
        .iter()
        .filter(|(name, _)| !root.has_property(name))
        .filter_map(|(name, value)| Some((call_field(name, value)?, name.clone())))
        .filter(|(_, name)| !has_property(schema, name))
        .take(MAX_TAKEN)
        .collect();
    found
        .into_iter()
        .filter_map(|(own, name)| fields.shift_remove(&name).map(|value| (own, name, value)))
        .collect()
}

/// The field of the call that a name means. A misspelling counts only for a dry run, which does no harm.
fn call_field(name: &str, value: &Value) -> Option<CallField> {
    if name.len() > 40 {
        return None;
    }
    let squashed = normalized(name);
    match squashed.as_str() {
        "dryrun" => Some(CallField::DryRun),
        "idempotencykey" => Some(CallField::Key),
        "receipt" => Some(CallField::Receipt),
        slip if is_yes(value) && SlipPolicy::ARGUMENT.is_slip(slip, "dryrun") => Some(CallField::DryRun),
        _ => None,
    }
}

fn is_yes(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(word) => !matches!(word.trim().to_lowercase().as_str(), "" | "false" | "no" | "0"),
        Value::Number(number) => number.as_f64() != Some(0.0),
        _ => true,
    }
}

/// Whether a schema has a property of this name at any place; case and separators do not matter.
fn has_property(schema: &Value, name: &str) -> bool {
    any_property(schema, &|known| normalized(known) == normalized(name))
}

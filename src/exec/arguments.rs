//! The arguments of a call, as the schema of its tool wants them. What plainly means something that fits is read as that,
//! and told; the rest is refused with all that it takes to do better.

use serde_json::{Map, Value};

use super::coerce::{NameTolerance, coerce_round, normalized, properties};
use super::correction::corrected;
use super::{Failure, correction, exact_numbers, null_policy};
use crate::catalog::{Callable, Tool};
use crate::finding::{Violation, from_json};
use crate::provider::call::{Repair, RepairKind, coerce_to_schema};
use crate::refusal::ErrorCode;
use crate::secret::Policy as Secrets;
use crate::tool::{Effect, clean_line};

/// How often what is right now may show what else is not.
const ROUNDS: usize = 3;

/// Arguments that may be run.
#[derive(Debug, Default)]
pub(super) struct ValidArguments {
    pub(super) arguments: Value,
    pub(super) repaired: Vec<Repair>,
}

/// Arguments that do not fit, as far as they could be read, and why.
pub(super) type InvalidArguments = Box<(Value, Failure)>;

/// The arguments as they fit; what was read otherwise than it was written goes to `told`.
pub(super) fn coerce_and_validate(
    tool: &Tool,
    secrets: Secrets<'_>,
    mut arguments: Value,
    beside: Map<String, Value>,
    notes: &mut Vec<String>,
) -> Result<ValidArguments, InvalidArguments> {
    if let Callable::No(reason) = tool.parameters.callable() {
        let next = "choose another tool, or say that this one is broken";
        let message = format!("`{}` cannot be called: {reason}", tool.op);
        return Err(Box::new((arguments, Failure::new(ErrorCode::NoBackend, message, next))));
    }
    if let Some(failure) = exact_numbers::check(tool, &arguments) {
        return Err(Box::new((arguments, failure)));
    }
    if !beside.is_empty() {
        take_extra_fields(tool, secrets, &mut arguments, beside, notes)?;
    }
    if !tool.parameters.is_checked() || (knows_all(tool, &arguments) && tool.parameters.accepts(&arguments)) {
        return Ok(ValidArguments { arguments, repaired: Vec::new() });
    }
    match coerce_to_schema(tool, arguments.clone()) {
        Ok((fit, repaired)) => {
            if let Some(failure) = null_policy::check(tool, &fit, &repaired) {
                return Err(Box::new((arguments, failure)));
            }
            describe_repairs(&repaired, notes);
            Ok(ValidArguments { arguments: coerce_names(tool, fit, notes), repaired })
        }
        Err(wrong) => {
            let (base, depth) = unwrapped(tool, &arguments);
            let repair = coerce_in_rounds(tool, base);
            if let Some((mended, how)) = &repair
                && let Ok((fit, repaired)) = coerce_to_schema(tool, mended.clone())
            {
                if let Some(failure) = null_policy::check(tool, &fit, &repaired) {
                    return Err(Box::new((arguments, failure)));
                }
                notes.extend(depth);
                notes.extend(how.iter().cloned());
                describe_repairs(&repaired, notes);
                return Ok(ValidArguments { arguments: fit, repaired });
            }
            let start = repair.map_or_else(|| base.clone(), |(mended, _)| mended);
            let failure = validation_failure(tool, secrets, base, wrong)
                .offering(None, corrected(tool, secrets, &start));
            Err(Box::new((arguments, failure)))
        }
    }
}

/// Arguments whose names and values were put right, and how: under its right name a value shows what is wrong with it.
fn coerce_in_rounds(tool: &Tool, given: &Value) -> Option<(Value, Vec<String>)> {
    let mut wrong = tool.parameters.violations(given);
    let (mut value, mut how) = coerce_round(tool, given, &wrong)?;
    for _ in 0..ROUNDS {
        wrong = tool.parameters.violations(&value);
        let Some((better, more)) = coerce_round(tool, &value, &wrong) else { break };
        value = better;
        how.extend(more);
    }
    Some((value, how))
}

/// What stands where arguments are due, as an object. Where something is destroyed, nothing is not taken for no arguments.
pub(super) fn object(
    tool: &Tool,
    given: Value,
    is_all: bool,
    notes: &mut Vec<String>,
) -> Result<Value, InvalidArguments> {
    let is_blank = matches!(&given, Value::String(text) if text.trim().is_empty());
    let takes_any = || {
        let properties = tool.parameters.schema().get("properties").and_then(Value::as_object);
        properties.is_some_and(|properties| !properties.is_empty())
    };
    if tool.effect == Effect::Destructive && (is_blank || (given.is_null() && is_all && takes_any())) {
        let message = format!("`{}` is destructive, and was called without `args`", tool.op);
        let failure = Failure::invalid(message, "say `args: {}` if you mean no arguments");
        return Err(Box::new((given, failure.field("", "expected an object", Some("object")))));
    }
    match given {
        Value::Object(_) => Ok(given),
        Value::Null => Ok(Value::Object(Map::new())),
        Value::String(text) if text.trim().is_empty() => Ok(Value::Object(Map::new())),
        Value::String(text) => match decoded(&text) {
            Ok(fields) if fields.is_object() => {
                notes.push("`args` was JSON text, read as the object that it says".into());
                Ok(fields)
            }
            Err(error) if error.is_data() => {
                let failure =
                    Failure::invalid(format!("`args` is JSON text in which {error}"), "send it once");
                Err(Box::new((Value::String(text), failure.field("", &error.to_string(), None))))
            }
            _ => Err(no_object(tool, Value::String(text))),
        },
        other => Err(no_object(tool, other)),
    }
}

/// The value that a text holds, also where that is text within text.
pub(super) fn decoded(text: &str) -> serde_json::Result<Value> {
    match from_json(text)? {
        Value::String(inner) => from_json(&inner),
        value => Ok(value),
    }
}

fn no_object(tool: &Tool, given: Value) -> InvalidArguments {
    let message = format!("`args` of `{}` should be an object with its arguments", tool.op);
    let failure =
        Failure::invalid(message, "send `args` as an object").field("", "expected an object", Some("object"));
    let failure = failure.offering(None, correction::ready_made(tool, &Value::Null));
    Box::new((given, failure))
}

/// Takes in what stands beside `args` and is plainly an argument.
fn take_extra_fields(
    tool: &Tool,
    secrets: Secrets<'_>,
    arguments: &mut Value,
    beside: Map<String, Value>,
    notes: &mut Vec<String>,
) -> Result<(), InvalidArguments> {
    let properties = tool.parameters.schema().get("properties").and_then(Value::as_object);
    let is_property = |name: &str| match properties {
        Some(known) if known.contains_key(name) => true,
        Some(known) if NameTolerance::of(tool) == NameTolerance::Typos => {
            known.keys().any(|known| normalized(known) == normalized(name))
        }
        _ => false,
    };
    for (name, value) in beside {
        let fields = arguments.as_object_mut();
        match fields {
            Some(fields) if is_property(&name) && !fields.contains_key(&name) => {
                notes.push(format!("`{}` stood beside `args`, read as part of it", clean_line(&name)));
                fields.insert(name, value);
            }
            _ => {
                let shown = clean_line(&name.chars().take(80).collect::<String>());
                let message = format!(
                    "`{shown}` is neither a field of the call nor an argument of `{}` that is not given already",
                    tool.op
                );
                let next = "put the arguments of the op into `args`, and nothing else beside it";
                let failure = Failure::invalid(message, next).field(
                    &crate::finding::pointer_join("", &name),
                    "this stands beside `args` and belongs nowhere",
                    None,
                );
                let mut example =
                    corrected(tool, secrets, arguments).filter(|_| tool.effect != Effect::Destructive);
                if let Some(example) = &mut example {
                    example.dropped.push(crate::finding::pointer_join("", &name));
                }
                let failure = failure.offering(None, example);
                return Err(Box::new((arguments.take(), failure)));
            }
        }
    }
    Ok(())
}

/// Whether all that is given are properties that the schema has.
fn knows_all(tool: &Tool, arguments: &Value) -> bool {
    let known = tool.parameters.schema().get("properties").and_then(Value::as_object);
    let mut names = arguments.as_object().into_iter().flat_map(Map::keys);
    names.all(|name| known.is_some_and(|known| known.contains_key(name)))
}

/// An open schema takes any name: those that can only mean a known one are given that, and others are told of.
fn coerce_names(tool: &Tool, arguments: Value, notes: &mut Vec<String>) -> Value {
    let Some(known) = properties(tool) else { return arguments };
    let slips = |name: &str, meant: &str| normalized(name) == normalized(meant);
    let is_near = |name: &String| known.keys().any(|meant| slips(name, meant) && meant != name);
    let is_misnamed = arguments.as_object().is_some_and(|fields| fields.keys().any(is_near));
    let mut settled = arguments;
    if is_misnamed
        && let Some((mended, how)) = coerce_round(tool, &settled, &[])
        && tool.parameters.accepts(&mended)
    {
        notes.extend(how);
        settled = mended;
    }
    for name in settled.as_object().into_iter().flat_map(Map::keys).filter(|name| !known.contains_key(*name))
    {
        notes.push(format!(
            "`{}` is no argument of `{}`; it is passed on as it is",
            clean_line(name),
            tool.op
        ));
    }
    settled
}

/// What is below a single key that wraps the arguments, and that in words.
fn unwrapped<'v>(tool: &Tool, arguments: &'v Value) -> (&'v Value, Option<String>) {
    let known = tool.parameters.schema().get("properties");
    let wraps = |name: &str| {
        ["args", "arguments", "input", "parameters", "params", "kwargs"].contains(&name)
            || [&tool.name, &tool.op, &tool.safe_name].iter().any(|own| *own == name)
    };
    match arguments.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.iter().next()) {
        Some((name, inside))
            if wraps(name) && inside.is_object() && known.is_none_or(|known| known.get(name).is_none()) =>
        {
            (inside, Some(format!("the arguments were one level too deep, below `{name}`")))
        }
        _ => (arguments, None),
    }
}

/// What was put right by reading alone, in words.
fn describe_repairs(repaired: &[Repair], notes: &mut Vec<String>) {
    for Repair { pointer, repair } in repaired {
        let at = clean_line(pointer.trim_start_matches('/'));
        notes.push(match repair {
            RepairKind::DoubleEncoded => "the arguments were JSON text within JSON text".into(),
            RepairKind::Unwrapped => format!("the arguments were one level too deep, below `{at}`"),
            RepairKind::Decoded => format!("`{at}` was text, read as the value that it says"),
            RepairKind::NullDropped => format!("`{at}` was null, and is left out"),
            RepairKind::Model => "the arguments were written anew by a model".into(),
        });
    }
}

/// What is wrong with arguments, in words, place by place.
fn validation_failure(tool: &Tool, secrets: Secrets<'_>, given: &Value, wrong: Vec<Violation>) -> Failure {
    let is_empty = given.as_object().is_some_and(Map::is_empty);
    let other: Vec<String> = wrong.iter().flat_map(correction::possible).collect();
    let fields: Vec<_> =
        wrong.into_iter().map(|one| correction::invalid_field(tool, secrets, given, one)).collect();
    let notes: Vec<String> = fields
        .iter()
        .take(if is_empty { 8 } else { 3 })
        .map(|invalid| match invalid.pointer.as_str() {
            "" => invalid.message.clone(),
            pointer => format!("{pointer}: {}", invalid.message),
        })
        .collect();
    let message = match is_empty {
        true => format!("`{}` was called without arguments: {}", tool.op, notes.join("; ")),
        false => format!("the arguments of `{}` do not fit: {}", tool.op, notes.join("; ")),
    };
    let next = "correct the arguments and send the call again; tool_help with `help_path` says more";
    let mut failure = Failure::invalid(message, next);
    failure.nearest = fields.iter().filter_map(|invalid| invalid.nearest.clone()).chain(other).collect();
    let mut notes = std::collections::HashSet::new();
    failure.nearest.retain(|near| notes.insert(near.clone()));
    failure.fields = fields;
    failure
}

//! Validation of arguments by the schema of their tool: unchanged, then coerced. Each change is described in words.

use serde_json::{Map, Value};

use super::coerce::coerce_to_schema;
use super::correct::corrected;
use super::exact_numbers::inexact_integers;
use super::field_error::FieldError;
use super::integers::write_integers;
use super::invalid::{InvalidArguments, invalid_arguments};
use super::nulls::check_dropped_nulls;
use super::properties::{has_all, wrapped};
use super::read::ArgumentReader;
use super::repair::{Repair, describe_repairs};
use super::respell::{coerce_accepted_names, coerce_names, is_property_name};
use crate::tool::Tool;
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::secret::SecretPolicy;
use toolcrib_definition::{Effect, clean_line};

/// Characters of a name that a message repeats.
const QUOTE: usize = 80;

/// Makes arguments valid by the schema of their tool, and returns the repairs; `notes` gets each change in words. `beside`
/// are unknown fields next to `args`. Arguments that cannot be made valid stay as they were read.
pub fn validate(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    arguments: &mut Value,
    beside: Map<String, Value>,
    notes: &mut Vec<String>,
) -> Result<Vec<Repair>, InvalidArguments> {
    let inexact = inexact_integers(tool, arguments);
    if let Some(first) = inexact.first() {
        return Err(too_many_digits(tool, first, &inexact));
    }
    take_extra_fields(tool, secrets, arguments, beside, notes)?;
    let is_known = || arguments.as_object().is_none_or(|fields| has_all(tool, fields));
    if tool.input.parameters.is_checked() && !(is_known() && tool.input.parameters.accepts(arguments)) {
        match with_defaults(tool, arguments).filter(|(filled, _)| tool.input.parameters.accepts(filled)) {
            Some((filled, names)) => {
                *arguments = filled;
                notes.extend(names.iter().map(|name| format!("`{name}` was not given, and is its default")));
            }
            None => return coerce(tool, secrets, arguments, notes),
        }
    }
    write_integers(tool, &ArgumentReader::default(), arguments);
    Ok(Vec::new())
}

/// Arguments with the defaults of required properties, where such properties are missing, and the names of these. Some servers call a property
/// required because they always have a value for it.
fn with_defaults(tool: &Tool, arguments: &Value) -> Option<(Value, Vec<String>)> {
    let root = tool.input.parameters.root();
    let given = arguments.as_object()?;
    let default = |name: &&str| Some((name.to_string(), root.property(name)?.default?.clone()));
    let missing = root.required().iter().filter(|name| !given.contains_key(**name));
    let defaults: Vec<(String, Value)> = missing.filter_map(default).collect();
    let names = defaults.iter().map(|(name, _)| clean_line(name)).collect();
    let filled = given.clone().into_iter().chain(defaults.iter().cloned()).collect();
    (!defaults.is_empty()).then_some((Value::Object(filled), names))
}

/// Coerces values; else names, then values.
fn coerce(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    arguments: &mut Value,
    notes: &mut Vec<String>,
) -> Result<Vec<Repair>, InvalidArguments> {
    let wrong = match coerce_to_schema(tool, arguments.clone()) {
        Ok(fit) => {
            check_dropped_nulls(tool, &fit)?;
            describe_repairs(&fit.repaired, notes);
            *arguments = coerce_accepted_names(tool, fit.value, notes);
            return Ok(fit.repaired);
        }
        Err(wrong) => wrong,
    };
    let wrapper = wrapped(tool, arguments).filter(|(_, inside)| inside.is_object());
    let base = wrapper.map_or(&*arguments, |(_, inside)| inside);
    let coerced = coerce_names(tool, base);
    if let Some((value, changes)) = &coerced
        && let Ok(fit) = coerce_to_schema(tool, value.clone())
    {
        check_dropped_nulls(tool, &fit)?;
        notes.extend(wrapper.map(|(key, _)| format!("the arguments were one level too deep, below `{key}`")));
        notes.extend_from_slice(changes);
        describe_repairs(&fit.repaired, notes);
        *arguments = fit.value;
        return Ok(fit.repaired);
    }
    let invalid = invalid_arguments(tool, secrets, base, wrong);
    let start = coerced.as_ref().map_or(base, |(value, _)| value);
    Err(InvalidArguments { corrected: corrected(tool, secrets, start), ..invalid })
}

/// Moves fields from next to `args` into it, if they are properties of the tool.
fn take_extra_fields(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    arguments: &mut Value,
    beside: Map<String, Value>,
    notes: &mut Vec<String>,
) -> Result<(), InvalidArguments> {
    for (name, value) in beside {
        match arguments.as_object_mut() {
            Some(fields) if is_property_name(tool, &name) && !fields.contains_key(&name) => {
                notes
                    .push(format!("`{}` stood beside `args`, and was read as part of it", clean_line(&name)));
                fields.insert(name, value);
            }
            _ => return Err(out_of_place(tool, secrets, arguments, &name)),
        }
    }
    Ok(())
}

fn out_of_place(tool: &Tool, secrets: SecretPolicy<'_>, arguments: &Value, name: &str) -> InvalidArguments {
    let shown = clean_line(&name.chars().take(QUOTE).collect::<String>());
    let message = format!(
        "`{shown}` is neither a field of the call nor an argument of `{}` that is not given already",
        tool.names.op
    );
    let pointer = pointer_join("", name);
    let is_guess_allowed = tool.rules.effect != Effect::Destructive;
    let mut corrected = is_guess_allowed.then(|| corrected(tool, secrets, arguments)).flatten();
    if let Some(corrected) = &mut corrected {
        corrected.dropped.push(pointer.clone());
    }
    let next = "put the arguments of the op into `args`, and nothing else beside it";
    let invalid = InvalidArguments { corrected, ..InvalidArguments::new(message, next) };
    invalid.field(FieldError::new(pointer, "this is beside `args`, and is no field of the call"))
}

fn too_many_digits(tool: &Tool, first: &str, places: &[String]) -> InvalidArguments {
    let message =
        format!("the arguments of `{}` do not fit: {first}: this integer has too many digits", tool.names.op);
    let next = "send it as text if the tool takes text, else a number with at most 19 digits";
    places.iter().fold(InvalidArguments::new(message, next), |invalid, place| {
        let error = FieldError::new(place, "an integer that cannot be held to its last digit");
        invalid.field(error.expecting("at most 19 digits, or text"))
    })
}

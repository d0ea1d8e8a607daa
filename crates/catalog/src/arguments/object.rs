//! Arguments that are text, null or another value become an object, unless that would guess at a destructive call.

use serde_json::{Map, Value};

use super::correct::ready_made;
use super::field_error::FieldError;
use super::invalid::InvalidArguments;
use super::joined::{Joined, UNCLEAR, joined_objects};
use super::read::{ArgumentReader, decoded};
use super::repair::{Repair, RepairKind, describe_repairs};
use crate::tool::Tool;
use toolcrib_definition::Effect;

/// Makes the arguments of a call an object; `notes` gets each change. For a destructive tool with properties, blank text is
/// no empty object, and neither is an absent `args` where no other field could have arguments (`is_all`).
pub fn make_object(
    tool: &Tool,
    given: &mut Value,
    is_all: bool,
    notes: &mut Vec<String>,
) -> Result<(), InvalidArguments> {
    let is_blank = given.as_str().is_some_and(|text| text.trim().is_empty());
    let takes_any = || tool.input.parameters.root().names().next().is_some();
    if tool.rules.effect == Effect::Destructive && (is_blank || (given.is_null() && is_all && takes_any())) {
        let message = format!("`{}` is destructive, and was called without `args`", tool.names.op);
        let next = "say `args: {}` if you mean no arguments";
        return Err(InvalidArguments::new(message, next).field(FieldError::expected_object()));
    }
    *given = match given {
        Value::Object(_) => return Ok(()),
        Value::String(text) if !is_blank => match decoded(text) {
            Ok(fields) if fields.is_object() => {
                notes.push("`args` was JSON text, and was decoded".into());
                fields
            }
            Err(error) if error.is_data() => {
                let message = format!("`args` is JSON text in which {error}");
                let invalid = InvalidArguments::new(message, "send it once");
                return Err(invalid.field(FieldError::new("", error.to_string())));
            }
            _ => match joined_objects(tool, text, &mut ArgumentReader::default()) {
                Some(Joined::Calls(mut calls)) if calls.len() == 1 => {
                    let repair = RepairKind::Extracted;
                    describe_repairs(&[Repair { pointer: String::new(), repair }], notes);
                    calls.remove(0)
                }
                Some(_) => {
                    let invalid = InvalidArguments::new(UNCLEAR, "send `args` as one object");
                    return Err(invalid.field(FieldError::expected_object()));
                }
                None => return Err(no_object(tool)),
            },
        },
        Value::Null | Value::String(_) => Value::Object(Map::new()),
        _ => return Err(no_object(tool)),
    };
    Ok(())
}

fn no_object(tool: &Tool) -> InvalidArguments {
    let message = format!("`args` of `{}` should be an object with its arguments", tool.names.op);
    let invalid = InvalidArguments::new(message, "send `args` as an object");
    let invalid = invalid.field(FieldError::expected_object());
    InvalidArguments { corrected: ready_made(tool, &Value::Null), ..invalid }
}

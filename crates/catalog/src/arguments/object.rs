//! Arguments that are text, null or another value become an object, unless that would guess at a destructive call.

use serde_json::{Map, Value};

use super::coerce::Reading;
use super::correct::ready_made;
use super::field_error::FieldError;
use super::invalid::InvalidArguments;
use super::read::ArgumentReader;
use super::repair::describe_repairs;
use super::text::{Unreadable, arguments_in_text};
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
        Value::String(text) if !is_blank => {
            match arguments_in_text(tool, text, &mut ArgumentReader::default()) {
                Ok(mut calls) => match (calls.pop(), calls.is_empty()) {
                    (Some(Reading { value, repaired }), true) if value.is_object() => {
                        notes.push("`args` was JSON text, and was decoded".into());
                        describe_repairs(&repaired, notes);
                        value
                    }
                    (_, true) => return Err(no_object(tool)),
                    _ => return Err(unreadable(tool, &Unreadable::Unclear)),
                },
                Err(problem) => return Err(unreadable(tool, &problem)),
            }
        }
        Value::Null | Value::String(_) => Value::Object(Map::new()),
        _ => return Err(no_object(tool)),
    };
    Ok(())
}

fn unreadable(tool: &Tool, problem: &Unreadable) -> InvalidArguments {
    let invalid = InvalidArguments::new(format!("the arguments {problem}"), "send `args` as one object");
    let invalid = invalid.field(FieldError::expected_object());
    InvalidArguments { corrected: ready_made(tool, &Value::Null), ..invalid }
}

fn no_object(tool: &Tool) -> InvalidArguments {
    let message = format!("`args` of `{}` should be an object with its arguments", tool.names.op);
    let invalid = InvalidArguments::new(message, "send `args` as an object");
    let invalid = invalid.field(FieldError::expected_object());
    InvalidArguments { corrected: ready_made(tool, &Value::Null), ..invalid }
}

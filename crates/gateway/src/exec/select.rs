//! `select`: the part of a result that its caller wants. A mistake in it is shown with the shape of the result.

use serde_json::Value;

use crate::tool_error::{Result, ToolError};
use toolcrib_catalog::arguments::FieldError;
use toolcrib_catalog::results::{self, SelectError, shape_of};
use toolcrib_front::long_work::apart;

/// Reads the field `select`. The expression in it is checked once the tool is known.
pub(super) fn read_select(given: Option<Value>) -> Result<Option<String>> {
    match given {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(expression)) => Ok(Some(expression)),
        Some(_) => {
            let message = "`select` is one JMESPath expression, as text";
            Err(ToolError::invalid(message, "send text such as `items[].{id: id, title: title}`")
                .with_field(FieldError::new("/select", "this is no text").expecting("string")))
        }
    }
}

/// Refuses an expression that nothing can be selected with. `shape` is that of the result, where it is known.
pub(super) fn check_select(expression: &str, shape: Option<String>) -> Result<()> {
    results::check_select(expression).map_err(|problem| refused(&problem, shape))
}

/// The part of a result that an expression selects.
pub(super) fn selected(expression: &str, result: &Value) -> Result<Value> {
    // An expression may take long on a short result too.
    apart(usize::MAX, || results::selected(expression, result))
        .map_err(|problem| refused(&problem, Some(shape_of(result))))
}

/// The error of an expression that finds nothing in a result.
pub(super) fn found_nothing(part: &Value, result: &Value) -> Option<ToolError> {
    results::check_found(part).err().map(|problem| refused(&problem, Some(shape_of(result))))
}

fn refused(problem: &SelectError, shape: Option<String>) -> ToolError {
    let mut message = format!("`select` {problem}");
    if let Some(shape) = shape {
        message.push_str(&format!("; the result is {shape}"));
    }
    let next = "correct `select`, or leave it out for the whole result";
    ToolError::invalid(message, next).field("/select", &problem.to_string())
}

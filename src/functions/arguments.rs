//! The arguments of a function: checked against its definition, and what is plainly meant otherwise read as that.

use serde_json::Value;

use super::{ErrorCode, Refusal};
use crate::catalog::Tool;
use crate::finding::Violation;
use crate::provider::call::{FieldError, fitted};

/// The arguments as they fit; else each field that does not, and a call that would.
pub(super) fn check(definition: &Tool, arguments: Value) -> Result<Value, Refusal> {
    let mut arguments = if arguments.is_null() { Value::Object(Default::default()) } else { arguments };
    read_paths(definition, &mut arguments);
    // Our schemas are closed: what fits as it is needs no other reading.
    if arguments.is_object() && definition.parameters.accepts(&arguments) {
        return Ok(arguments);
    }
    fitted(definition, arguments).map(|(arguments, _)| arguments).map_err(|violations| {
        unfit(definition, &definition.name, violations, "correct the arguments; `example` fits")
    })
}

/// What is wrong with the arguments of a tool that is called so.
pub(super) fn unfit(tool: &Tool, name: &str, violations: Vec<Violation>, next_action: &str) -> Refusal {
    let field_errors: Vec<FieldError> = violations.into_iter().map(FieldError::from).collect();
    let told: Vec<String> = field_errors
        .iter()
        .take(3)
        .map(|error| match error.pointer.as_str() {
            "" => error.message.clone(),
            pointer => format!("{pointer}: {}", error.message),
        })
        .collect();
    let message = format!("the arguments of {name} do not fit: {}", told.join("; "));
    let mut refusal = Refusal::new(ErrorCode::ValidationError, message, next_action);
    refusal.field_errors = field_errors;
    refusal.example = tool.call.clone().map(Value::Object);
    refusal
}

/// The arguments that are paths of categories.
const PATHS: [&str; 3] = ["path", "category_path", "category"];

/// A path is a list of segments in some functions and one text in others, and models mix them up. Since no segment has a
/// slash in it, neither can be taken for something else.
fn read_paths(definition: &Tool, arguments: &mut Value) {
    let properties = definition.parameters.schema().get("properties");
    for name in PATHS {
        let wanted = properties.and_then(|properties| properties.get(name)?.get("type")?.as_str());
        let Some(given) = arguments.get_mut(name) else { continue };
        match (wanted, &*given) {
            (Some("array"), Value::String(text)) if !text.trim_start().starts_with('[') => {
                *given = text.split('/').filter(|segment| !segment.trim().is_empty()).collect();
            }
            (Some("string"), Value::Array(segments)) if segments.iter().all(Value::is_string) => {
                let segments: Vec<&str> = segments.iter().filter_map(Value::as_str).collect();
                *given = segments.join("/").into();
            }
            _ => {}
        }
    }
}

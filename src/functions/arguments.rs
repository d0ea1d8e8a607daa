//! The arguments of a function: checked against its definition, and what is plainly meant otherwise read as that.

use serde_json::Value;

use super::{ErrorCode, Refusal};
use crate::catalog::Tool;
use crate::provider::call::{FieldError, fitted};

/// The arguments as they fit; else each field that does not, and a call that would.
pub(super) fn check(definition: &Tool, arguments: Value) -> Result<Value, Refusal> {
    let arguments = if arguments.is_null() { Value::Object(Default::default()) } else { arguments };
    fitted(definition, arguments).map(|(arguments, _)| arguments).map_err(|violations| {
        let field_errors: Vec<FieldError> = violations.into_iter().map(FieldError::from).collect();
        let told: Vec<String> = field_errors
            .iter()
            .take(3)
            .map(|error| match error.pointer.as_str() {
                "" => error.message.clone(),
                pointer => format!("{pointer}: {}", error.message),
            })
            .collect();
        let message = format!("the arguments of {} do not fit: {}", definition.name, told.join("; "));
        let mut refusal =
            Refusal::new(ErrorCode::ValidationError, message, "correct the arguments; `example` fits");
        refusal.field_errors = field_errors;
        refusal.example = definition.call.clone().map(Value::Object);
        refusal
    })
}

//! The arguments of a function: coerced to its definition, and validated. An error names each wrong field.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::context::FunctionContext;
use crate::tool_error::{Result, ToolError};
use toolcrib_catalog::Tool;
use toolcrib_catalog::arguments::{
    FieldError, MAX_EXPLAINED, Repair, RepairKind, and_more, coerce_to_schema, in_words,
};
use toolcrib_definition::finding::Violation;
use toolcrib_definition::secret::SecretPolicy;

/// The arguments of a function, which answer its call.
pub(super) trait Arguments: DeserializeOwned + Send {
    type Reply;

    /// Answers a call.
    fn answer(self, context: &FunctionContext) -> impl Future<Output = Result<Self::Reply>> + Send;
}

/// The arguments of a call of this function, as its own type.
pub(super) fn read_arguments<T: DeserializeOwned>(
    (name, definition): (&str, Option<&Tool>),
    secrets: SecretPolicy<'_>,
    given: Value,
) -> Result<T> {
    let given = match definition {
        Some(definition) => check(definition, secrets, given)?,
        None => given,
    };
    T::deserialize(given).map_err(|_| {
        let message = format!("the arguments of {name} do not fit");
        ToolError::invalid(message, "correct the arguments; `example` fits")
    })
}

/// Valid arguments; else an error with field errors and an example.
fn check(definition: &Tool, secrets: SecretPolicy<'_>, arguments: Value) -> Result<Value> {
    let mut arguments = if arguments.is_null() { Value::Object(Default::default()) } else { arguments };
    if definition.input.parameters.accepts(&arguments) {
        read_integers(definition, &mut arguments);
        return Ok(arguments);
    }
    read_paths(definition, &mut arguments);
    // A number never stands for a name, a query or a path.
    let is_name = |repaired: &[Repair]| repaired.iter().all(|repair| repair.repair != RepairKind::AsText);
    let coerced = match coerce_to_schema(definition, arguments.clone()) {
        Ok(fit) if is_name(&fit.repaired) => Ok(fit.value),
        Ok(_) => Err(definition.input.parameters.violations(&arguments)),
        Err(wrong) => Err(wrong),
    };
    let mut fit = coerced.map_err(|wrong| invalid_arguments(definition, secrets, &arguments, wrong))?;
    read_integers(definition, &mut fit);
    Ok(fit)
}

/// Makes `5.0` the integer 5: JSON Schema accepts it as an integer, and Rust does not read it as one.
fn read_integers(definition: &Tool, arguments: &mut Value) {
    let root = definition.input.parameters.root();
    for (name, given) in arguments.as_object_mut().into_iter().flatten() {
        let wanted = root.property(name).and_then(|property| property.type_words().next());
        if wanted == Some("integer")
            && !given.is_u64()
            && let Some(number) = given.as_f64()
        {
            *given = (number as i64).into();
        }
    }
}

/// The error of the arguments of a function, field by field.
fn invalid_arguments(
    tool: &Tool,
    secrets: SecretPolicy<'_>,
    given: &Value,
    wrong: Vec<Violation>,
) -> ToolError {
    let more = wrong.len().saturating_sub(MAX_EXPLAINED);
    let explained = wrong.into_iter().take(MAX_EXPLAINED);
    let told = explained.map(|violation| secrets.conceal(tool.input.parameters.schema(), given, violation));
    let field_errors: Vec<FieldError> = told.map(FieldError::from).collect();
    let words = in_words(&field_errors, 3) + &and_more(more);
    let message = format!("the arguments of {} do not fit: {words}", tool.names.canonical);
    let mut error = ToolError::invalid(message, "correct the arguments; `example` fits");
    error.field_errors = field_errors;
    error.example = tool.input.call.clone().map(Value::Object);
    error
}

/// Arguments that are paths of categories.
const PATHS: [&str; 3] = ["path", "category_path", "category"];

/// Turns a path from text into a list, or the other way round, as the definition wants it: models mix the two up. No
/// segment has a slash, so the change is unambiguous.
fn read_paths(definition: &Tool, arguments: &mut Value) {
    let root = definition.input.parameters.root();
    for name in PATHS {
        let wanted = root.property(name).and_then(|property| property.type_words().next());
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use toolcrib_catalog::functions;

    #[test]
    fn integers_may_be_written_as_floats() {
        let list = functions().named("list").unwrap();
        for (given, read) in [(json!(7.0), json!(7)), (json!("7.0"), json!(7)), (json!(7), json!(7))] {
            assert_eq!(check(list, SecretPolicy::default(), json!({"limit": given})).unwrap()["limit"], read);
        }
        let error = check(list, SecretPolicy::default(), json!({"limit": 1.5})).unwrap_err();
        assert_eq!(error.field_errors[0].pointer, "/limit");
        assert!(error.example.is_some() && error.message.contains("integer"), "{}", error.message);
    }
}

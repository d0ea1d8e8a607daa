//! The arguments of a function: checked against its definition, and what is plainly meant otherwise read as that.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{CatalogView, ErrorCode, Function, Refusal};
use crate::catalog::Tool;
use crate::finding::{Violation, pointer_join};
use crate::provider::call::{FieldError, coerce_to_schema};
use crate::secret::Policy as Secrets;

/// The arguments as they fit; else each field that does not, and a call that would.
pub(super) fn check(definition: &Tool, secrets: Secrets<'_>, arguments: Value) -> Result<Value, Refusal> {
    let mut arguments = if arguments.is_null() { Value::Object(Default::default()) } else { arguments };
    if is_unambiguous(definition.parameters.schema(), &arguments) {
        return Ok(arguments);
    }
    read_paths(definition, &mut arguments);
    // Our schemas are closed: what fits as it is needs no other reading.
    let mut arguments = match arguments.is_object() && definition.parameters.accepts(&arguments) {
        true => arguments,
        false => match coerce_to_schema(definition, arguments.clone()) {
            Ok((arguments, _)) => arguments,
            Err(violations) => {
                let schema = definition.parameters.schema();
                let told =
                    violations.into_iter().map(|one| secrets.conceal(schema, &arguments, one)).collect();
                return Err(validation_refusal(definition, told));
            }
        },
    };
    read_integers(definition, &mut arguments);
    Ok(arguments)
}

/// Whether arguments fit at a glance: nearly all calls are texts, numbers and words under names that are known. What does
/// not fit so may fit all the same, which takes a validator to see.
fn is_unambiguous(schema: &Value, arguments: &Value) -> bool {
    let (Value::Object(schema), Value::Object(arguments)) = (schema, arguments) else { return false };
    let is_given = |name: &Value| name.as_str().is_some_and(|name| arguments.contains_key(name));
    let fits = |(name, value): (&String, &Value)| {
        let property = schema.get("properties").and_then(|properties| properties.get(name));
        property.and_then(Value::as_object).is_some_and(|property| is_plainly(property, value))
    };
    let holds = |(keyword, rule): (&String, &Value)| match keyword.as_str() {
        "type" => rule == "object",
        "required" => rule.as_array().is_some_and(|names| names.iter().all(is_given)),
        // What is not among the properties is not plain.
        "properties" => arguments.iter().all(fits),
        "additionalProperties" => rule.is_boolean(),
        keyword => is_remark(keyword),
    };
    schema.iter().all(holds) && (arguments.is_empty() || schema.contains_key("properties"))
}

/// Whether a value fits a schema of a plain type.
fn is_plainly(schema: &Map<String, Value>, value: &Value) -> bool {
    let is_of = |kind: &Value| match value {
        Value::String(_) => kind == "string",
        Value::Bool(_) => kind == "boolean",
        Value::Number(number) => kind == "integer" && number.is_u64(),
        _ => false,
    };
    let size = || match value {
        Value::String(text) => text.chars().count() as u64,
        value => value.as_u64().unwrap_or(0),
    };
    let is_plain = matches!(value, Value::String(_) | Value::Bool(_)) || value.is_u64();
    let holds = |(keyword, rule): (&String, &Value)| match keyword.as_str() {
        "type" => is_of(rule),
        "enum" => rule.as_array().is_some_and(|values| values.contains(value)),
        "minLength" => value.is_string() && rule.as_u64().is_some_and(|least| size() >= least),
        "maxLength" => value.is_string() && rule.as_u64().is_some_and(|most| size() <= most),
        "minimum" => value.is_u64() && rule.as_u64().is_some_and(|least| size() >= least),
        "maximum" => value.is_u64() && rule.as_u64().is_some_and(|most| size() <= most),
        keyword => is_remark(keyword),
    };
    is_plain && schema.iter().all(holds)
}

/// Whether a keyword is for readers.
fn is_remark(keyword: &str) -> bool {
    matches!(keyword, "description" | "title" | "default" | "examples")
}

/// Arguments that were checked, as a function's own type.
pub(super) fn read<T: DeserializeOwned>(function: &str, arguments: Value) -> Result<T, Refusal> {
    let told = match T::deserialize(&arguments) {
        Ok(read) => return Ok(read),
        Err(error) => error.to_string(),
    };
    let problem = |arguments: &Value| T::deserialize(arguments).err().map(|error| error.to_string());
    // The problem is with the first argument without which it is another one.
    let names = arguments.as_object().into_iter().flat_map(|arguments| arguments.keys());
    let without = |name: &&String| {
        let mut rest = arguments.clone();
        rest.as_object_mut().map(|rest| rest.shift_remove(*name));
        problem(&rest).as_ref() != Some(&told)
    };
    let pointer = names.into_iter().find(without).map(|name| pointer_join("", name)).unwrap_or_default();
    Err(unread(function, &pointer))
}

fn unread(function: &str, pointer: &str) -> Refusal {
    let at = if pointer.is_empty() { String::new() } else { format!("{pointer}: ") };
    let message = format!("the arguments of {function} do not fit: {at}this value cannot be used");
    let refusal = Refusal::new(ErrorCode::ValidationError, message, "correct the arguments; `example` fits");
    refusal.field(pointer, "this value cannot be used")
}

/// A refusal of arguments with some that are right, where it has none of its own or only what the definition invents.
pub(super) fn with_example(mut refusal: Refusal, function: &Function, view: &CatalogView) -> Refusal {
    let invented = function.definition().and_then(|tool| tool.call.clone()).map(Value::Object);
    let has_none = refusal.example.is_none() || refusal.example == invented;
    // What is wrong in the arguments for another tool is nothing that ours can show.
    let is_ours = !refusal.field_errors.iter().any(|error| error.pointer.starts_with("/arguments"));
    if refusal.code == ErrorCode::ValidationError && has_none && is_ours {
        refusal.example = function.example_for(view).or(invented);
    }
    refusal
}

/// `5.0` is an integer as JSON Schema has it, and none to who reads one.
fn read_integers(definition: &Tool, arguments: &mut Value) {
    let properties = definition.parameters.schema().get("properties");
    for (name, given) in arguments.as_object_mut().into_iter().flatten() {
        let wanted = properties.and_then(|properties| properties.get(name)?.get("type")?.as_str());
        if wanted == Some("integer")
            && !given.is_u64()
            && let Some(number) = given.as_f64()
        {
            *given = (number as i64).into();
        }
    }
}

/// What is wrong with the arguments of a function.
fn validation_refusal(tool: &Tool, violations: Vec<Violation>) -> Refusal {
    let field_errors: Vec<FieldError> = violations.into_iter().map(FieldError::from).collect();
    let told: Vec<String> = field_errors
        .iter()
        .take(3)
        .map(|error| match error.pointer.as_str() {
            "" => error.message.clone(),
            pointer => format!("{pointer}: {}", error.message),
        })
        .collect();
    let message = format!("the arguments of {} do not fit: {}", tool.name, told.join("; "));
    let next = "correct the arguments; `example` fits";
    let mut refusal = Refusal::new(ErrorCode::ValidationError, message, next);
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::catalog::functions;

    #[test]
    fn integers_may_be_written_as_floats() {
        let list = functions().named("list").unwrap();
        for (given, read) in [(json!(7.0), json!(7)), (json!("7.0"), json!(7)), (json!(7), json!(7))] {
            assert_eq!(check(list, Secrets::default(), json!({"limit": given})).unwrap()["limit"], read);
        }
        let refusal = check(list, Secrets::default(), json!({"limit": 1.5})).unwrap_err();
        assert_eq!(refusal.field_errors[0].pointer, "/limit");
        assert!(refusal.example.is_some() && refusal.message.contains("integer"), "{}", refusal.message);
        let doc = functions().named("read_tool_doc").unwrap();
        let most = check(doc, Secrets::default(), json!({"name": "x", "max_tokens": 1e300})).unwrap();
        assert!(most["max_tokens"].is_u64(), "{most}");
    }

    #[test]
    fn what_fits_at_a_glance_fits_the_schema() {
        let given = json!([
            {}, {"path": "x"}, {"path": ""}, {"path": 7}, {"paths": ["x"]}, {"path": "x", "format": "long"},
            {"path": "x", "format": "full", "include_schemas": true}, {"unknown": "x"}, {"limit": 5}, {"limit": 0},
            {"limit": 100_000}, {"limit": 1.0}, {"tool_id": "x"}, {"tool_id": ""}, {"tool_id": null}, {"name": "x"}, [],
        ]);
        for tool in &functions().tools {
            for given in given.as_array().unwrap() {
                let fits = tool.parameters.accepts(given);
                assert!(fits || !is_unambiguous(tool.parameters.schema(), given), "{}: {given}", tool.name);
            }
        }
        let plain = |name: &str, given: Value| {
            is_unambiguous(functions().named(name).unwrap().parameters.schema(), &given)
        };
        assert!(plain("tool_help", json!({"path": "x", "format": "full", "include_schemas": true})));
        assert!(
            plain("expand_tool", json!({"tool_id": "x"})) && plain("read_tool_doc", json!({"name": "x"}))
        );
    }

    #[test]
    fn what_cannot_be_read_is_named_and_not_told_in_the_words_of_a_parser() {
        #[derive(Debug, serde::Deserialize)]
        struct Two {
            #[expect(dead_code, reason = "only read")]
            one: String,
            #[expect(dead_code, reason = "only read")]
            two: u8,
        }
        let refusal = read::<Two>("list", json!({"one": "x", "two": "many"})).unwrap_err();
        assert_eq!(refusal.field_errors[0].pointer, "/two");
        assert!(!refusal.message.contains("invalid type"), "{}", refusal.message);
    }
}

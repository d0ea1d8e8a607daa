//! Arguments whose values the operator sets. Hidden ones are removed from the schema and the examples of their tool;
//! the others become optional.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::SetArgument;
use toolcrib_definition::schema::walk::{below_mut, in_place, is_in_place};
use toolcrib_definition::{Definition, Schema};

/// Most levels of a schema that are searched, because untrusted schemas may nest without end.
const MAX_DEPTH: usize = 16;

/// An argument of a tool whose value the operator sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolArgument {
    pub name: String,
    /// The value, or its variable.
    pub set: SetArgument,
    /// Whether the variable's text is the value itself; otherwise the text is JSON, such as a number.
    pub is_text: bool,
}

/// Applies the operator's arguments that the schema of a definition has, and returns them.
pub(crate) fn set_arguments(
    definition: &mut Definition,
    set: IndexMap<String, SetArgument>,
) -> Vec<ToolArgument> {
    if set.is_empty() {
        return Vec::new();
    }
    let Some(parameters) = &definition.parameters else { return Vec::new() };
    let mut schema = parameters.value().clone();
    let mut provided = definition.provider_schema.as_ref().map(|schema| schema.value().clone());
    let mut arguments = Vec::with_capacity(set.len());
    for (name, set) in set {
        let Some(property) = argument_schema(&schema, &name, 0) else { continue };
        let is_text = property.get("type").is_none_or(|of| of == "string" || of.is_array());
        for schema in [Some(&mut schema), provided.as_mut()].into_iter().flatten() {
            change(schema, &name, &set, 0);
        }
        if set.hidden {
            definition.examples.iter_mut().for_each(|example| drop(example.arguments.shift_remove(&name)));
        }
        arguments.push(ToolArgument { name, set, is_text });
    }
    if !arguments.is_empty() {
        definition.parameters = Some(Schema::from_value(schema));
        definition.provider_schema = provided.map(Schema::from_value);
    }
    arguments
}

/// Whether the schema of a definition has this argument.
pub(crate) fn has_argument(definition: &Definition, name: &str) -> bool {
    definition.parameters.as_ref().is_some_and(|schema| argument_schema(schema.value(), name, 0).is_some())
}

fn argument_schema<'s>(schema: &'s Value, name: &str, depth: usize) -> Option<&'s Value> {
    let direct = schema.get("properties").and_then(|properties| properties.get(name));
    let parts = || schema.as_object().into_iter().flat_map(in_place);
    let deeper = || parts().find_map(|part| argument_schema(part, name, depth + 1));
    direct.or_else(|| if depth < MAX_DEPTH { deeper() } else { None })
}

/// Removes a hidden argument from a schema. Any other becomes optional, with its value as the default.
fn change(schema: &mut Value, name: &str, set: &SetArgument, depth: usize) {
    let Some(fields) = schema.as_object_mut() else { return };
    let was_required = optional(fields, name);
    if let Some(properties) = fields.get_mut("properties").and_then(Value::as_object_mut) {
        match (&set.value, properties.get_mut(name).and_then(Value::as_object_mut)) {
            _ if set.hidden => drop(properties.shift_remove(name)),
            (Some(value), Some(property)) => drop(property.insert("default".into(), value.clone())),
            _ => {}
        }
    }
    if set.hidden {
        forget(fields, name);
        if was_required && let Some(least) = fields.get("minProperties").and_then(Value::as_u64) {
            fields.insert("minProperties".into(), least.saturating_sub(1).into());
        }
    }
    if depth < MAX_DEPTH {
        for (keyword, value) in fields.iter_mut().filter(|(keyword, _)| is_in_place(keyword)) {
            below_mut(keyword, value, &mut |part| change(part, name, set, depth + 1));
        }
    }
}

/// Makes an argument optional; returns true if it was required.
fn optional(fields: &mut Map<String, Value>, name: &str) -> bool {
    let Some(required) = fields.get_mut("required").and_then(Value::as_array_mut) else { return false };
    let before = required.len();
    required.retain(|required| required != name);
    let was_required = required.len() < before;
    if was_required && required.is_empty() {
        fields.shift_remove("required");
    }
    was_required
}

/// Removes a name from the examples, defaults and dependencies of a schema.
fn forget(fields: &mut Map<String, Value>, name: &str) {
    for keyword in ["examples", "example", "default", "const", "enum"] {
        let values = match fields.get_mut(keyword) {
            Some(Value::Array(values)) => values.iter_mut().collect(),
            Some(value) => vec![value],
            None => Vec::new(),
        };
        values.into_iter().filter_map(Value::as_object_mut).for_each(|value| drop(value.shift_remove(name)));
    }
    for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
        let Some(dependent) = fields.get_mut(keyword).and_then(Value::as_object_mut) else { continue };
        dependent.shift_remove(name);
        for needed in dependent.values_mut().filter_map(Value::as_array_mut) {
            needed.retain(|needed| needed != name);
        }
    }
}

#[cfg(test)]
mod argument_tests {
    use serde_json::json;

    use super::*;

    fn changed(schema: Value, hidden: bool) -> Value {
        let mut schema = schema;
        change(
            &mut schema,
            "token",
            &SetArgument { value: Some("v".into()), hidden, ..SetArgument::default() },
            0,
        );
        schema
    }

    #[test]
    fn a_hidden_argument_leaves_no_trace_in_a_schema() {
        let schema = json!({
            "type": "object", "properties": {"token": {"type": "string"}, "a": {"type": "string"}}, "required": ["token", "a"],
            "examples": [{"token": "x", "a": "y"}], "default": {"token": "x"}, "dependentRequired": {"a": ["token"], "token": ["a"]},
            "anyOf": [{"required": ["token"]}, {"properties": {"token": {"minLength": 1}}}], "minProperties": 2,
        });
        let schema = changed(schema, true);
        assert!(!schema.to_string().contains("token"), "{schema}");
        assert_eq!(schema["required"], json!(["a"]));
        assert_eq!(schema["minProperties"], 1);
    }

    #[test]
    fn an_argument_that_is_set_and_shown_is_a_default() {
        let schema =
            json!({"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]});
        assert_eq!(
            changed(schema, false),
            json!({"type": "object", "properties": {"token": {"type": "string", "default": "v"}}})
        );
    }
}

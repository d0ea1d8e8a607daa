//! The properties of a tool's schema, and keys that models put around them by mistake.

use serde_json::{Map, Value};

use crate::tool::Tool;

/// Keys below which models put the arguments by mistake, most frequent first.
pub const WRAPPERS: [&str; 6] = ["args", "arguments", "input", "parameters", "params", "kwargs"];

/// The properties that a schema lists.
pub(super) fn properties(tool: &Tool) -> Option<&Map<String, Value>> {
    tool.parameters.schema().get("properties")?.as_object()
}

/// The schema of one property.
pub(super) fn property<'t>(tool: &'t Tool, name: &str) -> Option<&'t Value> {
    properties(tool)?.get(name)
}

/// Whether a schema lists a property.
pub fn has_property(tool: &Tool, name: &str) -> bool {
    property(tool, name).is_some()
}

/// Whether a schema lists every given property.
pub(super) fn has_all(tool: &Tool, fields: &Map<String, Value>) -> bool {
    let known = properties(tool);
    fields.keys().all(|name| known.is_some_and(|known| known.contains_key(name)))
}

/// The properties that a schema lists, unless it allows others.
pub(super) fn closed_properties(tool: &Tool) -> Option<&Map<String, Value>> {
    let schema = tool.parameters.schema();
    let takes_any = schema.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false))
        || schema.get("patternProperties").is_some();
    if takes_any { None } else { properties(tool) }
}

/// The single key that wraps the arguments, and the value below it: a usual wrapper or a name of the tool, but no property.
pub(super) fn wrapped<'v>(tool: &Tool, arguments: &'v Value) -> Option<(&'v str, &'v Value)> {
    let fields = arguments.as_object().filter(|fields| fields.len() == 1)?;
    let (key, inside) = fields.iter().next()?;
    let is_wrapper =
        WRAPPERS.contains(&key.as_str()) || [&tool.name, &tool.safe_name, &tool.op].contains(&key);
    (is_wrapper && !has_property(tool, key)).then_some((key, inside))
}

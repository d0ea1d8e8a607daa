//! The properties of a tool's schema, and keys that models put around them by mistake.

use serde_json::{Map, Value};

use crate::tool::Tool;

/// Keys below which models put the arguments by mistake, most frequent first.
pub const WRAPPERS: [&str; 6] = ["args", "arguments", "input", "parameters", "params", "kwargs"];

/// Whether a schema lists a property.
pub fn has_property(tool: &Tool, name: &str) -> bool {
    tool.input.parameters.root().has_property(name)
}

/// Whether a schema lists every given property.
pub(super) fn has_all(tool: &Tool, fields: &Map<String, Value>) -> bool {
    let root = tool.input.parameters.root();
    fields.keys().all(|name| root.has_property(name))
}

/// The single key that wraps the arguments, and the value below it: a usual wrapper or a name of the tool, but no property.
pub(super) fn wrapped<'v>(tool: &Tool, arguments: &'v Value) -> Option<(&'v str, &'v Value)> {
    let fields = arguments.as_object().filter(|fields| fields.len() == 1)?;
    let (key, inside) = fields.iter().next()?;
    let is_wrapper = WRAPPERS.contains(&key.as_str())
        || [&tool.names.canonical, &tool.names.safe, &tool.names.op].contains(&key);
    (is_wrapper && !has_property(tool, key)).then_some((key, inside))
}

//! The properties of a tool's schema, and keys that models put around them by mistake.

use serde_json::{Map, Value};

use crate::tool::Tool;

/// Keys below which models put the arguments by mistake, most frequent first.
pub const WRAPPERS: [&str; 6] = ["args", "arguments", "input", "parameters", "params", "kwargs"];

/// Keys beside a wrapper with the name of the tool, where a model writes the whole call as its arguments.
const NAMING: [&str; 5] = ["name", "tool", "op", "function", "tool_name"];

/// Whether a schema lists a property.
pub fn has_property(tool: &Tool, name: &str) -> bool {
    tool.input.parameters.root().has_property(name)
}

/// Whether a schema lists every given property.
pub(super) fn has_all(tool: &Tool, fields: &Map<String, Value>) -> bool {
    let root = tool.input.parameters.root();
    fields.keys().all(|name| root.has_property(name))
}

/// The key that wraps the arguments, and the value below it: a usual wrapper, alone or beside the tool's name, or a name of the tool,
/// but no property; the place in a list of one.
pub(super) fn wrapped<'v>(tool: &Tool, arguments: &'v Value) -> Option<(&'v str, &'v Value)> {
    let names = [&tool.names.canonical, &tool.names.safe, &tool.names.op];
    let is_name = |text: &str| names.iter().any(|name| *name == text);
    match arguments {
        Value::Array(items) if items.len() == 1 => items[0].is_object().then_some(("0", &items[0])),
        Value::Object(fields) => {
            let says_name = |(key, value): &(&String, &Value)| {
                NAMING.contains(&key.as_str())
                    && !has_property(tool, key)
                    && value.as_str().is_some_and(is_name)
            };
            let mut others = fields.iter().filter(|field| !says_name(field));
            let (key, inside) = others.next()?;
            let is_alone = others.next().is_none();
            let is_wrapper = WRAPPERS.contains(&key.as_str()) || (fields.len() == 1 && is_name(key));
            (is_alone && is_wrapper && !has_property(tool, key)).then_some((key, inside))
        }
        _ => None,
    }
}

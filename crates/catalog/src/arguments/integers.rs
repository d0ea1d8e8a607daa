//! Integers in arguments. `5.0` is the same number as `5` in JSON, but not in a path or on a command line, and some providers send
//! every number with a fraction.

use serde_json::Value;

use super::read::ArgumentReader;
use crate::tool::Tool;
use toolcrib_definition::schema::Node;

/// Deepest arguments in which integers are found, and the numbers from which not every integer has a float of its own.
const MAX_DEPTH: usize = 32;
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Writes `5.0` as `5` where the schema of a tool has integers.
pub(super) fn write_integers(tool: &Tool, reader: &ArgumentReader, arguments: &mut Value) {
    write(&tool.input.parameters.root(), reader, arguments, 0);
}

fn write(node: &Node<'_>, reader: &ArgumentReader, value: &mut Value, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    let is_integer = node.has_type("integer");
    match value {
        Value::Number(number)
            if is_integer && !node.has_type("number") && !number.is_i64() && !number.is_u64() =>
        {
            let whole = number.as_f64().filter(|whole| whole.fract() == 0.0 && whole.abs() < MAX_WHOLE);
            if let Some(whole) = whole {
                *value = (whole as i64).into();
            }
        }
        Value::String(marker) if is_integer => {
            // A number with all its digits.
            if let Some(whole) = reader.whole(marker) {
                *value = whole.into();
            }
        }
        Value::Array(items) => {
            if let Some(of_items) = node.items() {
                items.iter_mut().for_each(|item| write(&of_items, reader, item, depth + 1));
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                if let Some(of_field) = node.property(name).or_else(|| node.other_values()) {
                    write(&of_field, reader, field, depth + 1);
                }
            }
        }
        _ => {}
    }
    node.variants().for_each(|variant| write(&variant, reader, value, depth + 1));
}

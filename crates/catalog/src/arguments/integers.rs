//! Integers in arguments. `5.0` is the same number as `5` in JSON, but not in a path or on a command line, and some providers send
//! every number with a fraction.

use serde_json::Value;

use super::read::ArgumentReader;
use crate::tool::Tool;
use toolcrib_definition::finding::resolve_local;

/// Deepest arguments in which integers are found, and the numbers from which not every integer has a float of its own.
const MAX_DEPTH: usize = 32;
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Writes `5.0` as `5` where a schema has integers: both are the same number in JSON, but not in a path or on a command line,
/// and some providers send every number with a fraction.
pub(super) fn write_integers(tool: &Tool, reader: &ArgumentReader, arguments: &mut Value) {
    let schema = tool.parameters.schema();
    write_integers_below((schema, schema), reader, arguments, 0);
}

fn write_integers_below(
    (schema, root): (&Value, &Value),
    reader: &ArgumentReader,
    value: &mut Value,
    depth: usize,
) {
    if depth > MAX_DEPTH {
        return;
    }
    let schema = match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => resolve_local(reference, root).unwrap_or(schema),
        None => schema,
    };
    let kinds =
        schema.get("type").map(|kind| kind.as_array().map_or(std::slice::from_ref(kind), Vec::as_slice));
    let has = |wanted: &str| kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == wanted));
    match value {
        Value::Number(number) if has("integer") && !has("number") && !number.is_i64() && !number.is_u64() => {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < MAX_WHOLE);
            if let Some(whole) = whole {
                *value = (whole as i64).into();
            }
        }
        Value::String(marker) if has("integer") => {
            // A number with all its digits.
            if let Some(whole) = reader.whole(marker) {
                *value = whole.into();
            }
        }
        Value::Array(items) => {
            let Some(of_items) = schema.get("items") else { return };
            items.iter_mut().for_each(|item| write_integers_below((of_items, root), reader, item, depth + 1));
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let of_field = schema.get("properties").and_then(|all| all.get(name));
                let of_field = of_field.or_else(|| schema.get("additionalProperties"));
                of_field
                    .into_iter()
                    .for_each(|schema| write_integers_below((schema, root), reader, field, depth + 1));
            }
        }
        _ => {}
    }
    for branches in ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| schema.get(key)?.as_array()) {
        branches.iter().for_each(|branch| write_integers_below((branch, root), reader, value, depth + 1));
    }
}

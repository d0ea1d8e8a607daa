//! Integers in arguments. `5.0` is the same number as `5` in JSON, but not in a path or on a command line, and some providers send
//! every number with a fraction.

use serde_json::Value;

use super::read::ArgumentReader;
use crate::tool::Tool;
use toolcrib_definition::document::resolve_local;

/// Deepest arguments in which integers are found, and the numbers from which not every integer has a float of its own.
const MAX_DEPTH: usize = 32;
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Writes `5.0` as `5` where the schema of a tool has integers.
pub(super) fn write_integers(tool: &Tool, reader: &ArgumentReader, arguments: &mut Value) {
    let root = tool.parameters.schema();
    Integers { root, reader }.write(root, arguments, 0);
}

/// The schema whose integers are written, and how numbers were read.
struct Integers<'a> {
    root: &'a Value,
    reader: &'a ArgumentReader,
}

impl Integers<'_> {
    fn write(&self, schema: &Value, value: &mut Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let target = schema.get("$ref").and_then(|reference| resolve_local(reference.as_str()?, self.root));
        let schema = target.unwrap_or(schema);
        let kinds =
            schema.get("type").map(|kind| kind.as_array().map_or(std::slice::from_ref(kind), Vec::as_slice));
        let has = |wanted: &str| kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == wanted));
        match value {
            Value::Number(number)
                if has("integer") && !has("number") && !number.is_i64() && !number.is_u64() =>
            {
                if let Some(whole) =
                    number.as_f64().filter(|whole| whole.fract() == 0.0 && whole.abs() < MAX_WHOLE)
                {
                    *value = (whole as i64).into();
                }
            }
            Value::String(marker) if has("integer") => {
                // A number with all its digits.
                if let Some(whole) = self.reader.whole(marker) {
                    *value = whole.into();
                }
            }
            Value::Array(items) => {
                let Some(of_items) = schema.get("items") else { return };
                items.iter_mut().for_each(|item| self.write(of_items, item, depth + 1));
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    let of_field = schema.get("properties").and_then(|all| all.get(name));
                    if let Some(schema) = of_field.or_else(|| schema.get("additionalProperties")) {
                        self.write(schema, field, depth + 1);
                    }
                }
            }
            _ => {}
        }
        for branches in ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| schema.get(key)?.as_array()) {
            branches.iter().for_each(|branch| self.write(branch, value, depth + 1));
        }
    }
}

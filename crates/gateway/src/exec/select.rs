//! `select`: fields of a result, by JSON Pointers. `*` in a pointer stands for every item of a list.

use serde_json::{Map, Value};

use super::shape::MAX_NAMES;
use crate::tool_error::{Result, ToolError};
use toolcrib_catalog::arguments::FieldError;
use toolcrib_definition::finding::{nearest, pointer_unescape};
use toolcrib_definition::quoted;

/// Most pointers of a call, and the longest one in bytes.
const MAX_POINTERS: usize = 50;

const MAX_POINTER: usize = 1000;

/// The step for every item of a list.
const EVERY: &str = "*";

/// Reads the field `select`: a list of pointers, or one alone.
pub(super) fn read_select(given: Option<Value>) -> Result<Vec<String>> {
    let pointers = match given {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::String(only)) => vec![Value::String(only)],
        Some(Value::Array(pointers)) => pointers,
        Some(_) => return Err(misshapen_select("/select")),
    };
    if pointers.len() > MAX_POINTERS {
        let message =
            format!("`select` has {} pointers, and at most {MAX_POINTERS} are read", pointers.len());
        return Err(ToolError::invalid(message, "select the fields above them").field("/select", "too many"));
    }
    let pointer = |(index, pointer): (usize, Value)| match pointer {
        Value::String(pointer) if pointer.len() > MAX_POINTER => {
            let message = format!("`select` has a pointer of {} bytes", pointer.len());
            let problem = format!("longer than {MAX_POINTER} bytes");
            Err(ToolError::invalid(message, "select a field above it")
                .field(&format!("/select/{index}"), &problem))
        }
        Value::String(pointer) if pointer.starts_with('/') => Ok(pointer),
        _ => Err(misshapen_select(&format!("/select/{index}"))),
    };
    pointers.into_iter().enumerate().map(pointer).collect()
}

fn misshapen_select(at: &str) -> ToolError {
    let expected = "JSON Pointers such as \"/total\" and \"/items/*/id\"";
    ToolError::invalid(format!("`select` is a list of {expected}"), format!("send {expected}"))
        .with_field(FieldError::new(at, "this is no JSON Pointer").expecting("a text that begins with /"))
}

/// Refuses pointers to fields that the schema of a result does not know.
pub(super) fn check_select(pointers: &[String], schema: &Value) -> Result<()> {
    let unknown = pointers.iter().enumerate().find_map(|(index, pointer)| {
        let problem = unknown_field(pointer, schema)?;
        Some((index, pointer, problem))
    });
    unknown.map_or(Ok(()), |(index, pointer, problem)| Err(refused_pointer(index, pointer, &problem)))
}

/// Refuses pointers to nothing in a result.
pub(super) fn check_all_selected(missing: &[Missing]) -> Result<()> {
    missing
        .first()
        .map_or(Ok(()), |missing| Err(refused_pointer(missing.index, &missing.pointer, &missing.nearest)))
}

fn refused_pointer(index: usize, pointer: &str, problem: &str) -> ToolError {
    let message = format!("the result has nothing at `{}`; {problem}", quoted(pointer));
    let next = "correct `select`, or leave it out for the whole result";
    ToolError::invalid(message, next).field(&format!("/select/{index}"), problem)
}

fn pointer_steps(pointer: &str) -> impl Iterator<Item = String> + '_ {
    pointer.split('/').skip(1).map(|step| pointer_unescape(step).into_owned())
}

/// The names near a step that a schema does not know; `None` where it knows them all, or leaves them open.
fn unknown_field(pointer: &str, schema: &Value) -> Option<String> {
    let root = schema;
    let mut at = schema;
    let mut path = String::new();
    for step in pointer_steps(pointer) {
        if let Some(target) = at.get("$ref").and_then(Value::as_str) {
            at = root.pointer(target.strip_prefix('#')?)?;
        }
        if at.get("type").is_some_and(|kind| kind == "array") {
            if step != EVERY && step.parse::<usize>().is_err() {
                return None;
            }
            at = at.get("items")?;
        } else {
            let is_open = ["additionalProperties", "patternProperties", "anyOf", "oneOf", "allOf", "if"]
                .iter()
                .any(|word| at.get(*word).is_some_and(|rule| *rule != Value::Bool(false)));
            let (Some(known), false) = (at.get("properties").and_then(Value::as_object), is_open) else {
                return None;
            };
            let Some(property) = known.get(&step) else { return Some(nearest_names(&path, &step, known)) };
            at = property;
        }
        path = format!("{path}/{step}");
    }
    None
}

/// The names that an object has at a pointer, nearest first.
fn nearest_names(path: &str, step: &str, known: &Map<String, Value>) -> String {
    let near = nearest(step, known.keys().map(String::as_str));
    let rest = known.keys().map(String::as_str).filter(|name| !near.contains(name));
    let names: Vec<String> = near.iter().copied().chain(rest).take(MAX_NAMES).map(quoted).collect();
    let place = if path.is_empty() { "it has".to_string() } else { format!("`{}` has", quoted(path)) };
    if names.is_empty() { format!("{place} no fields") } else { format!("{place} {}", names.join(", ")) }
}

/// A pointer to nothing in a result.
pub struct Missing {
    index: usize,
    pointer: String,
    nearest: String,
}

impl Missing {
    /// The warning about it.
    pub(super) fn warning(&self) -> String {
        format!("the result has nothing at `{}`; {}", quoted(&self.pointer), self.nearest)
    }
}

/// The selected fields of a result by their pointers, and the pointers to nothing.
pub(super) fn select_fields(result: &Value, pointers: &[String]) -> (Value, Vec<Missing>) {
    let mut fields = Map::new();
    let mut missing = Vec::new();
    for (index, pointer) in pointers.iter().enumerate() {
        let steps: Vec<String> = pointer_steps(pointer).collect();
        match selected_value(result, &steps, String::new()) {
            Ok(value) => {
                fields.insert(pointer.clone(), value);
            }
            Err(nearest) => missing.push(Missing { index, pointer: pointer.clone(), nearest }),
        }
    }
    (Value::Object(fields), missing)
}

fn selected_value(value: &Value, steps: &[String], path: String) -> Result<Value, String> {
    let Some((step, rest)) = steps.split_first() else { return Ok(value.clone()) };
    let below = format!("{path}/{step}");
    match value {
        // Items may lack what others have.
        Value::Array(items) if step == EVERY => {
            let found = items
                .iter()
                .filter_map(|item| selected_value(item, rest, below.clone()).ok())
                .collect::<Vec<_>>();
            if found.is_empty() && !items.is_empty() {
                let problem = items.first().map(|item| selected_value(item, rest, below));
                return Err(problem.and_then(Result::err).unwrap_or_default());
            }
            Ok(found.into())
        }
        Value::Array(items) => {
            let item = step.parse::<usize>().ok().and_then(|index| items.get(index));
            let count = items.len();
            let none =
                || format!("`{}` is a list of {count} items: `*` stands for every item", quoted(&path));
            selected_value(item.ok_or_else(none)?, rest, below)
        }
        Value::Object(fields) => match fields.get(step) {
            Some(field) => selected_value(field, rest, below),
            None => Err(nearest_names(&path, step, fields)),
        },
        _ => Err(format!("`{}` has no fields", quoted(&path))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{MAX_POINTER, read_select};

    #[test]
    fn a_pointer_that_is_too_long_is_refused() {
        let long = format!("/{}", "x".repeat(MAX_POINTER));
        assert!(read_select(Some(json!([long]))).is_err());
        assert!(read_select(Some(json!(["/result"]))).is_ok());
    }
}

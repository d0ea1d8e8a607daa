//! `select`: fields of a result, by JSON Pointers. `*` in a pointer stands for every item of a list.

use serde_json::{Map, Value};

use crate::arguments::FieldError;
use crate::finding::{nearest, pointer_unescape};
use crate::refusal::Refusal;
use crate::tool::quoted;

/// Most pointers of a call.
const MAX_POINTERS: usize = 50;
/// Names that an error shows.
const MAX_NAMES: usize = 12;
/// The step for every item of a list.
const EVERY: &str = "*";

/// Reads the field `select`: a list of pointers, or one alone.
pub(crate) fn read(given: Option<Value>) -> Result<Vec<String>, Refusal> {
    let pointers = match given {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::String(only)) => vec![Value::String(only)],
        Some(Value::Array(pointers)) => pointers,
        Some(_) => return Err(misshapen("/select")),
    };
    if pointers.len() > MAX_POINTERS {
        let message =
            format!("`select` has {} pointers, and at most {MAX_POINTERS} are read", pointers.len());
        return Err(Refusal::invalid(message, "select the fields above them").field("/select", "too many"));
    }
    let pointer = |(index, pointer): (usize, Value)| match pointer {
        Value::String(pointer) if pointer.starts_with('/') => Ok(pointer),
        _ => Err(misshapen(&format!("/select/{index}"))),
    };
    pointers.into_iter().enumerate().map(pointer).collect()
}

fn misshapen(at: &str) -> Refusal {
    let expected = "JSON Pointers such as \"/total\" and \"/items/*/id\"";
    Refusal::invalid(format!("`select` is a list of {expected}"), format!("send {expected}"))
        .with_field(FieldError::new(at, "this is no JSON Pointer").expecting("a text that begins with /"))
}

/// Refuses pointers to fields that the schema of a result does not know.
pub(crate) fn check(pointers: &[String], schema: &Value) -> Result<(), Refusal> {
    let unknown = pointers.iter().enumerate().find_map(|(index, pointer)| {
        let problem = unknown_step(pointer, schema)?;
        Some((index, pointer, problem))
    });
    unknown.map_or(Ok(()), |(index, pointer, problem)| Err(refused(index, pointer, &problem)))
}

/// Refuses pointers to nothing in a result.
pub(crate) fn check_all_found(missing: &[Missing]) -> Result<(), Refusal> {
    missing.first().map_or(Ok(()), |missing| Err(refused(missing.index, &missing.pointer, &missing.nearest)))
}

fn refused(index: usize, pointer: &str, problem: &str) -> Refusal {
    let message = format!("the result has nothing at `{}`; {problem}", quoted(pointer));
    let next = "correct `select`, or leave it out for the whole result";
    Refusal::invalid(message, next).field(&format!("/select/{index}"), problem)
}

fn steps(pointer: &str) -> impl Iterator<Item = String> + '_ {
    pointer.split('/').skip(1).map(|step| pointer_unescape(step).into_owned())
}

/// The names near a step that a schema does not know; `None` where it knows them all, or leaves them open.
fn unknown_step(pointer: &str, schema: &Value) -> Option<String> {
    let (root, mut at, mut path) = (schema, schema, String::new());
    for step in steps(pointer) {
        if let Some(target) = at.get("$ref").and_then(Value::as_str) {
            at = root.pointer(target.strip_prefix('#')?)?;
        }
        if at.get("type").is_some_and(|kind| kind == "array") {
            at = at.get("items").filter(|_| step == EVERY || step.parse::<usize>().is_ok())?;
        } else {
            let is_open = ["additionalProperties", "patternProperties", "anyOf", "oneOf", "allOf", "if"]
                .iter()
                .any(|word| at.get(*word).is_some_and(|rule| *rule != Value::Bool(false)));
            let known = at.get("properties").and_then(Value::as_object).filter(|_| !is_open)?;
            let Some(property) = known.get(&step) else { return Some(names(&path, &step, known)) };
            at = property;
        }
        path = format!("{path}/{step}");
    }
    None
}

/// The names that an object has at a pointer, nearest first.
fn names(path: &str, step: &str, known: &Map<String, Value>) -> String {
    let near = nearest(step, known.keys().map(String::as_str));
    let rest = known.keys().map(String::as_str).filter(|name| !near.contains(name));
    let names: Vec<String> = near.iter().copied().chain(rest).take(MAX_NAMES).map(quoted).collect();
    let place = if path.is_empty() { "it has".to_string() } else { format!("`{}` has", quoted(path)) };
    if names.is_empty() { format!("{place} no fields") } else { format!("{place} {}", names.join(", ")) }
}

/// A pointer to nothing in a result.
pub(crate) struct Missing {
    index: usize,
    pointer: String,
    nearest: String,
}

impl Missing {
    /// The warning about it.
    pub(crate) fn warning(&self) -> String {
        format!("the result has nothing at `{}`; {}", quoted(&self.pointer), self.nearest)
    }
}

/// The selected fields of a result by their pointers, and the pointers to nothing.
pub(crate) fn take(result: &Value, pointers: &[String]) -> (Value, Vec<Missing>) {
    let (mut fields, mut missing) = (Map::new(), Vec::new());
    for (index, pointer) in pointers.iter().enumerate() {
        let steps: Vec<String> = steps(pointer).collect();
        match taken(result, &steps, String::new()) {
            Ok(value) => {
                fields.insert(pointer.clone(), value);
            }
            Err(nearest) => missing.push(Missing { index, pointer: pointer.clone(), nearest }),
        }
    }
    (Value::Object(fields), missing)
}

fn taken(value: &Value, steps: &[String], path: String) -> Result<Value, String> {
    let Some((step, rest)) = steps.split_first() else { return Ok(value.clone()) };
    let below = format!("{path}/{step}");
    match value {
        // Items may lack what others have.
        Value::Array(items) if step == EVERY => {
            let found =
                items.iter().filter_map(|item| taken(item, rest, below.clone()).ok()).collect::<Vec<_>>();
            if found.is_empty() && !items.is_empty() {
                let problem = items.first().map(|item| taken(item, rest, below));
                return Err(problem.and_then(Result::err).unwrap_or_default());
            }
            Ok(found.into())
        }
        Value::Array(items) => {
            let item = step.parse::<usize>().ok().and_then(|index| items.get(index));
            let count = items.len();
            let none =
                || format!("`{}` is a list of {count} items: `*` stands for every item", quoted(&path));
            taken(item.ok_or_else(none)?, rest, below)
        }
        Value::Object(fields) => match fields.get(step) {
            Some(field) => taken(field, rest, below),
            None => Err(names(&path, step, fields)),
        },
        _ => Err(format!("`{}` has no fields", quoted(&path))),
    }
}

//! A part of an answer, found by pointer: calls of a batch and steps of a tool use earlier results.

use serde_json::{Map, Value};

use crate::finding::pointer_unescape;

/// The value at a pointer into an answer.
pub fn part_of(answer: &Map<String, Value>, pointer: &str) -> Option<Value> {
    let rest = pointer.strip_prefix('/')?;
    let (name, rest) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    answer.get(&*pointer_unescape(name))?.pointer(rest).cloned()
}

/// The part of a pointer that exists, with the keys there.
pub fn reached(answer: &Map<String, Value>, pointer: &str) -> String {
    let mut so_far = pointer;
    while let Some((shorter, _)) = so_far.rsplit_once('/') {
        let there =
            if shorter.is_empty() { Some(Value::Object(answer.clone())) } else { part_of(answer, shorter) };
        match there {
            Some(Value::Object(fields)) => {
                let names: Vec<&str> = fields.keys().take(12).map(String::as_str).collect();
                return format!("; at `{shorter}` there is {}", names.join(", "));
            }
            Some(Value::Array(items)) => return format!("; at `{shorter}` there are {} items", items.len()),
            _ => so_far = shorter,
        }
    }
    String::new()
}

//! Pointers into whole answers, for the references of steps and batches.

use serde_json::{Map, Value};

use toolcrib_definition::document::pointer_unescape;

/// The value at a pointer into an answer.
pub fn part_of(answer: &Map<String, Value>, pointer: &str) -> Option<Value> {
    let rest = pointer.strip_prefix('/')?;
    let (name, rest) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    answer.get(&*pointer_unescape(name))?.pointer(rest).cloned()
}

/// The part of a pointer that exists, with the keys there. The walk ends where the answer ends, however long the pointer is.
pub fn reached(answer: &Map<String, Value>, pointer: &str) -> String {
    let names = |fields: &Map<String, Value>| fields.keys().take(12).cloned().collect::<Vec<_>>().join(", ");
    let mut found = format!("; at `` there is {}", names(answer));
    let (mut at, mut path): (Option<&Value>, String) = (None, String::new());
    for step in pointer.split('/').skip(1) {
        let name = pointer_unescape(step);
        let next = match at {
            None => answer.get(&*name),
            Some(Value::Object(fields)) => fields.get(&*name),
            Some(Value::Array(items)) => name.parse::<usize>().ok().and_then(|index| items.get(index)),
            Some(_) => None,
        };
        let Some(next) = next else { break };
        (at, path) = (Some(next), format!("{path}/{step}"));
        match next {
            Value::Object(fields) => found = format!("; at `{path}` there is {}", names(fields)),
            Value::Array(items) => found = format!("; at `{path}` there are {} items", items.len()),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pointer_of_any_length_is_explained() {
        let answer = json!({"result": {"a/b": [{"id": 1}], "n": 2}, "ok": true});
        let answer = answer.as_object().unwrap();
        for (pointer, expected) in [
            ("/results/x", "; at `` there is result, ok"),
            ("/result/n/deep", "; at `/result` there is a/b, n"),
            ("/result/a~1b/7", "; at `/result/a~1b` there are 1 items"),
            (&"/x".repeat(500_000), "; at `` there is result, ok"),
        ] {
            assert_eq!(reached(answer, pointer), expected);
        }
    }
}

//! Repair of patterns: what only JavaScript reads is rewritten, and what cannot be checked here is left out.

use serde_json::{Value, json};

use super::compiled::Compiled;
use super::descriptions::VALUES;
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::quoted;

/// Rewrites patterns that only JavaScript reads, and takes out those that cannot be checked here.
pub(super) fn repair_patterns(schema: &mut Value, pointer: &mut String, changed: &mut Vec<(String, String)>) {
    let is_read = |pattern: &str| Compiled::of(&json!({ "pattern": pattern })).is_ok();
    if let Value::Object(keywords) = schema
        && let Some(Value::String(pattern)) = keywords.get_mut("pattern")
        && !is_read(pattern)
    {
        let at = format!("{pointer}/pattern");
        let portable = portable(pattern);
        if is_read(&portable) {
            *pattern = portable
        } else {
            let shown = quoted(pattern);
            changed.push((at, format!("the pattern `{shown}` cannot be checked here, and is left out")));
            keywords.shift_remove("pattern");
        }
    }
    let end = pointer.len();
    let mut inside = |key: &str, value: &mut Value| {
        *pointer = pointer_join(&pointer[..end], key);
        repair_patterns(value, pointer, changed);
        pointer.truncate(end);
    };
    match schema {
        Value::Object(keywords) => {
            let schemas = keywords.iter_mut().filter(|(key, _)| !VALUES.contains(&key.as_str()));
            schemas.for_each(|(key, value)| inside(key, value));
        }
        Value::Array(items) => {
            items.iter_mut().enumerate().for_each(|(index, value)| inside(&index.to_string(), value))
        }
        _ => {}
    }
}

/// A pattern with escapes for what JavaScript reads as it stands: `[` and the `-` after `\w` in a class, and `{` outside.
fn portable(pattern: &str) -> String {
    let mut written = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    let mut is_class = false;
    let mut is_after_set = false;
    let is_set = |letter: char| "wWdDsS".contains(letter);
    while let Some(letter) = letters.next() {
        let was_set = std::mem::take(&mut is_after_set);
        let rest = letters.as_str();
        let is_escaped = match letter {
            '[' => is_class,
            '-' => {
                let is_before_set = rest.strip_prefix('\\').is_some_and(|rest| rest.starts_with(is_set));
                is_class && (was_set || is_before_set)
            }
            '{' if !is_class => {
                let bounds = rest.split_once('}').map(|(bounds, _)| bounds);
                !bounds.is_some_and(|bounds| {
                    bounds.starts_with(|c: char| c.is_ascii_digit())
                        && bounds.chars().all(|c| c.is_ascii_digit() || c == ',')
                })
            }
            _ => false,
        };
        match letter {
            '[' => is_class = true,
            ']' => is_class = false,
            _ => {}
        }
        if is_escaped {
            written.push('\\');
        }
        written.push(letter);
        if letter == '\\'
            && let Some(next) = letters.next()
        {
            is_after_set = is_class && is_set(next);
            written.push(next);
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patterns_of_javascript_are_read_and_others_are_left_out() {
        assert_eq!(portable(r"^[\w-\.]+@[\w-]{2,4}$"), r"^[\w\-\.]+@[\w\-]{2,4}$");
        assert_eq!(portable(r"[[a-z] {x} \{[^\d-x]"), r"[\[a-z] \{x} \{[^\d\-x]");
        let mut schema = json!({"properties": {
            "email": {"type": "string", "pattern": r"^[\w-\.]+$"},
            "end": {"type": "string", "pattern": r"^a\Z"},
            "pattern": {"type": "string"},
        }});
        let mut changed = Vec::new();
        repair_patterns(&mut schema, &mut String::new(), &mut changed);
        assert_eq!(schema["properties"]["email"]["pattern"], json!(r"^[\w\-\.]+$"));
        assert_eq!(schema["properties"]["end"], json!({"type": "string"}));
        assert_eq!(changed.len(), 1);
        assert_eq!(changed[0].0, "/properties/end/pattern");
    }
}

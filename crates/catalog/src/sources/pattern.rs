//! Patterns of schemas that clients in JavaScript can compile too.

use serde_json::Value;

use super::ref_visitor::children;

pub(super) fn has_portable_patterns(schema: &Value) -> bool {
    children(schema).all(|(key, value)| match (key, value) {
        ("pattern", Value::String(pattern)) => is_portable(pattern),
        ("patternProperties", Value::Object(named)) => {
            named.iter().all(|(pattern, schema)| is_portable(pattern) && has_portable_patterns(schema))
        }
        _ => has_portable_patterns(value),
    })
}

/// Whether a pattern that compiles here surely compiles as `new RegExp(pattern, "u")` too.
fn is_portable(pattern: &str) -> bool {
    let letters: Vec<char> = pattern.chars().collect();
    let mut at = 0;
    let mut is_class = false;
    let next = |at: usize| letters.get(at).copied().unwrap_or_default();
    while at < letters.len() {
        match (letters[at], next(at + 1)) {
            ('\\', 'd' | 'D' | 'w' | 'W' | 's' | 'S') if is_class => {
                if next(at + 2) == '-' && next(at + 3) != ']' {
                    return false;
                }
                at += 1;
            }
            ('\\', '-') if is_class => at += 1,
            ('\\', escaped) if "dDwWsSbBnrtfv^$\\.*+?()[]{}|/".contains(escaped) => at += 1,
            ('\\', _) => return false,
            ('-', '\\') if is_class && next(at + 2).is_ascii_alphabetic() => return false,
            ('[', _) if is_class => return false,
            ('[', _) => is_class = true,
            (']', _) if !is_class => return false,
            (']', _) => is_class = false,
            ('(', '?') if !is_class && !matches!(next(at + 2), ':' | '=' | '!') => return false,
            ('{', count) if !is_class => {
                let end = letters[at..].iter().position(|letter| *letter == '}').map(|end| at + end);
                let Some(end) = end else { return false };
                let is_count = |letter: &char| letter.is_ascii_digit() || *letter == ',';
                let has_counts = count.is_ascii_digit() && letters[at + 1..end].iter().all(is_count);
                if !has_counts || next(end + 1) == '+' {
                    return false;
                }
                at = end;
            }
            ('}', _) if !is_class => return false,
            ('*' | '+' | '?', '+') if !is_class => return false,
            _ => {}
        }
        at += 1;
    }
    true
}

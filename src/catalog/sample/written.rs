//! Calls that the author of a tool wrote into its description: `search("a", limit=5)`, or the arguments as JSON.

use serde_json::{Map, Value};

use super::literal::{MAX_TEXT, literal, name};
use super::mention::is_placeholder;

/// Most places of a text that are looked at.
const MAX_PLACES: usize = 40;
/// Most calls that are tried.
const MAX_CALLS: usize = 6;
/// Least characters of a part of a tool's name that stands for the tool.
const LEAST_NAME: usize = 4;

/// The arguments of each call of a tool that a text shows, in order. `known` are the names of its arguments.
pub(super) fn calls(text: &str, tool: &str, known: &[&str]) -> Vec<Map<String, Value>> {
    let end = text.char_indices().nth(MAX_TEXT).map_or(text.len(), |(end, _)| end);
    let text = &text[..end];
    let starts = text.match_indices('(').filter(|(at, _)| is_called(&text[..*at], tool)).take(MAX_PLACES);
    let called = starts.filter_map(|(at, _)| arguments(&text[at + 1..], known));
    called.filter(|call| !call.values().any(has_placeholder)).take(MAX_CALLS).collect()
}

/// The arguments in an example that is JSON, alone or as the arguments of a call.
pub(super) fn json(example: &str, known: &[&str]) -> Option<Map<String, Value>> {
    const INSIDE: [&str; 4] = ["arguments", "args", "input", "parameters"];
    if example.len() > MAX_TEXT {
        return None;
    }
    let (value, _) = literal(&example[example.find('{')?..])?;
    let Value::Object(mut object) = value else { return None };
    let inside = INSIDE.into_iter().find(|name| object.get(*name).is_some_and(Value::is_object));
    if let Some(inside) = inside.filter(|name| !known.contains(name))
        && let Some(Value::Object(arguments)) = object.shift_remove(inside)
    {
        object = arguments;
    }
    let is_fit = !object.is_empty() && object.keys().all(|name| known.contains(&name.as_str()));
    (is_fit && !object.values().any(has_placeholder)).then_some(object)
}

/// Whether a text ends in the name of a tool, or in the part of it that follows its server.
fn is_called(before: &str, tool: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let called = &before[before.trim_end_matches(is_part).len()..];
    let Some(front) = tool.strip_suffix(called).filter(|_| !called.is_empty()) else { return false };
    front.is_empty() || (called.len() >= LEAST_NAME && front.ends_with(['_', '.', '-', '/', ':']))
}

/// The arguments up to the closing parenthesis; `None` where a value is no literal, or a name is unknown.
fn arguments(text: &str, known: &[&str]) -> Option<Map<String, Value>> {
    let mut found = Map::new();
    let mut rest = text;
    for at in 0..=known.len() {
        rest = after_comments(rest);
        if rest.starts_with(')') {
            return Some(found);
        }
        let named = name(rest).and_then(|(name, after)| Some((name, after.trim_start().strip_prefix('=')?)));
        let (name, value) = named.or_else(|| Some((*known.get(at)?, rest)))?;
        let (value, after) = literal(value)?;
        if !known.contains(&name) || found.insert(name.to_string(), value).is_some() {
            return None;
        }
        rest = after_comments(after);
        rest = rest.strip_prefix(',').or_else(|| rest.starts_with(')').then_some(rest))?;
    }
    None
}

/// The text without the space and the comments at its start.
fn after_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix('#') {
        rest = comment.split_once('\n').map_or("", |(_, next)| next).trim_start();
    }
    rest
}

/// Whether a value has a text that stands for another.
fn has_placeholder(value: &Value) -> bool {
    match value {
        Value::String(text) => is_placeholder(text),
        Value::Array(items) => items.iter().any(has_placeholder),
        Value::Object(members) => members.values().any(has_placeholder),
        _ => false,
    }
}

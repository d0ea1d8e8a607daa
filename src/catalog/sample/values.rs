//! Plausible values by the name of an argument, or else by the subject of its description.

use crate::tool::words;

use super::tables::{CODE, FILES, FORMATS, NUMBERS, PEOPLE, TEXT, WEB, WORLD};

/// A value for a format of JSON Schema or OpenAPI.
pub(super) fn by_format(format: &str) -> Option<&'static str> {
    FORMATS.iter().find(|(name, _)| *name == format).map(|(_, value)| *value)
}

/// A number for an argument, by its name or else by its description.
pub(super) fn number(name: &str, description: &str) -> Option<f64> {
    let find = |word: &str| NUMBERS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    lookup(&words(name), find).or_else(|| subject(description).and_then(|word| find(&word)))
}

/// A string for an argument, by its name or else by its description.
pub(super) fn string(name: &str, description: &str) -> String {
    let names = words(name);
    if let [.., last] = names.as_slice()
        && matches!(last.as_str(), "id" | "ids" | "identifier")
    {
        return identifier(&names[..names.len() - 1]);
    }
    let lower = description.to_ascii_lowercase();
    if lower.contains("iso 8601") || lower.contains("iso8601") || lower.contains("yyyy-mm-ddt") {
        return "2026-01-15T09:30:00Z".to_string();
    }
    let last = names.last().map_or("", String::as_str);
    if lower.contains("yyyy-mm-dd") {
        let is_end = names.iter().any(|word| matches!(word.as_str(), "to" | "end" | "until" | "before"));
        return if is_end { "2026-01-31" } else { "2026-01-15" }.to_string();
    }
    if last == "path" && !lower.contains("file") && (lower.contains("directory") || lower.contains("folder"))
    {
        return "docs".to_string();
    }
    let find = |word: &str| {
        [PEOPLE, WEB, FILES, TEXT, CODE, WORLD]
            .into_iter()
            .flatten()
            .find(|(name, _)| *name == word)
            .map(|(_, value)| *value)
    };
    let found = lookup(&names, find).or_else(|| subject(description).and_then(|word| find(&word)));
    match found {
        Some(found) => found.to_string(),
        None if matches!(last, "number" | "num" | "no" | "nr") => "42".to_string(),
        None => of_name(&names),
    }
}

/// The longest run of words at the end of a name that a table knows; then any word, the last first.
fn lookup<T>(words: &[String], find: impl Fn(&str) -> Option<T>) -> Option<T> {
    const VAGUE: [&str; 7] = ["name", "value", "string", "text", "number", "code", "type"];
    let words: Vec<&str> = words
        .iter()
        .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()))
        .filter(|word| !word.is_empty())
        .collect();
    let longer = (0..words.len().saturating_sub(1)).find_map(|start| find(&words[start..].join("_")));
    let vague = words.last().is_some_and(|word| VAGUE.contains(word));
    let before = || words.iter().rev().skip(1).find_map(|word| find(word));
    let last = || words.last().and_then(|word| find(word).or_else(|| find(word.strip_suffix('s')?)));
    longer.or_else(|| if vague { before().or_else(last) } else { last().or_else(before) })
}

/// The subject of a description: "The owner of the repository" is about an owner.
fn subject(description: &str) -> Option<String> {
    let first = words(description.split(['.', ',', '(', ':', '\n']).next()?);
    let end = first
        .iter()
        .position(|word| {
            matches!(
                word.as_str(),
                "of" | "to" | "for" | "in" | "from" | "that" | "which" | "where" | "as" | "on" | "used"
            )
        })
        .unwrap_or(first.len());
    first[..end].last().cloned()
}

/// `task_123` for `task_id`.
fn identifier(entity: &[String]) -> String {
    const NO_ENTITY: [&str; 6] = ["parent", "new", "source", "target", "unique", "internal"];
    match entity.last().filter(|word| !NO_ENTITY.contains(&word.as_str())) {
        Some(word) if entity.len() <= 3 => format!("{word}_123"),
        _ => "123".to_string(),
    }
}

/// Last resort: the name itself says at least which value belongs there.
fn of_name(words: &[String]) -> String {
    match words {
        [] => "example".to_string(),
        words => format!("example {}", words.join(" ")),
    }
}

//! Optional arguments that a call needs all the same, by the words of their descriptions.

use serde_json::{Map, Value};

use crate::tool::beginning;

/// Whether the description of an optional argument asks for it in a call with these values: "(required)", or "Required for
/// 'create'" where a value is `create`.
pub(super) fn is_needed(description: &str, made: &Map<String, Value>) -> bool {
    let lower = beginning(description, 600).to_ascii_lowercase();
    lower.match_indices("required").any(|(at, word)| {
        let before = lower[..at].trim_end();
        let is_own = before.is_empty() || before.ends_with(['.', '(', '[', '*', '-']);
        let clause = clause(&lower[at + word.len()..]);
        let is_chosen = |text: &str| {
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            let values = made.values().filter_map(Value::as_str).map(str::to_ascii_lowercase);
            values.into_iter().any(|value| words.contains(&value.as_str()))
        };
        is_own
            && match (clause.strip_prefix("for "), clause.split_once("except")) {
                (Some(_), Some((_, others))) => !is_chosen(others),
                (Some(cases), None) => is_chosen(cases),
                (None, _) => clause.is_empty(),
            }
    })
}

/// The words after "required" that belong to it.
fn clause(text: &str) -> &str {
    let end = text.find(['.', ')', ';', ']', '\n']).unwrap_or(text.len());
    let text = text[..end].split("optional").next().unwrap_or("");
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | ':' | ','))
}

/// The first argument of those of which a description asks for one: "one of `name` or `id` must be provided".
pub(super) fn alternative<'n>(description: &str, names: impl Iterator<Item = &'n String>) -> Option<&'n str> {
    const CUES: [&str; 6] =
        ["must be provided", "at least one", "exactly one", "must provide", "must specify", "is required"];
    let start = beginning(description, 2_000);
    let asks = |sentence: &&str| {
        let lower = sentence.to_ascii_lowercase();
        CUES.iter().any(|cue| lower.contains(cue)) && lower.contains(" or ")
    };
    let sentence = start.split(['.', '\n']).find(asks)?;
    let place =
        |name: &str| ['\'', '"', '`'].iter().find_map(|mark| sentence.find(&format!("{mark}{name}{mark}")));
    let mut named: Vec<(usize, &str)> =
        names.filter_map(|name| Some((place(name)?, name.as_str()))).take(40).collect();
    named.sort_unstable();
    (named.len() > 1).then(|| named[0].1)
}

/// Whether an argument asks for a call that only tells what it would do.
pub(super) fn is_dry_run(name: &str, schema: &Value) -> bool {
    let letters = name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase());
    letters.take(8).eq("dryrun".chars()) && schema.get("type").is_some_and(|kind| kind == "boolean")
}

//! The values of an argument that its text lists: "one of: add, remove", or a Markdown list.

use super::tokens::Token;
use toolcrib_definition::words;

/// Last words of arguments whose quoted values are all of their values.
const KINDS: [&str; 9] = ["method", "action", "operation", "op", "mode", "type", "kind", "verb", "event"];
const LISTS: [&str; 9] =
    ["options", "values", "choices", "methods", "actions", "operations", "modes", "types", "commands"];
/// Words that are no values where a list has them.
const NO_VALUES: [&str; 4] = ["e.g", "i.e", "etc", "..."];
const FILLERS: [&str; 10] =
    ["are", "is", "include", "the", "following", "these", "values", "options", "be", "of"];

/// The values that the words of a text list for the argument `name`. Names of arguments are no values.
pub(super) fn listed_values<'t>(
    name: &str,
    tokens: &[Token<'t>],
    is_argument: &dyn Fn(&str) -> bool,
) -> Vec<&'t str> {
    let is_value = |token: &Token<'_>| !is_argument(token.text) && !NO_VALUES.contains(&token.text);
    let fits = |found: &[Token<'_>], least: usize| found.len() >= least && found.iter().all(is_value);
    let is_kind = words(name).last().is_some_and(|word| KINDS.contains(&word.as_str()));
    let heads: Vec<Token<'_>> = tokens.iter().filter(|token| is_head(token)).copied().collect();
    let mut found = if fits(&heads, 2) { heads } else { Vec::new() };
    for at in 0..tokens.len() {
        if found.is_empty()
            && let Some((start, is_sure)) = marked(tokens, at, is_kind)
        {
            found = list(&tokens[start..], is_sure);
            found.truncate(if fits(&found, 2) { usize::MAX } else { 0 });
        }
    }
    let is_kind = is_kind && !tokens.iter().any(|token| token.is(&["least"]));
    for (at, token) in tokens.iter().enumerate() {
        if found.is_empty() && is_kind {
            let in_brackets = token.before.ends_with('(');
            let is_bare = in_brackets || token.before.is_empty() || token.before == ": ";
            found = list(&tokens[at..], is_bare);
            let is_all = found.last().is_some_and(|last| !last.rest.contains(char::is_alphanumeric));
            let least = if token.is_quoted || is_all { 2 } else { 3 };
            let is_list = token.is_quoted || in_brackets || is_all;
            found.truncate(if is_list && fits(&found, least) { usize::MAX } else { 0 });
        }
    }
    found.iter().map(|token| token.text).collect()
}

/// Where a list starts whose announcement begins with a token, and whether its values need no quotes.
fn marked(tokens: &[Token<'_>], at: usize, is_kind: bool) -> Option<(usize, bool)> {
    let token = tokens.get(at)?;
    let next = tokens.get(at + 1)?;
    let is_least = at > 0 && tokens[at - 1].is(&["least", "most"]);
    let is_one_of = token.is(&["one"]) && next.is(&["of"]) && !is_least;
    let is_list = token.is(&LISTS) && (token.rest.starts_with(':') || next.is(&["are", "include"]));
    let is_may = token.is(&["can", "must", "may"]) && next.is(&["be"]);
    let is_either = token.is(&["either"]);
    if !is_one_of && !is_list && !is_may && !is_either {
        return None;
    }
    let fillers = tokens[at + 1..].iter().take_while(|token| token.is(&FILLERS)).count();
    Some((at + 1 + fillers, is_one_of || is_list || is_either && is_kind))
}

/// The values at the start of some tokens, between commas, bars and the like.
fn list<'t>(tokens: &[Token<'t>], is_sure: bool) -> Vec<Token<'t>> {
    let mut found = Vec::new();
    let mut in_brackets = false;
    let mut is_next = true;
    for token in tokens {
        // What a value means may follow it in brackets.
        if !found.is_empty() && token.before.trim_start().starts_with('(') {
            in_brackets = true;
        }
        if in_brackets {
            if !token.before.contains(')') {
                continue;
            }
            in_brackets = false;
            is_next = false;
        }
        if found.is_empty() && token.before.trim_end().ends_with(['-', '*', '•']) {
            return Vec::new();
        }
        if token.begins_sentence() && !found.is_empty() {
            break;
        }
        is_next |= token.before.contains([',', '/', '|']);
        if token.is(&["or", "and"]) {
            is_next = true;
            continue;
        }
        if !is_next || !(token.is_quoted || is_sure) {
            break;
        }
        found.push(*token);
        is_next = false;
    }
    found
}

/// Whether a token is the head of an item of a Markdown list.
fn is_head(token: &Token<'_>) -> bool {
    let Some(before) = token.before.strip_suffix(' ') else { return false };
    if !before.ends_with(['-', '*', '•']) {
        return false;
    }
    let starts_line = before.trim_end_matches(['-', '*', '•']).trim_end_matches(' ');
    let starts_line = starts_line.is_empty() || starts_line.ends_with('\n');
    let ends = [":", " -", " –", " —", "\n"];
    let is_alone = token.rest.is_empty() || ends.iter().any(|end| token.rest.starts_with(end));
    is_alone && (token.is_quoted || starts_line)
}

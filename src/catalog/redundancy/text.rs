//! A description cut into lines, sentences and clauses, of which those that repeat a fact of the schema leave.

use std::borrow::Cow;

use serde_json::Value;

use super::facts::Facts;
use super::tokens::{Token, tokens};

/// Longest description that is read beyond its first words, in bytes: longer ones hold more than a list of values.
const MAX_TEXT: usize = 4000;
/// Longest clause that may repeat a fact, in bytes.
const MAX_CLAUSE: usize = 400;
/// Most places of a sentence at which a last clause may begin.
const MAX_CLAUSES: usize = 16;

/// Words around a default that add nothing to it.
const AROUND_DEFAULT: [&str; 25] = [
    "default", "defaults", "defaulting", "is", "to", "value", "of", "with", "a", "the", "as", "by", "if",
    "when", "not", "specified", "provided", "given", "omitted", "unset", "set", "it", "this", "parameter",
    "argument",
];
/// Words around a list of values that add nothing to it.
const AROUND_VALUES: [&str; 47] = [
    "a", "acceptable", "accepted", "allowed", "always", "an", "and", "are", "as", "available", "be", "can",
    "choice", "choices", "choose", "either", "expected", "following", "formats", "from", "here", "in",
    "include", "includes", "is", "modes", "must", "of", "one", "only", "option", "options", "or", "possible",
    "should", "such", "support", "supported", "supports", "the", "to", "types", "valid", "value", "values",
    "will", "with",
];

/// The text without what the facts tell; `None` when it stays as it is.
pub(super) fn without_repetition(text: &str, facts: &Facts<'_>) -> Option<String> {
    if text.len() > MAX_TEXT {
        let (_, rest) = without_label(text, facts);
        return (rest.len() < text.trim_start().len()).then(|| rest.to_string());
    }
    if !text.contains('(') && !facts.may_be_in(text) {
        let first = text.split('\n').next().unwrap_or_default();
        if without_label(first, facts).1.len() == first.trim_start().len() {
            return None;
        }
    }
    let is_list = text.lines().any(|line| line.trim_start().starts_with(['-', '*', '\u{2022}']));
    let mut lines: Vec<Cow<'_, str>> = Vec::new();
    // A line in the middle of a sentence means nothing by itself.
    let mut starts_sentence = true;
    for (index, line) in text.split('\n').enumerate() {
        let shorter = match starts_sentence {
            true => without_sentences(line, facts, index == 0, is_list),
            false => Cow::Borrowed(line),
        };
        if !line.trim().is_empty() {
            starts_sentence = line.trim_end().ends_with(['.', '!', '?']);
        }
        if !shorter.trim().is_empty() || line.trim().is_empty() {
            lines.push(shorter);
        }
    }
    let shorter = lines.join("\n");
    (shorter != text).then(|| shorter.trim().to_string())
}

/// A line without sentences and clauses that repeat a fact. In a text with a list, a sentence may introduce that list.
fn without_sentences<'t>(line: &'t str, facts: &Facts<'_>, is_first: bool, is_list: bool) -> Cow<'t, str> {
    let (indent, rest) = if is_first { without_label(line, facts) } else { ("", line) };
    let mut kept = String::with_capacity(line.len());
    kept.push_str(indent);
    for sentence in sentences(rest) {
        let introduces = is_list && sentence.trim_end().ends_with(':');
        match shorter_sentence(sentence, facts) {
            Cow::Owned(shorter) if !introduces && shorter.is_empty() => kept.truncate(kept.trim_end().len()),
            Cow::Owned(shorter) if !introduces => kept.push_str(&shorter),
            _ => kept.push_str(sentence),
        }
    }
    if kept == line { Cow::Borrowed(line) } else { Cow::Owned(kept) }
}

/// Indentation of a line, and the text after `str, optional:` or `(int)` at its start.
fn without_label<'t>(line: &'t str, facts: &Facts<'_>) -> (&'t str, &'t str) {
    let (indent, text) = line.split_at(line.len() - line.trim_start().len());
    let label = match text.strip_prefix('(') {
        Some(inner) => inner.split_once(')'),
        None => text.split_once(": ").or_else(|| text.split_once(". ")),
    };
    let label = label.filter(|(label, _)| label.len() <= 40 && repeats_each(label, facts));
    (indent, label.map_or(text, |(_, rest)| rest.trim_start_matches([' ', ':', '-'])))
}

/// Sentences with the blanks before them.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let is_end = |&(at, _): &(usize, &str)| {
            let next = rest[at + 1..].trim_start().chars().next();
            rest[at + 1..].starts_with(' ') && next.is_none_or(|c| !c.is_lowercase())
        };
        let end = rest.match_indices(['.', '!', '?']).find(is_end).map_or(rest.len(), |(at, _)| at + 1);
        let (sentence, after) = rest.split_at(end);
        rest = after;
        (!sentence.is_empty()).then_some(sentence)
    })
}

fn shorter_sentence<'t>(sentence: &'t str, facts: &Facts<'_>) -> Cow<'t, str> {
    if repeats(sentence, facts) {
        return Cow::Owned(String::new());
    }
    let without = without_parentheses(sentence, facts);
    match last_clause(&without, facts) {
        Some(at) => {
            let end = &without[without.trim_end_matches(['.', ' ']).len()..];
            Cow::Owned(format!("{}{}", without[..at].trim_end(), if end.is_empty() { "" } else { "." }))
        }
        None => without,
    }
}

/// A sentence without the parentheses, or the parts of them, that repeat a fact.
fn without_parentheses<'t>(sentence: &'t str, facts: &Facts<'_>) -> Cow<'t, str> {
    let mut out = String::new();
    let mut done = 0;
    while let Some(open) = sentence[done..].find('(').map(|at| done + at) {
        let Some(close) = sentence[open..].find([')', '\n']).map(|at| open + at) else { break };
        let inner = &sentence[open + 1..close];
        out.push_str(&sentence[done..open]);
        done = close + 1;
        if !sentence[close..].starts_with(')') || inner.contains('(') {
            out.push_str(&sentence[open..done]);
            continue;
        }
        match rest_of(inner, facts) {
            Some(rest) if rest.is_empty() => out.truncate(out.trim_end().len()),
            Some(rest) => out.extend(["(", &rest, ")"]),
            None => out.push_str(&sentence[open..done]),
        }
    }
    out.push_str(&sentence[done..]);
    if out == sentence { Cow::Borrowed(sentence) } else { Cow::Owned(out) }
}

/// The parts of a parenthesis that say something; `None` when all do.
fn rest_of(inner: &str, facts: &Facts<'_>) -> Option<String> {
    if repeats(inner, facts) || repeats_each(inner, facts) {
        return Some(String::new());
    }
    let kept: Vec<&str> =
        parts(inner).into_iter().filter(|part| !repeats_default(&tokens(part), facts)).collect();
    (kept.len() < parts(inner).len()).then(|| kept.join(",").trim().to_string())
}

/// The start of a last clause that only repeats a fact, where text is before it.
fn last_clause(sentence: &str, facts: &Facts<'_>) -> Option<usize> {
    if !facts.may_be_in(sentence) {
        return None;
    }
    let starts = [", ", "; ", ": ", " - ", " such as ", " (", " as "];
    let mut places: Vec<usize> =
        starts.iter().flat_map(|start| sentence.match_indices(start).map(|(at, _)| at)).collect();
    places.sort_unstable();
    places.truncate(MAX_CLAUSES);
    places.into_iter().find(|&at| {
        let clause = &sentence[at..];
        !sentence[..at].trim().is_empty()
            && clause.len() <= MAX_CLAUSE
            && is_closed(clause)
            && repeats(clause, facts)
    })
}

/// Whether no parenthesis reaches out of a clause.
fn is_closed(clause: &str) -> bool {
    clause.matches('(').count() == clause.matches(')').count()
}

/// Whether a clause says nothing but facts: a default, a list of all values, or both.
fn repeats(clause: &str, facts: &Facts<'_>) -> bool {
    if clause.len() > MAX_CLAUSE || !facts.may_be_in(clause) {
        return false;
    }
    let tokens = tokens(clause);
    let parts: Vec<&[Token<'_>]> = tokens.split(|token| *token == Token::Comma).collect();
    let said = |part: &&[Token<'_>]| repeats_default(part, facts) || repeats_need(part, facts);
    let other: Vec<Token<'_>> =
        parts.iter().filter(|part| !said(part)).flat_map(|part| part.iter().copied()).collect();
    match other.is_empty() {
        true => tokens.iter().any(|token| *token != Token::Comma),
        false => repeats_values(&other, facts),
    }
}

/// Whether a part only says again that its argument is optional, or required.
fn repeats_need(part: &[Token<'_>], facts: &Facts<'_>) -> bool {
    let is_need = |word: &str| word.eq_ignore_ascii_case("optional") || word.eq_ignore_ascii_case("required");
    matches!(part, [Token::Word(word)] if is_need(word) && facts.repeats(word))
}

/// Whether a text is types, and words such as `optional`, and nothing else.
fn repeats_each(text: &str, facts: &Facts<'_>) -> bool {
    let tokens = tokens(text);
    let is_said = |part: &[Token<'_>]| {
        repeats_default(part, facts)
            || (!part.is_empty()
                && part.iter().all(|token| matches!(token, Token::Word(word) if facts.repeats(word))))
    };
    !tokens.is_empty() && tokens.split(|token| *token == Token::Comma).all(is_said)
}

/// Whether words only say the default.
fn repeats_default(part: &[Token<'_>], facts: &Facts<'_>) -> bool {
    let Some(default) = facts.default else { return false };
    let is_filler =
        |token: &&Token<'_>| matches!(token, Token::Word(word) if is_one_of(word, &AROUND_DEFAULT));
    let names_it = |token: &Token<'_>| matches!(token, Token::Word(word) if word.get(..7).is_some_and(|word| word.eq_ignore_ascii_case("default")));
    let mut other = part.iter().filter(|token| !is_filler(token));
    part.iter().any(names_it)
        && other.next().is_some_and(|token| is_value(token.text(), default))
        && other.next().is_none()
}

fn is_value(text: &str, value: &Value) -> bool {
    match value {
        Value::String(value) => text == value,
        Value::Bool(value) => text.eq_ignore_ascii_case(if *value { "true" } else { "false" }),
        Value::Number(number) => text.parse().ok() == number.as_f64(),
        _ => false,
    }
}

/// Whether words list all values, and say nothing else.
fn repeats_values(tokens: &[Token<'_>], facts: &Facts<'_>) -> bool {
    let mut missing: Vec<&str> = facts.values.clone();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if let Some((value, length)) = value_at(tokens, at, facts) {
            missing.retain(|other| *other != value);
            at += length;
            continue;
        }
        let said = match token {
            Token::Quoted(_) => false,
            Token::Comma => true,
            Token::Word(word) => is_one_of(word, &AROUND_VALUES) || are_values(word, facts, &mut missing),
        };
        if !said {
            return false;
        }
        at += 1;
    }
    !facts.values.is_empty() && missing.is_empty()
}

/// The value that begins at a token, and the number of its tokens.
fn value_at<'a>(tokens: &[Token<'_>], at: usize, facts: &Facts<'a>) -> Option<(&'a str, usize)> {
    let begins = |value: &&str| match tokens[at] {
        Token::Quoted(text) => text == *value,
        _ => {
            let mut words = value.split_whitespace();
            words
                .by_ref()
                .zip(&tokens[at..])
                .all(|(word, token)| matches!(token, Token::Word(text) if *text == word))
                && value.split_whitespace().count() <= tokens.len() - at
        }
    };
    let value = facts.values.iter().copied().find(begins)?;
    let length = if matches!(tokens[at], Token::Quoted(_)) { 1 } else { value.split_whitespace().count() };
    (length > 0).then_some((value, length))
}

/// Whether a word is several values: `asc/desc`, `a|b`.
fn are_values<'a>(word: &str, facts: &Facts<'a>, missing: &mut Vec<&'a str>) -> bool {
    let pieces: Vec<&str> = word.split(['/', '|']).collect();
    let are_values = pieces.len() > 1 && pieces.iter().all(|piece| facts.values.contains(piece));
    if are_values {
        missing.retain(|value| !pieces.contains(value));
    }
    are_values
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|other| word.eq_ignore_ascii_case(other))
}

/// The parts of a text between commas outside of quotations.
fn parts(text: &str) -> Vec<&str> {
    let mut quote = None;
    text.split(|c: char| {
        match (quote, c) {
            (None, '"' | '\'' | '`') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
        quote.is_none() && matches!(c, ',' | ';')
    })
    .collect()
}

//! Untrusted text made safe for a terminal: visible characters only, and a short piece of it.

use std::ops::Range;

use crate::is_hidden;

/// Characters of a line that are printed before and after the marked place.
const BEFORE: usize = 60;
const AFTER: usize = 100;

/// A piece of one line of a source, with the range of bytes that is marked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) text: String,
    pub(super) mark: Range<usize>,
}

/// The line around a byte offset, cut to what fits a terminal; the cost does not depend on the length of the line.
pub(super) fn excerpt(source: &str, offset: usize) -> Excerpt {
    let (before, after) = source.split_at_checked(offset).unwrap_or((source, ""));
    let mut left: Vec<char> = before.chars().rev().take_while(|c| *c != '\n').take(BEFORE + 1).collect();
    left.reverse();
    let mut right: Vec<char> =
        after.chars().take_while(|c| !matches!(c, '\n' | '\r')).take(AFTER + 1).collect();
    let marked = token(&right).min(AFTER);
    if left.len() > BEFORE
        && let Some(first) = left.first_mut()
    {
        *first = '…';
    }
    if right.len() > AFTER {
        right.truncate(AFTER);
        right.push('…');
    }
    let mut text: String = left.into_iter().map(visible_char).collect();
    let start = text.len();
    text.extend(right.iter().take(marked).copied().map(visible_char));
    let end = text.len();
    text.extend(right.iter().skip(marked).copied().map(visible_char));
    Excerpt { text, mark: start..end }
}

/// The characters of the key, string or word that starts here; at least one.
fn token(rest: &[char]) -> usize {
    let end = match rest.first() {
        Some(quote @ ('"' | '\'')) => {
            let mut escaped = false;
            let closing = rest.iter().skip(1).position(|c| {
                let closes = c == quote && !escaped;
                escaped = *c == '\\' && !escaped;
                closes
            });
            closing.map_or(rest.len(), |closing| closing + 2)
        }
        _ => {
            let ends = |c: &char| c.is_whitespace() || matches!(c, ',' | ':' | '=' | '[' | ']' | '{' | '}');
            rest.iter().position(ends).unwrap_or(rest.len())
        }
    };
    end.clamp(1, rest.len().max(1))
}

/// The text on one line, without control or invisible characters, cut at `limit` characters.
pub(super) fn visible(text: &str, limit: usize) -> String {
    let mut shown: String = text.chars().take(limit).map(visible_char).collect();
    if text.chars().nth(limit).is_some() {
        shown.push('…');
    }
    shown
}

fn visible_char(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' => ' ',
        '\u{2028}' | '\u{2029}' => '\u{FFFD}',
        _ if is_hidden(c) => '\u{FFFD}',
        _ => c,
    }
}

//! Untrusted text made safe for a terminal: visible characters only, and a short piece of it.

use std::ops::Range;

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
        _ if c.is_control() => '\u{FFFD}',
        // Bidirectional controls, zero-width characters, line separators, tags.
        '\u{061C}'
        | '\u{200B}'
        | '\u{200E}'
        | '\u{200F}'
        | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' => '\u{FFFD}',
        '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}' => '\u{FFFD}',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{excerpt, visible};

    #[track_caller]
    fn check(source: &str, at: &str, expect: &str) {
        let found = excerpt(source, source.find(at).unwrap());
        assert_eq!(format!("{}\n{}", found.text, &found.text[found.mark.clone()]), expect);
    }

    #[test]
    fn the_word_that_is_meant_is_marked() {
        check("a\n  \"na\\\"me\": 1,\nb", "\"na", "  \"na\\\"me\": 1,\n\"na\\\"me\"");
        check("name: x", "name", "name: x\nname");
        check("[{}]", "{}", "[{}]\n{");
        check(&format!("{}\nkey: 1", "x".repeat(99)), "1", "key: 1\n1");
        check("\tkey = 'a", "'a", " key = 'a\n'a");
    }

    #[test]
    fn one_long_line_is_cut_around_the_place() {
        let source = format!("{}\"here\"{}", "é".repeat(1 << 20), "x".repeat(1 << 20));
        let found = excerpt(&source, source.find('"').unwrap());
        assert!(
            found.text.chars().count() <= 170 && found.text.starts_with('…') && found.text.ends_with('…')
        );
        assert_eq!(&found.text[found.mark], "\"here\"");
    }

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        assert_eq!(visible("a\u{1b}[31mb\u{202e}\u{9b}c\nd", 99), "a\u{fffd}[31mb\u{fffd}\u{fffd}c d");
        assert_eq!(visible("abcdef", 3), "abc…");
    }

    proptest! {
        #[test]
        fn any_place_of_any_text_has_an_excerpt(source in "\\PC{0,300}|[a\" \\\\\n\r]{0,300}", offset in 0usize..400) {
            let found = excerpt(&source, offset);
            prop_assert!(found.text.get(found.mark.clone()).is_some());
            prop_assert!(!found.text.chars().any(char::is_control));
        }
    }
}

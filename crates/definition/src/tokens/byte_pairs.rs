//! The pieces that byte-pair encoding works on, by o200k's own splitting pattern, or nearly by it in one pass.

use std::sync::LazyLock;

use regex::Regex;

/// Kind of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// ASCII letters, all small.
    Lower,
    /// ASCII letters, capitals before small ones.
    Capital,
    /// ASCII letters, all capitals.
    Upper,
    /// Letters of scripts that write without spaces.
    Ideographs,
    /// Other letters beyond ASCII.
    Letters,
    /// Up to three digits.
    Digits,
    /// ASCII punctuation.
    Marks,
    /// Punctuation, symbols and emoji beyond ASCII.
    Symbols,
    /// White space outside of other pieces.
    Space,
}

/// One piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) kind: Kind,
    /// Its letters, digits or marks; the character before a word does not count.
    pub(super) length: usize,
    /// Whether it carries the space before it.
    pub(super) after_space: bool,
    /// The whole piece.
    text: &'a str,
}

/// The splitting pattern of o200k, where white space before a word still has the space that the word takes along.
static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let capital = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]";
    let small = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]";
    let before = r"[^\r\n\p{L}\p{N}]?";
    let contraction = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?";
    let words = format!("{before}{capital}*{small}+{contraction}|{before}{capital}+{small}*{contraction}");
    Regex::new(&format!(r"^(?:{words}|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|\s*[\r\n]+|\s+)")).ok()
});

/// Splits a text into the pieces of o200k.
pub(super) fn exact_pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let near = first(rest)?.text;
        // A contraction has a letter after its mark.
        let seen = rest.len().min(near.len() + 2);
        let is_exact = rest.as_bytes()[..seen].is_ascii();
        let (piece, after) = rest.split_at(if is_exact { near.len() } else { by_pattern(rest) });
        rest = after;
        Some(piece)
    })
}

/// The length of the first piece by the pattern.
fn by_pattern(text: &str) -> usize {
    let found = PATTERN.as_ref().and_then(|pattern| pattern.find(text));
    let piece = found.map_or(text, |found| found.as_str());
    let is_blank = piece.len() < text.len() && piece.trim_start().is_empty() && !piece.ends_with(is_break);
    match piece.char_indices().next_back() {
        Some((last @ 1.., _)) if is_blank => last,
        _ => piece.len(),
    }
}

/// Splits a text into pieces, in one pass; letters beyond ASCII may end elsewhere than in o200k.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let piece = first(rest)?;
        rest = &rest[piece.text.len()..];
        Some(piece)
    })
}

fn first(text: &str) -> Option<Piece<'_>> {
    let head = text.chars().next()?;
    let lead = if is_letter(head) || head.is_numeric() || is_break(head) { 0 } else { head.len_utf8() };
    let after_space = head == ' ';
    let word = &text[lead..];
    if word.starts_with(is_letter) {
        let letters = word_end(word);
        return Some(of_word(&text[..lead + letters], &word[..letters], after_space));
    }
    let (kind, end) = if head.is_numeric() {
        let digits = text.chars().take(3).take_while(|c| c.is_numeric());
        (Kind::Digits, digits.map(char::len_utf8).sum())
    } else if let marks @ 1.. = span(&text[usize::from(after_space)..], is_mark) {
        let end = usize::from(after_space) + marks;
        let kind = if text[..end].is_ascii() { Kind::Marks } else { Kind::Symbols };
        (kind, end + span(&text[end..], |c| is_break(c) || c == '/'))
    } else {
        (Kind::Space, space_end(text))
    };
    let text = &text[..end.max(head.len_utf8())];
    let length = text.chars().filter(|c| !c.is_whitespace()).count();
    Some(Piece { kind, length, after_space, text })
}

fn of_word<'a>(text: &'a str, word: &str, after_space: bool) -> Piece<'a> {
    let kind = if !word.is_ascii() {
        if word.chars().any(is_ideograph) { Kind::Ideographs } else { Kind::Letters }
    } else if word.starts_with(|c: char| c.is_ascii_lowercase()) {
        Kind::Lower
    } else if word.ends_with(|c: char| c.is_ascii_lowercase()) {
        Kind::Capital
    } else {
        Kind::Upper
    };
    Piece { kind, length: word.chars().count(), after_space, text }
}

/// Capitals, then small letters, then an English contraction.
fn word_end(word: &str) -> usize {
    let capitals = span(word, |c| is_letter(c) && !c.is_lowercase());
    let end = capitals + span(&word[capitals..], |c| is_letter(c) && !c.is_uppercase());
    let contraction = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"]
        .into_iter()
        .find(|tail| word[end..].get(..tail.len()).is_some_and(|rest| rest.eq_ignore_ascii_case(tail)));
    end + contraction.map_or(0, str::len)
}

/// White space up to its last line break, else all of it but the space that the next word takes along.
fn space_end(text: &str) -> usize {
    let all = span(text, char::is_whitespace);
    let blank = &text[..all];
    match blank.rfind(is_break) {
        Some(at) => at + 1,
        None if all == text.len() => all,
        None => blank.char_indices().next_back().map_or(all, |(last, _)| last),
    }
}

fn span(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '\u{300}'..='\u{36f}' | '\u{fe0f}')
}

fn is_mark(c: char) -> bool {
    !c.is_whitespace() && !is_letter(c) && !c.is_numeric()
}

fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{e00}'..='\u{eff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: &[&str]) {
        assert_eq!(pieces(text).map(|piece| piece.text).collect::<Vec<_>>(), expect, "{text:?}");
    }

    #[test]
    fn pieces_end_where_the_encoding_ends_them() {
        check("Don't list getHTTPStatus", &["Don't", " list", " get", "HTTPStatus"]);
        check("page 12345, {\"a\":1}\n", &["page", " ", "123", "45", ",", " {\"", "a", "\":", "1", "}\n"]);
        check("a\n\n  b   ", &["a", "\n\n", " ", " b", "   "]);
        check("获取ID", &["获取ID"]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(text in "(\\PC|[ \n\ta-zA-Z0-9{}\"':,./]){0,60}") {
            prop_assert_eq!(pieces(&text).map(|piece| piece.text).collect::<String>(), text);
        }
    }
}

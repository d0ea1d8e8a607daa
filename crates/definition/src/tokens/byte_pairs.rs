//! The pieces that byte-pair encoding works on: the same borders as o200k's own splitting pattern.

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

/// Splits a text into pieces, in one pass.
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
        (
            Kind::Digits,
            text.char_indices().take(3).take_while(|(_, c)| c.is_numeric()).last().map_or(0, after),
        )
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

fn after((at, c): (usize, char)) -> usize {
    at + c.len_utf8()
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

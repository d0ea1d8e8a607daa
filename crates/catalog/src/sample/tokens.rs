//! Words and quoted values of a text, with the marks between them.

/// A word, or a value in quotes or code marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    pub(super) is_quoted: bool,
    /// The marks and spaces before it, without its own quotes.
    pub(super) before: &'t str,
    /// The text after it.
    pub(super) rest: &'t str,
}

impl Token<'_> {
    pub(super) fn is(&self, words: &[&str]) -> bool {
        !self.is_quoted && words.iter().any(|word| word.eq_ignore_ascii_case(self.text))
    }

    /// Whether a clause begins with it. A mark in a value begins none.
    pub(super) fn begins_clause(&self) -> bool {
        self.before.contains(['\n', ';', '(', ')']) || self.begins_sentence()
    }

    /// Whether a sentence begins with it, or a line.
    pub(super) fn begins_sentence(&self) -> bool {
        self.before.contains(['\n', ';']) || self.before.contains(". ")
    }
}

/// Longest value in quotes, in bytes.
const LONGEST: usize = 60;
const QUOTES: [char; 7] = ['"', '\'', '`', '“', '”', '‘', '’'];

pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let is_quoted = QUOTES.contains(&c);
        let found = if is_quoted { quoted(text, at) } else { word(text, at) };
        let Some((start, end, after)) = found else {
            at += c.len_utf8();
            continue;
        };
        let before = &text[from..at];
        tokens.push(Token { text: &text[start..end], is_quoted, before, rest: &text[after..] });
        from = after;
        at = after;
    }
    tokens
}

/// Where a value in quotes starts and ends, and where its quotes end.
fn quoted(text: &str, at: usize) -> Option<(usize, usize, usize)> {
    let inner = text[at..].trim_start_matches(QUOTES);
    let start = text.len() - inner.len();
    let end = start + inner.find(|c| QUOTES.contains(&c) || c == '\n')?;
    let after = text.len() - text[end..].trim_start_matches(QUOTES).len();
    let is_value = (1..=LONGEST).contains(&(end - start)) && after > end;
    is_value.then_some((start, end, after))
}

fn word(text: &str, at: usize) -> Option<(usize, usize, usize)> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '\'' | '’');
    let rest = &text[at..];
    if !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let word = rest[..length].trim_end_matches(['-', '.', '\'', '’']);
    let end = at + word.len();
    Some((at, end, end))
}

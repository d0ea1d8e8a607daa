//! A clause as words, quoted texts and commas.

/// Part of a clause. Other punctuation says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Word(&'t str),
    Quoted(&'t str),
    Comma,
}

impl<'t> Token<'t> {
    /// The text of a word or a quotation.
    pub(super) fn text(self) -> &'t str {
        match self {
            Token::Word(text) | Token::Quoted(text) => text,
            Token::Comma => ",",
        }
    }
}

/// The tokens of a clause.
pub(super) fn tokens(clause: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = clause;
    while let Some(c) = rest.chars().next() {
        if matches!(c, '"' | '\'' | '`')
            && let Some((quoted, after)) = rest[1..].split_once(c)
        {
            tokens.push(Token::Quoted(quoted));
            rest = after;
        } else if matches!(c, ',' | ';') {
            tokens.push(Token::Comma);
            rest = &rest[1..];
        } else if c.is_whitespace() || is_punctuation(c) {
            rest = &rest[c.len_utf8()..];
        } else {
            let ends =
                |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '=' | '(' | ')' | '"' | '`');
            let (word, after) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
            let word = word.trim_end_matches(['.', '!', '*']);
            if !matches!(word, "" | "-" | "\u{2013}") {
                tokens.push(Token::Word(word));
            }
            rest = after;
        }
    }
    tokens
}

fn is_punctuation(c: char) -> bool {
    matches!(c, '.' | ':' | '=' | '(' | ')' | '*' | '"' | '`')
}

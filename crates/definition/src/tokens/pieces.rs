//! The pieces that byte-pair encoding works on. o200k gives them as an expression, which takes 11 ms to compile at each start; here it
//! is read by hand. With `upper` and `lower` for letters that may stand in the first and in the second half of a word:
//!
//! ```text
//! [^\r\n\p{L}\p{N}]? upper* lower+ ENDING? | [^\r\n\p{L}\p{N}]? upper+ lower* ENDING? | \p{N}{1,3}
//! | ?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
//! ```

use unicode_general_category::{GeneralCategory, get_general_category};

/// What a character is in a piece.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Upper,
    Lower,
    /// A letter without case.
    Letter,
    /// A mark on a letter: in a word like a letter without case, and else like a sign.
    Accent,
    Number,
    Sign,
    Break,
    Space,
}

impl Kind {
    fn of(character: char) -> Self {
        match character {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Number,
            '\r' | '\n' => Self::Break,
            _ if character.is_whitespace() => Self::Space,
            _ if character.is_ascii() => Self::Sign,
            _ => match get_general_category(character) {
                GeneralCategory::UppercaseLetter | GeneralCategory::TitlecaseLetter => Self::Upper,
                GeneralCategory::LowercaseLetter => Self::Lower,
                GeneralCategory::ModifierLetter | GeneralCategory::OtherLetter => Self::Letter,
                GeneralCategory::NonspacingMark
                | GeneralCategory::SpacingMark
                | GeneralCategory::EnclosingMark => Self::Accent,
                GeneralCategory::DecimalNumber
                | GeneralCategory::LetterNumber
                | GeneralCategory::OtherNumber => Self::Number,
                _ => Self::Sign,
            },
        }
    }

    fn is_upper(self) -> bool {
        matches!(self, Self::Upper | Self::Letter | Self::Accent)
    }

    fn is_lower(self) -> bool {
        matches!(self, Self::Lower | Self::Letter | Self::Accent)
    }

    fn is_sign(self) -> bool {
        matches!(self, Self::Sign | Self::Accent)
    }

    fn is_space(self) -> bool {
        matches!(self, Self::Space | Self::Break)
    }
}

/// Splits a text into the pieces of o200k.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let (piece, after) = rest.split_at(piece(rest, first));
        rest = after;
        Some(piece)
    })
}

/// The length of the piece at the start of a text.
fn piece(text: &str, first: char) -> usize {
    let kind = Kind::of(first);
    let signs = usize::from(first == ' ');
    word(text, first, kind)
        .or_else(|| {
            (kind == Kind::Number)
                .then(|| text.chars().take(3).take_while(|c| Kind::of(*c) == kind).map(char::len_utf8).sum())
        })
        .or_else(|| {
            let end = end_of(text, signs, Kind::is_sign);
            (end > signs).then(|| text.len() - text[end..].trim_start_matches(['\r', '\n', '/']).len())
        })
        .unwrap_or_else(|| spaces(text))
}

/// The length of a word, with the character before it that is no letter, and the ending of a contraction.
fn word(text: &str, first: char, kind: Kind) -> Option<usize> {
    let takes_first = kind == Kind::Space || kind.is_sign();
    let begins = || takes_first.then(|| first.len_utf8()).into_iter().chain([0]);
    let end = begins().find_map(|begin| mixed(text, begin)).or_else(|| {
        begins().find_map(|begin| Some(end_of(text, begin, Kind::is_upper)).filter(|end| *end > begin))
    })?;
    const ENDINGS: [&str; 8] = ["s", "ſ", "t", "re", "ve", "m", "ll", "d"];
    let ending = text[end..].strip_prefix('\'').and_then(|after| {
        let is_next =
            |ending: &&str| after.get(..ending.len()).is_some_and(|next| next.eq_ignore_ascii_case(ending));
        ENDINGS.into_iter().find(is_next)
    });
    Some(end + ending.map_or(0, |ending| 1 + ending.len()))
}

/// The end of `upper* lower+`: the last of the upper letters is given back where no lower one follows.
fn mixed(text: &str, begin: usize) -> Option<usize> {
    let upper = end_of(text, begin, Kind::is_upper);
    let lower = end_of(text, upper, Kind::is_lower);
    if lower > upper {
        return Some(lower);
    }
    let (at, last) = text[begin..upper].char_indices().rev().find(|(_, c)| Kind::of(*c).is_lower())?;
    Some(begin + at + last.len_utf8())
}

/// White space up to its last line break, or else up to the space that the word after it takes along.
fn spaces(text: &str) -> usize {
    let end = end_of(text, 0, Kind::is_space);
    if let Some(last) = text[..end].rfind(['\r', '\n']) {
        return last + 1;
    }
    match text[..end].char_indices().next_back() {
        Some((last @ 1.., _)) if end < text.len() => last,
        _ => end,
    }
}

/// Where characters of a kind end, from this place on.
fn end_of(text: &str, begin: usize, is_of: fn(Kind) -> bool) -> usize {
    text[begin..].find(|character| !is_of(Kind::of(character))).map_or(text.len(), |length| begin + length)
}

//! The pieces that byte-pair encoding works on, by o200k's own splitting pattern.

use std::sync::LazyLock;

use regex::Regex;

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
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(first(rest));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The length of the first piece.
fn first(text: &str) -> usize {
    let found = PATTERN.as_ref().and_then(|pattern| pattern.find(text));
    let piece = found.map_or(text, |found| found.as_str());
    let is_break = piece.ends_with(['\r', '\n']);
    let is_blank = piece.len() < text.len() && piece.trim_start().is_empty() && !is_break;
    match piece.char_indices().next_back() {
        Some((last @ 1.., _)) if is_blank => last,
        _ => piece.len(),
    }
}

//! Counts by byte-pair encoding with the vocabulary of o200k.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use rayon::prelude::*;

use super::pieces::pieces;
use super::vocabulary::rank;

/// The o200k tokens of one text.
pub fn token_count(text: &str) -> usize {
    let chunks: Vec<&str> = chunks(text).collect();
    chunks.into_par_iter().map(of_chunk).sum()
}

/// Counts texts in o200k, and caches the counts: much of one payload is in the next as well.
#[derive(Debug, Default)]
pub struct Counter {
    known: HashMap<String, usize>,
}

impl Counter {
    /// The tokens of a text. Special tokens of a model count as plain text.
    pub fn count(&mut self, text: &str) -> usize {
        let new: HashSet<&str> = chunks(text).filter(|chunk| !self.known.contains_key(*chunk)).collect();
        let counted: Vec<_> = new.into_par_iter().map(|chunk| (chunk.to_string(), of_chunk(chunk))).collect();
        self.known.extend(counted);
        chunks(text).filter_map(|chunk| self.known.get(chunk).copied()).sum()
    }
}

fn of_chunk(text: &str) -> usize {
    pieces(text).map(|piece| of_piece(piece.as_bytes())).sum()
}

/// The tokens of a piece that is not in the vocabulary: of all pairs of neighbours that are a token together, the one of the
/// lowest rank is merged, until none is left.
fn of_piece(piece: &[u8]) -> usize {
    if rank(piece).is_some() {
        return 1;
    }
    // By where a part begins, where it ends, and the reverse; 0 where none does any more.
    let mut ends: Vec<usize> = (1..=piece.len()).collect();
    let mut begins: Vec<usize> = (0..=piece.len()).map(|end| end.saturating_sub(1)).collect();
    let pair = |ends: &[usize], begin: usize| {
        let end = *ends.get(ends[begin])?;
        Some(Reverse((rank(&piece[begin..end])?, begin, end)))
    };
    let mut pairs: BinaryHeap<_> = (0..piece.len()).filter_map(|begin| pair(&ends, begin)).collect();
    let mut parts = piece.len();
    while let Some(Reverse((_, begin, end))) = pairs.pop() {
        let middle = ends[begin];
        // One of the two has become part of another.
        if middle == 0 || ends.get(middle) != Some(&end) {
            continue;
        }
        parts -= 1;
        (ends[begin], ends[middle], begins[end]) = (end, 0, begin);
        let before = (begin > 0).then(|| begins[begin]);
        pairs.extend(before.into_iter().chain([begin]).filter_map(|begin| pair(&ends, begin)));
    }
    parts
}

/// Splits JSON before the first key of each object. No token crosses that place: the encoding takes a run of
/// punctuation as one piece, however long, and a letter after two of them begins the next.
fn chunks(text: &str) -> impl Iterator<Item = &str> {
    const OPENING: &str = "{\"";
    let mut rest = text;
    std::iter::from_fn(move || {
        let starts_key = |at: &usize| rest[*at..].starts_with(|c: char| c.is_ascii_alphabetic());
        let end = rest.match_indices(OPENING).map(|(at, _)| at + OPENING.len()).find(starts_key);
        let (chunk, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        (!chunk.is_empty()).then_some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    /// Texts and their tokens in o200k; they guard against a change of the crate.
    const GOLDEN: [(&str, usize); 33] = [
        ("", 0),
        ("a", 1),
        (" ", 1),
        ("\n\n", 1),
        ("hello world", 2),
        ("Hello, World!", 4),
        ("read_file", 2),
        ("create_pull_request", 3),
        ("getHTTPStatusCode", 4),
        ("SCREAMING_SNAKE_CASE", 7),
        ("1234567890", 4),
        ("3.14159", 4),
        ("2026-11-22T10:00:00Z", 13),
        ("https://example.com/a?b=1&c=%20#d", 15),
        ("user@example.com", 3),
        ("{}", 1),
        ("{\"tools\":[]}", 4),
        ("{\"type\":\"object\",\"properties\":{}}", 9),
        (
            "{\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"description\":\"Read a file (doc first)\"}}",
            22,
        ),
        ("[\"a\",\"b\",\"c\"]", 7),
        ("\\n\\n\\\"quoted\\\"", 5),
        ("don't you'll we've", 3),
        ("Größe und Maß", 4),
        ("日本語のテキスト", 6),
        ("使用必应搜索", 4),
        ("Создаёт задачу", 5),
        ("مرحبا بالعالم", 4),
        ("✅ 🚀 👩‍👩‍👧‍👦", 14),
        ("<|endoftext|>", 7),
        ("| op | tool |\n| --- | --- |\n", 10),
        ("    indented\n\tcode();\n", 6),
        ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 5),
        ("The quick brown fox jumps over the lazy dog.", 10),
    ];

    #[test]
    fn counts_are_those_of_the_vocabulary() {
        let mut counter = Counter::default();
        assert_eq!(GOLDEN.map(|(text, _)| (text, counter.count(text))), GOLDEN);
    }

    #[test]
    fn a_hostile_text_is_counted_in_bounded_time() {
        let mut counter = Counter::default();
        for text in ["a".repeat(20_000), "{\"".repeat(20_000), "\u{301}".repeat(20_000), " ".repeat(20_000)] {
            assert!(counter.count(&text) > 0);
        }
    }

    static O200K: LazyLock<tiktoken::CoreBpe> = LazyLock::new(tiktoken::encoding::o200k_base);

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn counts_are_those_of_another_implementation(
            text in "(\\{\"|\"\\}|[\\{\\}\":,/ \n\t'a-zA-Zßſǅʰ中0-9\u{301}\u{a0}]|\\PC|[A-Z]?[a-z]{3,30}| {2,140}){0,80}",
        ) {
            prop_assert_eq!(Counter::default().count(&text), O200K.count(&text));
        }
    }
}

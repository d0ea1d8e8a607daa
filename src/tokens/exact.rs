//! Exact counts. The vocabularies take a while to load, and are loaded by the first [`Counter`].

use std::collections::{HashMap, HashSet};
use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::sync::LazyLock;

use rayon::prelude::*;
use serde::Serialize;
use tiktoken::CoreBpe;

static O200K: LazyLock<CoreBpe> = LazyLock::new(tiktoken::encoding::o200k_base);
static CL100K: LazyLock<CoreBpe> = LazyLock::new(tiktoken::encoding::cl100k_base);

/// The tokens of a text in two vocabularies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// In o200k_base.
    pub o200k: usize,
    /// In cl100k_base.
    pub cl100k: usize,
}

impl Count {
    /// The same for both vocabularies.
    pub fn map(self, change: impl Fn(usize) -> usize) -> Count {
        Count { o200k: change(self.o200k), cl100k: change(self.cl100k) }
    }

    /// The difference, or 0 where it is negative.
    pub fn less(self, other: Count) -> Count {
        Count {
            o200k: self.o200k.saturating_sub(other.o200k),
            cl100k: self.cl100k.saturating_sub(other.cl100k),
        }
    }
}

impl Add for Count {
    type Output = Count;

    fn add(self, other: Count) -> Count {
        Count {
            o200k: self.o200k.saturating_add(other.o200k),
            cl100k: self.cl100k.saturating_add(other.cl100k),
        }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        *self = *self + other;
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Count>>(counts: I) -> Count {
        counts.fold(Count::default(), Count::add)
    }
}

/// The o200k tokens of one text.
pub fn exact(text: &str) -> usize {
    O200K.count(text)
}

/// Counts texts, and caches the counts: much of one payload is in the next as well.
#[derive(Debug)]
pub struct Counter {
    known: HashMap<String, Count>,
}

impl Default for Counter {
    fn default() -> Self {
        rayon::join(|| LazyLock::force(&O200K), || LazyLock::force(&CL100K));
        Self { known: HashMap::new() }
    }
}

impl Counter {
    /// The tokens of a text. Special tokens of a model count as plain text.
    pub fn count(&mut self, text: &str) -> Count {
        let new: HashSet<&str> = chunks(text).filter(|chunk| !self.known.contains_key(*chunk)).collect();
        let count = |chunk: &str| Count { o200k: O200K.count(chunk), cl100k: CL100K.count(chunk) };
        let counted: Vec<_> = new.into_par_iter().map(|chunk| (chunk.to_string(), count(chunk))).collect();
        self.known.extend(counted);
        chunks(text).filter_map(|chunk| self.known.get(chunk).copied()).sum()
    }
}

/// Splits JSON before the first key of each object. No token crosses that place: both encodings take a run of
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
    use super::*;
    use proptest::prelude::*;

    fn whole(text: &str) -> Count {
        Count { o200k: O200K.count(text), cl100k: CL100K.count(text) }
    }

    /// Texts and their tokens in o200k and cl100k; they guard against a change of the crate.
    const GOLDEN: [(&str, usize, usize); 33] = [
        ("", 0, 0),
        ("a", 1, 1),
        (" ", 1, 1),
        ("\n\n", 1, 1),
        ("hello world", 2, 2),
        ("Hello, World!", 4, 4),
        ("read_file", 2, 2),
        ("create_pull_request", 3, 3),
        ("getHTTPStatusCode", 4, 3),
        ("SCREAMING_SNAKE_CASE", 7, 7),
        ("1234567890", 4, 4),
        ("3.14159", 4, 4),
        ("2026-11-22T10:00:00Z", 13, 13),
        ("https://example.com/a?b=1&c=%20#d", 15, 15),
        ("user@example.com", 3, 3),
        ("{}", 1, 1),
        ("{\"tools\":[]}", 4, 4),
        ("{\"type\":\"object\",\"properties\":{}}", 9, 9),
        (
            "{\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"description\":\"Read a file (doc first)\"}}",
            22,
            22,
        ),
        ("[\"a\",\"b\",\"c\"]", 7, 7),
        ("\\n\\n\\\"quoted\\\"", 5, 5),
        ("don't you'll we've", 3, 6),
        ("Größe und Maß", 4, 5),
        ("日本語のテキスト", 6, 8),
        ("使用必应搜索", 4, 4),
        ("Создаёт задачу", 5, 8),
        ("مرحبا بالعالم", 4, 10),
        ("✅ 🚀 👩‍👩‍👧‍👦", 14, 22),
        ("<|endoftext|>", 7, 7),
        ("| op | tool |\n| --- | --- |\n", 10, 10),
        ("    indented\n\tcode();\n", 6, 6),
        ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 5, 5),
        ("The quick brown fox jumps over the lazy dog.", 10, 10),
    ];

    #[test]
    fn counts_are_those_of_the_vocabularies() {
        let mut counter = Counter::default();
        let counted: Vec<_> = GOLDEN
            .iter()
            .map(|(text, ..)| {
                let count = counter.count(text);
                (*text, count.o200k, count.cl100k)
            })
            .collect();
        assert_eq!(counted, GOLDEN);
    }

    #[test]
    fn a_hostile_text_is_counted_in_bounded_time() {
        let mut counter = Counter::default();
        for text in ["a".repeat(20_000), "{\"".repeat(20_000), "\u{301}".repeat(20_000), " ".repeat(20_000)] {
            assert!(counter.count(&text).o200k > 0);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn parts_count_as_much_as_the_whole(text in "(\\{\"|\"\\}|[\\{\\}\":,/ \n'a-zA-Zß0-9\u{301}]|\\PC){0,80}") {
            prop_assert_eq!(Counter::default().count(&text), whole(&text));
        }
    }
}

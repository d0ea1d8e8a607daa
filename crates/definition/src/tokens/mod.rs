//! Counts the tokens of a text, offline: an estimate that needs no vocabulary, and exact counts.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use rayon::prelude::*;
use tiktoken::CoreBpe;

/// Tokens of ASCII words by their letters (0 to 15), in hundredths: first words that follow another piece directly,
/// then words after a space. Averages of o200k_base over tool descriptions and schemas, smoothed where words of a
/// length are rare.
type Costs = [[usize; 16]; 2];

const LOWER: Costs = [
    [100, 100, 102, 108, 103, 110, 106, 112, 116, 150, 115, 110, 195, 200, 240, 260],
    [100, 100, 100, 100, 100, 100, 100, 101, 101, 103, 104, 104, 107, 108, 110, 115],
];
const CAPITAL: Costs = [
    [100, 100, 103, 104, 106, 115, 115, 122, 125, 165, 135, 156, 166, 166, 180, 250],
    [100, 100, 100, 100, 107, 111, 111, 112, 115, 133, 133, 150, 148, 145, 155, 194],
];
const UPPER: Costs = [
    [100, 100, 114, 146, 152, 200, 206, 215, 257, 260, 290, 300, 360, 370, 390, 410],
    [100, 100, 100, 131, 127, 150, 145, 161, 190, 190, 225, 270, 310, 330, 350, 370],
];
/// Tokens of each further letter of longer words, in hundredths.
const FURTHER_LETTER: usize = 28;
/// Tokens of runs of ASCII punctuation by their length, in hundredths.
const MARKS: [usize; 8] = [100, 100, 101, 106, 126, 200, 280, 320];
const FURTHER_MARK: usize = 45;

/// An estimate of the o200k tokens of a text: instant, deterministic, and a few percent off.
pub fn estimate(text: &str) -> usize {
    let hundredths: usize = pieces(text).map(cost).sum();
    (hundredths + 50) / 100
}

fn cost(piece: Piece) -> usize {
    let of_word =
        |costs: &Costs| of_length(&costs[usize::from(piece.after_space)], FURTHER_LETTER, piece.length);
    match piece.kind {
        Kind::Lower => of_word(&LOWER),
        Kind::Capital => of_word(&CAPITAL),
        Kind::Upper => of_word(&UPPER),
        Kind::Ideographs => 70 + piece.length * 60,
        Kind::Letters => (30 + piece.length * 22).max(100),
        Kind::Digits | Kind::Space => 100,
        Kind::Marks => of_length(&MARKS, FURTHER_MARK, piece.length),
        Kind::Symbols => 50 + piece.length * 60,
    }
}

fn of_length(costs: &[usize], further: usize, length: usize) -> usize {
    let last = costs.len() - 1;
    costs[length.min(last)] + length.saturating_sub(last) * further
}

// Exact counts. The vocabulary takes a while to load, and is loaded by the first [`Counter`].

static O200K: LazyLock<CoreBpe> = LazyLock::new(tiktoken::encoding::o200k_base);

/// The o200k tokens of one text.
pub fn exact(text: &str) -> usize {
    let chunks: Vec<&str> = chunks(text).collect();
    chunks.into_par_iter().map(|chunk| O200K.count(chunk)).sum()
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
        let counted: Vec<_> =
            new.into_par_iter().map(|chunk| (chunk.to_string(), O200K.count(chunk))).collect();
        self.known.extend(counted);
        chunks(text).filter_map(|chunk| self.known.get(chunk).copied()).sum()
    }
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

// The pieces that byte-pair encoding works on: the same borders as o200k's own splitting pattern.

/// Kind of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
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
struct Piece<'a> {
    kind: Kind,
    /// Its letters, digits or marks; the character before a word does not count.
    length: usize,
    /// Whether it carries the space before it.
    after_space: bool,
    /// The whole piece.
    text: &'a str,
}

/// Splits a text into pieces, in one pass.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
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

    const SAMPLES: [&str; 9] = [
        "Delete a task",
        "Get details about specific GitHub Actions resources.\nUse this tool to get details about individual \
         workflows, workflow runs, jobs, and artifacts by their unique IDs.\n",
        "Create a verified citation for document content.\n\nArgs:\n    text: Quoted text from the document (the \
         evidence)\n    page: Page number if applicable\n\nReturns:\n    Citation ID. Use [N] format in your text.",
        "使用必应搜索指定的关键词，并返回搜索结果列表，包括标题、链接、摘要和ID。",
        "Retrieves the OHLCV candles of a symbol (e.g. `BTC/USDT`); see https://example.com/docs/api?limit=100#candles.",
        r#"{"type":"object","properties":{"owner":{"type":"string","description":"Repository owner"},"limit":{"type":"integer","minimum":1,"maximum":100,"default":30}},"required":["owner"],"additionalProperties":false}"#,
        "| op | tool |\n| --- | --- |\n| `onto.task.list` | `list_onto_tasks` |\n| `onto.task.get` | `get_onto_task_details` |\n",
        "✅ Use for: reading files.  ❌ Do NOT use for: directories, sockets, or anything over 10,000 lines!",
        "Создаёт задачу в указанном проекте и возвращает её идентификатор.",
    ];

    #[test]
    fn estimates_stay_close_to_the_real_counts() {
        let bpe = tiktoken::encoding::o200k_base();
        let mut estimated = 0.0;
        let mut exact = 0.0;
        for text in SAMPLES {
            let guess = estimate(text) as f64;
            let count = bpe.count(text) as f64;
            assert!((guess - count).abs() <= (count * 0.2).max(1.0), "{guess} for {count}: {text}");
            estimated += guess;
            exact += count;
        }
        assert!((estimated / exact - 1.0).abs() < 0.05, "{estimated} for {exact}");
        assert_eq!(estimate(""), 0);
    }

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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn parts_count_as_much_as_the_whole(text in "(\\{\"|\"\\}|[\\{\\}\":,/ \n'a-zA-Zß0-9\u{301}]|\\PC){0,80}") {
            prop_assert_eq!(Counter::default().count(&text), O200K.count(&text));
        }
    }

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

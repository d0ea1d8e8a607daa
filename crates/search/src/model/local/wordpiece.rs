//! `tokenizer.json` of the BERT kind: words, and the longest pieces of them that have a vector.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

/// A vocabulary of pieces, and the normalisation of a text before it is split.
pub(super) struct WordPiece {
    pieces: HashMap<String, usize>,
    unknown: Option<usize>,
    prefix: String,
    longest_word: usize,
    longest_piece: usize,
    normalizer: Normalizer,
}

#[derive(Clone, Copy)]
struct Normalizer {
    clean: bool,
    split_chinese: bool,
    strip_accents: bool,
    lowercase: bool,
}

#[derive(Deserialize)]
struct Tokenizer {
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    model: Model,
}

#[derive(Deserialize)]
struct Model {
    #[serde(rename = "type")]
    kind: Option<String>,
    vocab: Value,
    unk_token: Option<String>,
    continuing_subword_prefix: Option<String>,
    max_input_chars_per_word: Option<usize>,
}

/// A sign of punctuation alone, or anything else between white space.
static WORDS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[\p{P}$+<=>^`|~]|[^\s\p{P}$+<=>^`|~]+").ok());
static ACCENTS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\p{Mn}").ok());

impl WordPiece {
    /// Reads the file; other kinds of tokenizers are refused.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let read: Tokenizer =
            serde_json::from_slice(bytes).map_err(|error| format!("this is no tokenizer: {error}"))?;
        let kind = read.model.kind.as_deref().unwrap_or("WordPiece");
        only("model", Some(kind), "WordPiece")?;
        only("pre_tokenizer", kind_of(&read.pre_tokenizer), "BertPreTokenizer")?;
        only("normalizer", kind_of(&read.normalizer), "BertNormalizer")?;
        let setting = |name: &str| read.normalizer.get(name).and_then(Value::as_bool);
        let lowercase = setting("lowercase").unwrap_or(true);
        let normalizer = Normalizer {
            clean: setting("clean_text").unwrap_or(true),
            split_chinese: setting("handle_chinese_chars").unwrap_or(true),
            strip_accents: setting("strip_accents").unwrap_or(lowercase),
            lowercase,
        };
        let Model { vocab, unk_token, continuing_subword_prefix, max_input_chars_per_word, .. } = read.model;
        let pieces: HashMap<String, usize> =
            serde_json::from_value(vocab).map_err(|error| format!("its vocabulary: {error}"))?;
        let longest_piece = pieces.keys().map(|piece| piece.chars().count()).max();
        Ok(Self {
            unknown: unk_token.and_then(|token| pieces.get(&token).copied()),
            longest_piece: longest_piece.ok_or("its vocabulary is empty")?,
            pieces,
            prefix: continuing_subword_prefix.unwrap_or_else(|| "##".into()),
            longest_word: max_input_chars_per_word.unwrap_or(100),
            normalizer,
        })
    }

    /// The largest number that a piece has.
    pub(super) fn last(&self) -> usize {
        self.pieces.values().copied().max().unwrap_or_default()
    }

    /// The pieces of a text that have a vector, up to so many. Unknown words are left out.
    pub(super) fn split(&self, text: &str, most: usize) -> Vec<usize> {
        let text = self.normalizer.apply(text);
        let mut pieces = Vec::new();
        let words = WORDS.as_ref().into_iter().flat_map(|words| words.find_iter(&text));
        for word in words {
            self.split_word(word.as_str(), &mut pieces);
            if pieces.len() >= most {
                pieces.truncate(most);
                break;
            }
        }
        pieces
    }

    /// The longest pieces from the left; a word that is not made of pieces has none.
    fn split_word(&self, word: &str, pieces: &mut Vec<usize>) {
        let chars: Vec<char> = word.chars().collect();
        if chars.len() > self.longest_word {
            return;
        }
        let (mut from, before) = (0, pieces.len());
        while from < chars.len() {
            let longest = chars.len().min(from + self.longest_piece);
            let found = (from + 1..=longest).rev().find_map(|to| {
                let start = if from == 0 { "" } else { self.prefix.as_str() };
                let piece: String = start.chars().chain(chars[from..to].iter().copied()).collect();
                Some((*self.pieces.get(&piece)?, to))
            });
            let Some((piece, to)) = found else { return pieces.truncate(before) };
            pieces.push(piece);
            from = to;
        }
        if self.unknown.is_some_and(|unknown| pieces[before..].contains(&unknown)) {
            pieces.truncate(before);
        }
    }
}

impl Normalizer {
    fn apply(self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                _ if self.clean && c.is_whitespace() => clean.push(' '),
                _ if self.clean && (c.is_control() || c == '\u{fffd}') => {}
                _ if self.split_chinese && is_chinese(c) => clean.extend([' ', c, ' ']),
                _ => clean.push(c),
            }
        }
        if let (true, Some(accents)) = (self.strip_accents, ACCENTS.as_ref()) {
            let apart: String = clean.nfd().collect();
            clean = accents.replace_all(&apart, "").into_owned();
        }
        if self.lowercase { clean.to_lowercase() } else { clean }
    }
}

fn is_chinese(c: char) -> bool {
    matches!(c as u32,
        0x4e00..=0x9fff | 0x3400..=0x4dbf | 0x20000..=0x2a6df | 0x2a700..=0x2b73f | 0x2b740..=0x2b81f
        | 0x2b920..=0x2ceaf | 0xf900..=0xfaff | 0x2f800..=0x2fa1f)
}

fn kind_of(part: &Value) -> Option<&str> {
    part.get("type").and_then(Value::as_str)
}

/// A part of a tokenizer must be of the one kind that is read here.
fn only(part: &str, kind: Option<&str>, read: &str) -> Result<(), String> {
    let kind = kind.unwrap_or("nothing");
    if kind == read {
        return Ok(());
    }
    let kind = toolcrib_definition::clean_line(kind);
    Err(format!("its {part} is {kind}; only {read} is read, as models such as potion-base have it"))
}

//! A word list as `build.rs` compiles it: one text and one table of numbers, which are read where they lie in the
//! program. Nothing of it is made or moved at a start.

use std::borrow::Cow;

use super::stemming::stemmed;
use super::thesaurus::Synonym;

/// A compiled word list. Words have numbers, in their order.
#[derive(Debug)]
pub(super) struct WordList {
    /// All words, one after another.
    text: &'static str,
    /// Number of words that have meanings.
    keys: u32,
    words: &'static [[Number; 4]],
    meanings: &'static [[Number; 2]],
    /// Numbers of words by [`hash`]; where a place is taken, a word has the next one.
    slots: &'static [Number],
}

/// A number as it lies in the table, the least byte first.
type Number = [u8; 4];

/// No number: an empty place, or a word without a stem.
pub(super) const NONE: u32 = u32::MAX;

/// Facts about a word, one bit each. The bits above them count the keys that have it as a meaning.
pub(super) const BEGINS: u32 = 1;
pub(super) const STOP: u32 = 2;
pub(super) const WEAK: u32 = 4;
pub(super) const ACTION: u32 = 8;
pub(super) const MEANT: u32 = 4;

/// A word in the table: the start of its text, its stem, its first meaning, and facts.
#[derive(Clone, Copy)]
struct Record {
    start: u32,
    stem: u32,
    meanings: u32,
    facts: u32,
}

/// The place of a word in a table of slots (FNV-1a).
pub(super) fn hash(word: &str) -> usize {
    let hashed =
        word.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hashed ^ (hashed >> 15)) as usize
}

impl WordList {
    /// A list of these words; the table begins with the numbers of keys, of records and of meanings.
    pub(super) const fn new(text: &'static str, table: &'static [u8]) -> Self {
        let (numbers, _) = table.as_chunks::<4>();
        let (header, numbers) = numbers.split_at(3);
        let (words, numbers) = numbers.split_at(4 * u32::from_le_bytes(header[1]) as usize);
        let (meanings, slots) = numbers.split_at(2 * u32::from_le_bytes(header[2]) as usize);
        let (words, meanings) = (words.as_chunks().0, meanings.as_chunks().0);
        Self { text, keys: u32::from_le_bytes(header[0]), words, meanings, slots }
    }

    fn record(&self, word: usize) -> Record {
        let [start, stem, meanings, facts] = self.words[word].map(u32::from_le_bytes);
        Record { start, stem, meanings, facts }
    }

    fn text(&self, word: usize) -> &'static str {
        &self.text[self.record(word).start as usize..self.record(word + 1).start as usize]
    }

    fn bytes(&self, word: usize) -> &'static [u8] {
        &self.text.as_bytes()[self.record(word).start as usize..self.record(word + 1).start as usize]
    }

    fn find(&self, word: &str) -> Option<usize> {
        let mut slot = hash(word);
        loop {
            slot &= self.slots.len() - 1;
            match u32::from_le_bytes(self.slots[slot]) {
                NONE => return None,
                found if self.bytes(found as usize) == word.as_bytes() => return Some(found as usize),
                _ => slot += 1,
            }
        }
    }

    fn facts(&self, word: &str) -> u32 {
        self.find(word).map_or(0, |word| self.record(word).facts)
    }

    /// Whether a fact holds for a word.
    pub(super) fn is(&self, word: &str, fact: u32) -> bool {
        self.facts(word) & fact != 0
    }

    /// The stem of a word, where the list has it.
    pub(super) fn stem(&self, word: &str) -> Option<&'static str> {
        let stem = self.record(self.find(word)?).stem;
        (stem != NONE).then(|| self.text(stem as usize))
    }

    /// The meanings of a stem, or of stems with a space between them.
    pub(super) fn of<'t>(&self, key: &str) -> impl Iterator<Item = Synonym<'t>> + use<'t> {
        let found = self.find(key);
        let range = found.map_or(0..0, |word| {
            self.record(word).meanings as usize..self.record(word + 1).meanings as usize
        });
        let (text, words) = (self.text, self.words);
        self.meanings[range].iter().map(move |meaning| {
            let [stem, weight] = meaning.map(u32::from_le_bytes);
            let start = |word: usize| u32::from_le_bytes(words[word][0]) as usize;
            Synonym {
                stem: &text[start(stem as usize)..start(stem as usize + 1)],
                weight: f32::from_bits(weight),
            }
        })
    }

    /// Whether it has meanings of a stem.
    pub(super) fn knows(&self, key: &str) -> bool {
        self.of(key).next().is_some()
    }

    /// Distinctiveness of a stem, from 0 to 1: a stem that many words mean has little.
    pub(super) fn tells(&self, stem: &str) -> f32 {
        let all = self.keys.max(2) as f32;
        let meant = (self.facts(stem) >> MEANT) as f32;
        (all / (1.0 + meant)).ln() / all.ln()
    }

    /// The common stem of all forms of a word. A lookup takes less time than stemming.
    pub(super) fn stemmed<'w>(&self, word: &'w str) -> Cow<'w, str> {
        self.stem(word).map_or_else(|| stemmed(word), Cow::Borrowed)
    }

    /// Every word that has meanings.
    #[cfg(test)]
    pub(super) fn keys(&self) -> impl Iterator<Item = &'static str> {
        let has = |word: &usize| self.record(*word).meanings < self.record(word + 1).meanings;
        (0..self.words.len().saturating_sub(1)).filter(has).map(|word| self.text(word))
    }
}

//! Spelling: replaces unknown words by the ones that were probably meant.

use bytes::Bytes;
use strsim::damerau_levenshtein;

use super::columns::{ColumnReader, ColumnWriter, Columns, Numbers, Rows, integer};
use crate::finding::SlipPolicy;

/// Words that are spelled well, by first character and length.
#[derive(Debug, Default)]
pub(super) struct Spelling {
    /// All words, one after another.
    text: Bytes,
    /// First character and length of the words of each row, sorted.
    groups: Numbers,
    /// For each word the set of its letters, and its bytes in the text; sorted.
    words: Rows<3>,
}

/// Characters of the shortest word that is corrected.
const MIN_LENGTH: usize = SlipPolicy::QUERY_WORD.one_edit;
/// Longer ones are no words.
const MAX_LENGTH: usize = 24;

/// The set of a word's letters, as bits.
fn letters(word: &str) -> u32 {
    word.chars().fold(0, |bits, c| bits | 1 << (c as u32 % 32))
}

impl Spelling {
    /// Takes these words as correct.
    pub(super) fn of<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let mut known: Vec<([u32; 3], &str)> = Vec::new();
        for word in words.filter(|word| word.chars().all(char::is_alphabetic)) {
            let length = word.chars().count();
            if let Some(first) =
                word.chars().next().filter(|_| (MIN_LENGTH - 1..=MAX_LENGTH + 2).contains(&length))
            {
                known.push(([first as u32, length as u32, letters(word)], word));
            }
        }
        known.sort_unstable();
        known.dedup();
        let (mut text, mut groups): (String, Vec<u32>) = Default::default();
        let rows = known.chunk_by(|(one, _), (next, _)| one[..2] == next[..2]);
        let rows: Vec<Vec<[u32; 3]>> = rows
            .map(|row| {
                groups.extend(&row[0].0[..2]);
                let record = |([_, _, letters], word): &([u32; 3], &str)| {
                    text.push_str(word);
                    [*letters, (text.len() - word.len()) as u32, text.len() as u32]
                };
                row.iter().map(record).collect()
            })
            .collect();
        Self { text: text.into(), groups: groups.into_iter().collect(), words: Rows::of(rows) }
    }

    /// The words with this first character and length whose letters differ from these in at most so many.
    fn group(&self, first: char, length: usize, letters: u32, most: u32) -> impl Iterator<Item = &str> {
        let groups = self.groups.all().as_chunks::<2>().0;
        let wanted = (first as u32, length as u32);
        let row = groups.binary_search_by_key(&wanted, |&[first, length]| (integer(first), integer(length)));
        let words = row.map_or(&[][..], |row| self.words.row(row)).iter();
        let near = words.filter(move |&&[known, ..]| (letters ^ integer(known)).count_ones() <= most);
        near.filter_map(|&[_, start, end]| {
            let text = self.text.get(integer(start) as usize..integer(end) as usize)?;
            std::str::from_utf8(text).ok()
        })
    }

    /// The word of one of these that was probably meant; `None` where several are as near.
    pub(super) fn nearest<'s>(word: &str, all: &[&'s Self]) -> Option<&'s str> {
        let length = word.chars().count();
        if !(MIN_LENGTH..=MAX_LENGTH).contains(&length) || !word.chars().all(char::is_alphabetic) {
            return None;
        }
        let allowed = SlipPolicy::QUERY_WORD.max_edits(length);
        let (first, own) = (word.chars().next()?, letters(word));
        let mut best: Option<(usize, &str)> = None;
        let mut is_unique = true;
        for near in length.saturating_sub(allowed)..=length + allowed {
            // Each edit changes at most two letters.
            for known in all.iter().flat_map(|one| one.group(first, near, own, 2 * allowed as u32)) {
                let distance = damerau_levenshtein(word, known);
                match best {
                    _ if distance > allowed => {}
                    Some((least, _)) if distance > least => {}
                    // Both lists can have it.
                    Some((least, best)) if distance == least => is_unique &= best == known,
                    _ => (best, is_unique) = (Some((distance, known)), true),
                }
            }
        }
        best.filter(|_| is_unique).map(|(_, word)| word)
    }
}

impl Columns for Spelling {
    fn write(&self, to: &mut ColumnWriter) {
        self.text.write(to);
        self.groups.write(to);
        self.words.write(to);
    }

    fn read(from: &mut ColumnReader) -> Option<Self> {
        Some(Self { text: Columns::read(from)?, groups: Columns::read(from)?, words: Columns::read(from)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: Option<&str>) {
        let spelling = Spelling::of(
            ["weather", "directory", "document", "repository", "forecast", "house", "mouse"].into_iter(),
        );
        assert_eq!(Spelling::nearest(word, &[&spelling, &spelling]), expected, "{word}");
    }

    #[test]
    fn a_slip_is_mended_and_another_word_is_left() {
        check("wether", Some("weather"));
        check("documnet", Some("document"));
        check("repositroy", Some("repository"));
        check("direktory", Some("directory"));
        check("Paris", None);
        check("horse", Some("house"));
        check("cat", None);
        check("x1234567", None);
    }
}

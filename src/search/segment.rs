//! Splits names that are written as one word: `airqualityforecast` is about air, quality and forecast.

use hashbrown::HashSet;

use super::languages::{ENGLISH, is_stop};
use super::stemming::stemmed;
use super::words::{Word, words};
use super::{Field, IndexEntry};

/// The words that such a name may consist of.
#[derive(Debug)]
pub(super) struct Segments {
    words: HashSet<String>,
}

/// Shortest and longest name that is split: shorter ones are words themselves, longer ones no words at all.
const LENGTH: std::ops::RangeInclusive<usize> = 7..=40;
/// The shortest part.
const MIN_PART: usize = 3;

impl Segments {
    /// Names may consist of words of these texts, and of common words.
    pub(super) fn of(entries: &[IndexEntry]) -> Self {
        let texts = entries.iter().flat_map(|entry| &entry.texts).filter(|(field, _)| *field == Field::Long);
        let mut known = HashSet::new();
        let mut see = |word: Word<'_>| {
            let is_new = !word.joined && word.text.len() >= MIN_PART && !known.contains(word.text);
            if is_new && word.text.is_ascii() && !is_stop(word.text) {
                known.insert(word.text.to_string());
            }
        };
        for written in texts.flat_map(|(_, text)| text.split_whitespace()) {
            words(written, &mut see);
        }
        Self { words: known }
    }

    /// The parts of a name; `None` for a word, or where it cannot be split. The fewest parts win.
    pub(super) fn split(&self, name: &str) -> Vec<String> {
        if !LENGTH.contains(&name.len())
            || !name.bytes().all(|byte| byte.is_ascii_lowercase())
            || self.knows(name)
        {
            return Vec::new();
        }
        // The fewest parts up to each position, and the start of the last part.
        let mut best: Vec<Option<(usize, usize)>> = vec![None; name.len() + 1];
        best[0] = Some((0, 0));
        for end in MIN_PART..=name.len() {
            for start in 0..=end - MIN_PART {
                let Some((parts, _)) = best[start] else { continue };
                let is_better = best[end].is_none_or(|(least, _)| parts + 1 < least);
                if is_better && self.knows(&name[start..end]) {
                    best[end] = Some((parts + 1, start));
                }
            }
        }
        let mut parts = Vec::new();
        let mut end = name.len();
        while let Some((_, start)) = best[end].filter(|_| end > 0) {
            parts.push(name[start..end].to_string());
            end = start;
        }
        parts.reverse();
        parts
    }

    fn knows(&self, word: &str) -> bool {
        self.words.contains(word) || (ENGLISH.knows(&stemmed(word)) && !is_stop(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_several_words_is_taken_apart_and_a_word_is_not() {
        let text = "Get the two-day air quality forecast. Search funds.".to_string();
        let entries = [IndexEntry { exact: Vec::new(), texts: vec![(Field::Long, text)] }];
        let segments = Segments::of(&entries);
        assert_eq!(segments.split("airqualityforecast"), ["air", "quality", "forecast"]);
        assert_eq!(segments.split("forecast"), Vec::<String>::new());
        assert_eq!(segments.split("xyzzyplugh"), Vec::<String>::new());
    }
}

//! Spelling: replaces unknown words by the ones that were probably meant.

use hashbrown::HashMap;
use strsim::damerau_levenshtein;

use toolcrib_definition::finding::SlipPolicy;

/// Words that are spelled well, by first character and length, each with the set of its letters.
#[derive(Debug, Default)]
pub(super) struct Spelling(HashMap<(char, usize), Vec<WithLetters>>);

/// The set of a word's letters, and the word.
type WithLetters = (u32, Box<str>);

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
        let mut groups: HashMap<_, Vec<_>> = HashMap::new();
        for word in words.filter(|word| word.chars().all(char::is_alphabetic)) {
            let length = word.chars().count();
            let first = word.chars().next().filter(|_| (MIN_LENGTH - 1..=MAX_LENGTH + 2).contains(&length));
            if let Some(first) = first {
                groups.entry((first, length)).or_default().push((letters(word), word.into()));
            }
        }
        Self(groups)
    }

    /// The words with this first character and length whose letters differ from these in at most so many.
    fn group(&self, first: char, length: usize, letters: u32, most: u32) -> impl Iterator<Item = &str> {
        let words = self.0.get(&(first, length)).into_iter().flatten();
        let near = words.filter(move |(known, _)| (letters ^ known).count_ones() <= most);
        near.map(|(_, word)| &**word)
    }

    /// The word that was probably meant; `None` where several are as near.
    pub(super) fn nearest(&self, word: &str) -> Option<&str> {
        let length = word.chars().count();
        if !(MIN_LENGTH..=MAX_LENGTH).contains(&length) || !word.chars().all(char::is_alphabetic) {
            return None;
        }
        let allowed = SlipPolicy::QUERY_WORD.max_edits(length);
        let first = word.chars().next()?;
        let own = letters(word);
        let mut best: Option<(usize, &str)> = None;
        let mut is_unique = true;
        for near in length.saturating_sub(allowed)..=length + allowed {
            // Each edit changes at most two letters.
            for known in self.group(first, near, own, 2 * allowed as u32) {
                let distance = damerau_levenshtein(word, known);
                match best {
                    _ if distance > allowed => {}
                    Some((least, _)) if distance > least => {}
                    Some((least, _)) if distance == least => is_unique = false,
                    _ => (best, is_unique) = (Some((distance, known)), true),
                }
            }
        }
        best.filter(|_| is_unique).map(|(_, word)| word)
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
        assert_eq!(spelling.nearest(word), expected, "{word}");
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

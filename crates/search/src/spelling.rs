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
const MAX_LENGTH: usize = 60;

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
            if let Some(first) = word.chars().next()
                && (MIN_LENGTH - 1..=MAX_LENGTH + 2).contains(&length)
            {
                groups.entry((first, length)).or_default().push((letters(word), word.into()));
            }
        }
        Self(groups)
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
            let is_near = |has: &u32| (own ^ has).count_ones() as usize <= 2 * allowed;
            let known = self.0.get(&(first, near)).into_iter().flatten();
            for known in known.filter(|(has, _)| is_near(has)).map(|(_, known)| &**known) {
                let distance = damerau_levenshtein(word, known);
                match best {
                    _ if distance > allowed => {}
                    Some((least, _)) if distance > least => {}
                    Some((least, _)) if distance == least => is_unique = false,
                    _ => (best, is_unique) = (Some((distance, known)), true),
                }
            }
        }
        if is_unique { best.map(|(_, word)| word) } else { None }
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

//! Many phrases, found in one pass over a text.

/// Phrases that begin with an ASCII letter or digit, by that byte.
pub(super) struct Phrases {
    by_first: [Vec<(usize, &'static str)>; 128],
}

impl Phrases {
    pub(super) fn of(phrases: impl Iterator<Item = &'static str>) -> Self {
        let mut by_first = [const { Vec::new() }; 128];
        for (rank, phrase) in phrases.enumerate() {
            let first = phrase.bytes().next().and_then(|first| by_first.get_mut(usize::from(first)));
            first.into_iter().for_each(|list| list.push((rank, phrase)));
        }
        Self { by_first }
    }

    /// The rank and the start of each phrase that begins where no word goes on, by ranks and then by starts.
    pub(super) fn places(&self, text: &str) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        let mut is_border = true;
        for (at, c) in text.char_indices() {
            if is_border && let Some(phrases) = self.by_first.get(c as usize) {
                let here = phrases.iter().filter(|(_, phrase)| text[at..].starts_with(phrase));
                places.extend(here.map(|(rank, _)| (*rank, at)));
            }
            is_border = !c.is_alphanumeric();
        }
        places.sort_unstable();
        places
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Phrases;

    proptest! {
        #[test]
        fn phrases_are_found_where_a_search_for_each_finds_them(text in "[ab1é .]{0,24}") {
            let phrases = ["a", "ab", "a b", "b1", "1", "b."];
            let mut expected = Vec::new();
            for (rank, phrase) in phrases.iter().enumerate() {
                let starts = text.char_indices().map(|(at, _)| at).filter(|at| text[*at..].starts_with(phrase));
                let borders = starts.filter(|at| !text[..*at].ends_with(char::is_alphanumeric));
                expected.extend(borders.map(|at| (rank, at)));
            }
            prop_assert_eq!(Phrases::of(phrases.into_iter()).places(&text), expected);
        }
    }
}

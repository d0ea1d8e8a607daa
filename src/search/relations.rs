//! The word lists of `words/` as their authors write them: `=` means the same, `>` needs the right. A line is a relation.

use super::thesaurus::{Thesaurus, phrase};

/// Weight of a synonym.
const SAME: f32 = 0.56;
/// Weight of the first related word, and the factor from each to the next.
const RELATED: f32 = 0.44;
const FURTHER: f32 = 0.93;

impl Thesaurus {
    /// Reads the lines of a list; `key` makes a key of a word that people say.
    pub(super) fn read(text: &str, key: impl Fn(&str) -> String) -> Self {
        let mut thesaurus = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some((left, right)) = line.split_once(" > ") {
                let mut weight = RELATED;
                for right in right.split(", ") {
                    thesaurus.add(key(left), &phrase(right), weight);
                    weight *= FURTHER;
                }
            } else if let Some((left, right)) = line.split_once(" = ") {
                let all: Vec<&str> = std::iter::once(left).chain(right.split(", ")).collect();
                for one in &all {
                    for other in all.iter().filter(|other| *other != one) {
                        thesaurus.add(key(one), &phrase(other), SAME);
                    }
                }
            }
        }
        thesaurus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_the_same_holds_both_ways_and_what_is_needed_one_way() {
        let list = Thesaurus::read("buy = purchase, order\ngift > shopping, present\n", phrase);
        let stems = |key| list.of(key).map(|meaning| meaning.stem).collect::<Vec<_>>();
        assert_eq!(stems("order"), ["buy", "purchas"]);
        assert_eq!(stems("gift"), ["shop", "present"]);
        assert!(stems("shop").is_empty());
    }

    #[test]
    fn every_line_of_the_lists_is_a_relation() {
        let lists = [
            include_str!("words/english.txt"),
            include_str!("words/de.txt"),
            include_str!("words/fr.txt"),
            include_str!("words/es.txt"),
            include_str!("words/pt.txt"),
            include_str!("words/it.txt"),
            include_str!("words/ru.txt"),
            include_str!("words/uk.txt"),
            include_str!("words/zh.txt"),
            include_str!("words/ja.txt"),
            include_str!("words/ko.txt"),
        ];
        for line in lists.iter().flat_map(|list| list.lines()) {
            let is_relation = line.split_once(" > ").or_else(|| line.split_once(" = ")).is_some();
            assert!(is_relation || line.is_empty() || line.starts_with('#'), "{line}");
        }
    }
}

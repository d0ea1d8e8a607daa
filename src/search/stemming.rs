//! Stems of words: one text for all forms of a word, in English and Russian.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

/// Words that the stemmer takes for forms of another word: words with these beginnings keep their own stem.
const IRREGULAR_STEMS: [(&str, &str); 22] = [
    ("animal", "animal"),
    ("author", "author"),
    ("authorit", "authority"),
    ("authoris", "authorize"),
    ("authoriz", "authorize"),
    ("customer", "customer"),
    ("executive", "executive"),
    ("experience", "experience"),
    ("experiment", "experiment"),
    ("general", "general"),
    ("important", "important"),
    ("importance", "important"),
    ("operator", "operator"),
    ("organ", "organ"),
    ("organis", "organize"),
    ("organisation", "organization"),
    ("organiz", "organize"),
    ("organization", "organization"),
    ("paste", "paste"),
    ("station", "station"),
    ("univers", "universe"),
    ("universit", "university"),
];

/// The stem of such a word: the longest beginning counts, and at most an ending may follow it.
fn irregular_stem(word: &str) -> Option<&'static str> {
    let begins = IRREGULAR_STEMS.iter().filter(|(beginning, _)| word.starts_with(beginning));
    let (beginning, stem) = begins.max_by_key(|(beginning, _)| beginning.len())?;
    (word.len() <= beginning.len() + 3).then_some(stem)
}

/// The common stem of all forms of a word.
pub(super) fn stemmed(word: &str) -> Cow<'_, str> {
    if let Some(stem) = irregular_stem(word) {
        return stem.into();
    }
    let is_ascii = word.bytes().all(|byte| byte.is_ascii_lowercase());
    if is_ascii && word.len() > 2 {
        Stemmer::create(Algorithm::English).stem(word)
    } else if word.chars().all(|c| ('\u{430}'..='\u{451}').contains(&c)) {
        Stemmer::create(Algorithm::Russian).stem(word)
    } else {
        word.into()
    }
}

/// The lists of languages beside English that people ask in, with the stemmer of each.
pub(super) const FOREIGN: [(&str, Option<Algorithm>); 7] = [
    (include_str!("words/de.txt"), Some(Algorithm::German)),
    (include_str!("words/fr.txt"), Some(Algorithm::French)),
    (include_str!("words/es.txt"), Some(Algorithm::Spanish)),
    (include_str!("words/pt.txt"), Some(Algorithm::Portuguese)),
    (include_str!("words/it.txt"), Some(Algorithm::Italian)),
    (include_str!("words/ru.txt"), Some(Algorithm::Russian)),
    (include_str!("words/uk.txt"), None),
];

/// A word as the list of its language has it.
pub(super) fn foreign_stem(word: &str, algorithm: Option<Algorithm>) -> Cow<'_, str> {
    algorithm.map_or(Cow::Borrowed(word), |algorithm| Stemmer::create(algorithm).stem(word))
}

#[cfg(test)]
mod tests {
    use super::stemmed as stem;

    #[test]
    fn stems_join_forms() {
        assert_eq!(stem("booking"), stem("books"));
        assert_eq!(stem("файлы"), stem("файлов"));
        assert_eq!(stem("k8s"), "k8s");
        assert_eq!(stem("organisations"), stem("organization"));
        assert_eq!(stem("authorizing"), stem("authorise"));
        for (one, other) in
            [("customer", "custom"), ("author", "authorize"), ("organ", "organize"), ("paste", "past")]
        {
            assert_ne!(stem(one), stem(other));
        }
    }
}

//! Stems of words: one text for all forms of a word, in English, Russian and Hindi.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

use super::words::plain;

/// The common stem of all forms of a word.
pub(super) fn stemmed(word: &str) -> Cow<'_, str> {
    let is_ascii = word.bytes().all(|byte| byte.is_ascii_lowercase());
    if is_ascii && word.len() > 2 {
        Stemmer::create(Algorithm::English).stem(word)
    } else if word.chars().all(|c| ('\u{430}'..='\u{451}').contains(&c)) {
        Stemmer::create(Algorithm::Russian).stem(word)
    } else if word.chars().all(|c| ('\u{900}'..='\u{97f}').contains(&c)) {
        hindi(word).into()
    } else {
        word.into()
    }
}

/// A Hindi word without the vowels and nasals of its ending: forms of gender, number and case.
fn hindi(word: &str) -> &str {
    let is_ending =
        |c: char| matches!(c, '\u{900}'..='\u{902}' | '\u{905}'..='\u{914}' | '\u{93e}'..='\u{94c}');
    let bare = word.trim_end_matches(is_ending);
    let bare = bare.strip_suffix("िय").unwrap_or(bare);
    if bare.chars().count() > 1 { bare } else { word }
}

/// A text as the stems of its words.
pub(super) fn phrase(text: &str) -> String {
    plain(text).iter().map(|word| stemmed(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::stemmed as stem;

    #[test]
    fn stems_join_forms() {
        assert_eq!(stem("booking"), stem("books"));
        assert_eq!(stem("файлы"), stem("файлов"));
        assert_eq!(stem("टिप्पणी"), stem("टिप्पणियाँ"));
        assert_eq!(stem("k8s"), "k8s");
    }
}

//! Names in ASCII letters for titles of other alphabets: without diacritics, and Cyrillic and Greek letter by letter.

use unicode_normalization::UnicodeNormalization;

/// Lower-case letters with their usual spelling.
const LETTERS: [(&str, &[&str]); 3] = [
    (
        "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґђјљњћџ",
        &[
            "a", "b", "v", "g", "d", "e", "zh", "z", "i", "i", "k", "l", "m", "n", "o", "p", "r", "s", "t",
            "u", "f", "kh", "ts", "ch", "sh", "shch", "", "y", "", "e", "iu", "ia", "i", "i", "ie", "g",
            "dj", "j", "lj", "nj", "c", "dz",
        ],
    ),
    (
        "αβγδεζηθικλμνξοπρστυφχψως",
        &[
            "a", "v", "g", "d", "e", "z", "i", "th", "i", "k", "l", "m", "n", "x", "o", "p", "r", "s", "t",
            "y", "f", "ch", "ps", "o", "s",
        ],
    ),
    ("ßæœøłđðþı", &["ss", "ae", "oe", "o", "l", "d", "d", "th", "i"]),
];

/// Words of a title in lower-case ASCII letters and digits, joined by hyphens; empty where its script has no such spelling.
pub(super) fn hyphenated(title: &str) -> String {
    let lower: String = title.nfc().flat_map(char::to_lowercase).collect();
    let spelled: String = lower.chars().map(spelling).collect();
    let words = spelled.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// A letter in ASCII; a hyphen where it has no spelling.
fn spelling(letter: char) -> String {
    if letter.is_ascii() {
        return letter.to_string();
    }
    // The spelling of a letter of its own, such as `й`, comes before that of its parts.
    let parts = std::iter::once(letter).nfd().filter(|part| !is_mark(*part));
    let spelled = known(letter).map(str::to_string);
    spelled.unwrap_or_else(|| {
        parts
            .map(|part| if part.is_ascii() { part.to_string() } else { known(part).unwrap_or("-").into() })
            .collect()
    })
}

fn known(letter: char) -> Option<&'static str> {
    LETTERS.iter().find_map(|(letters, spellings)| {
        spellings.get(letters.chars().position(|known| known == letter)?).copied()
    })
}

fn is_mark(part: char) -> bool {
    unicode_normalization::char::is_combining_mark(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_of_other_alphabets_have_names_that_can_be_read() {
        for (title, name) in [
            ("Pull Requests & Reviews", "pull-requests-reviews"),
            ("Überweisungen", "uberweisungen"),
            ("Größe & Łódź", "grosse-lodz"),
            ("Объект ещё", "obekt-eshche"),
            ("Мой", "moi"),
            ("Εργασίες", "ergasies"),
            ("Çeviri İşleri", "ceviri-isleri"),
            ("长亭 IP 情报", "ip"),
            ("长", ""),
        ] {
            assert_eq!(hyphenated(title), name, "{title}");
        }
        for (letters, spellings) in LETTERS {
            assert_eq!(letters.chars().count(), spellings.len(), "{letters}");
        }
    }
}

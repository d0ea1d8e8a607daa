//! Splits texts into words: identifiers are taken apart and accents removed, in any script.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Class of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Upper,
    Lower,
    Digit,
    /// Written without spaces between words.
    Dense,
    Between,
}

/// Longest word, in bytes.
const MAX_BYTES: usize = 160;

/// Calls with each word of a text, in order: in lower case, without accents.
pub(super) fn words(text: &str, mut each: impl FnMut(&str)) {
    // Most words of prose need no look at each character: small letters with signs between them, or a capital before them.
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_punctuation() && byte != b'\'';
    if text.bytes().all(is_plain) {
        let parts = text.split(|c: char| !c.is_ascii_lowercase());
        let parts = parts.filter(|part| (1..=MAX_BYTES).contains(&part.len()));
        return parts.for_each(each);
    }
    let bare = text.trim_end_matches(|c: char| c.is_ascii_punctuation());
    if bare.starts_with(|c: char| c.is_ascii_uppercase())
        && bare.len() <= MAX_BYTES
        && bare.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
    {
        return each(&bare.to_ascii_lowercase());
    }
    let mut run = Run::default();
    if text.is_ascii() {
        text.chars().for_each(|c| run.take(c, &mut each));
    } else {
        for c in text.nfkc().filter(|c| !is_accent(*c)) {
            match unaccented(c) {
                Some(base) => run.take(base, &mut each),
                None if c == 'ß' => "ss".chars().for_each(|c| run.take(c, &mut each)),
                None => run.take(c, &mut each),
            }
        }
    }
    run.end(&mut each);
}

/// The words of a text.
pub(super) fn plain(text: &str) -> Vec<String> {
    let mut list = Vec::new();
    words(text, |word| list.push(word.to_string()));
    list
}

/// Latin letters without their accents.
fn unaccented(c: char) -> Option<char> {
    if !('\u{c0}'..'\u{250}').contains(&c) && !('\u{1e00}'..'\u{1f00}').contains(&c) {
        return None;
    }
    std::iter::once(c).nfd().next().filter(char::is_ascii_alphabetic)
}

/// Whether a mark is left out: accents that make no letter with the one before, and the dot of Hindi, which many omit.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{93c}')
}

fn kind(c: char) -> CharClass {
    match c {
        'a'..='z' => CharClass::Lower,
        'A'..='Z' => CharClass::Upper,
        '0'..='9' => CharClass::Digit,
        _ if c.is_ascii() => CharClass::Between,
        // Thai and Lao; Japanese syllables; Chinese characters; Korean syllables; Chinese characters of later planes.
        '\u{e00}'..='\u{eff}'
        | '\u{3041}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => CharClass::Dense,
        _ if c.is_uppercase() => CharClass::Upper,
        // The virama of Hindi is no letter, and part of a word.
        _ if c.is_alphabetic() || is_combining_mark(c) => CharClass::Lower,
        _ if c.is_numeric() => CharClass::Digit,
        _ => CharClass::Between,
    }
}

/// A run of letters and digits.
#[derive(Default)]
struct Run {
    /// The word that is being read.
    word: String,
    kinds: Option<(CharClass, CharClass)>,
    /// Characters of a dense script.
    dense: String,
    apostrophe: bool,
}

impl Run {
    fn take(&mut self, c: char, each: &mut impl FnMut(&str)) {
        let kind = kind(c);
        if kind != CharClass::Dense && !self.dense.is_empty() {
            self.end_dense(each);
        }
        match kind {
            CharClass::Between => {
                let apostrophe = matches!(c, '\'' | '\u{2019}') && !self.word.is_empty();
                self.end(each);
                self.apostrophe = apostrophe;
            }
            CharClass::Dense => {
                if !self.word.is_empty() {
                    self.end(each);
                }
                self.dense.push(c);
            }
            _ => {
                if let Some((before, last)) = self.kinds {
                    let is_number_border = (last == CharClass::Digit) != (kind == CharClass::Digit);
                    if is_number_border || (last, kind) == (CharClass::Lower, CharClass::Upper) {
                        self.part(each);
                    } else if (before, last, kind) == (CharClass::Upper, CharClass::Upper, CharClass::Lower) {
                        // HTMLPage: the last capital begins the next word.
                        if let Some(last) = self.word.pop() {
                            self.part(each);
                            self.word.push(last);
                        }
                    }
                }
                self.word.extend(c.to_lowercase());
                let last = self.kinds.map_or(kind, |(_, last)| last);
                self.kinds = Some((last, kind));
            }
        }
    }

    /// Ends a word.
    fn part(&mut self, each: &mut impl FnMut(&str)) {
        let text = self.word.as_str();
        // The rest of "user's" and "don't".
        let is_rest = !text.is_empty()
            && std::mem::take(&mut self.apostrophe)
            && matches!(text, "s" | "t" | "re" | "ve" | "ll" | "d" | "m");
        if !is_rest && (1..=MAX_BYTES).contains(&text.len()) {
            each(text);
        }
        self.word.clear();
        self.kinds = None;
    }

    fn end(&mut self, each: &mut impl FnMut(&str)) {
        self.end_dense(each);
        self.part(each);
    }

    /// Pairs of characters of a dense script are words, since no spaces mark word borders. What follows a hiragana in a text with
    /// other characters is an ending or comes after a particle, and says nothing of the meaning.
    fn end_dense(&mut self, each: &mut impl FnMut(&str)) {
        let run = std::mem::take(&mut self.dense);
        let is_mixed = !run.chars().all(is_hiragana);
        let borders: Vec<usize> = run.char_indices().map(|(place, _)| place).chain([run.len()]).collect();
        if borders.len() == 2 {
            each(&run);
        }
        let pairs = borders.windows(3).map(|pair| &run[pair[0]..pair[2]]);
        pairs.filter(|pair| !(is_mixed && pair.starts_with(is_hiragana))).for_each(each);
    }
}

fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309f}')
}

/// Whether a word is of a script without spaces.
pub(super) fn is_dense(word: &str) -> bool {
    word.chars().next().is_some_and(|c| kind(c) == CharClass::Dense)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        words(text, |word| found.push(word.to_string()));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn identifiers_are_split() {
        check("create_issue", &["create", "issue"]);
        check("getUserToken", &["get", "user", "token"]);
        check("parseHTMLPage", &["parse", "html", "page"]);
        check("GitHub", &["git", "hub"]);
        check("s3 mp3", &["s", "3", "mp", "3"]);
        check("PDF&URLTool", &["pdf", "url", "tool"]);
        check("math.factorial", &["math", "factorial"]);
    }

    #[test]
    fn what_an_apostrophe_leaves_is_no_word() {
        check("user's don't l'eau", &["user", "don", "l", "eau"]);
    }

    #[test]
    fn accents_and_width_make_no_difference() {
        check("Müller café ＡＢＣ Straße", &["muller", "cafe", "abc", "strasse"]);
    }

    #[test]
    fn scripts_without_spaces_are_words_in_pairs() {
        check("天气预报", &["天气", "气预", "预报"]);
        check("IP地址", &["ip", "地址"]);
        check("法令を調べてください", &["法令", "令を", "調べ"]);
        check("ください", &["くだ", "ださ", "さい"]);
        check("नया संपर्क जोड़ें", &["नया", "संपर्क", "जोडें"]);
        check("Найти файлы", &["найти", "файлы"]);
    }
}

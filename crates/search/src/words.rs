//! Splits texts into words: identifiers are taken apart and accents removed, in any script.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use super::meaning::is_word;
use super::thesaurus::is_stop;

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'t> {
    /// The word in lower case, without accents.
    pub(super) text: &'t str,
    /// Whether it joins the words before it: `github` after `git` and `hub`.
    pub(super) joined: bool,
}

/// Class of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Upper,
    Lower,
    Digit,
    /// Written without spaces between words.
    Dense,
    Between,
}

/// Most words of an identifier that is also a word as a whole.
const MAX_JOINED: usize = 3;
/// Longest such word, in characters, and longest word at all, in bytes.
const MAX_WORD: usize = 40;
const MAX_BYTES: usize = 4 * MAX_WORD;

/// Calls with each word of a text, in order.
pub(super) fn words(text: &str, mut each: impl FnMut(Word<'_>)) {
    // Most words of prose need no look at each character: small letters with signs between them, or a capital before them.
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_punctuation() && byte != b'\'';
    if text.bytes().all(is_plain) {
        let parts = text.split(|c: char| !c.is_ascii_lowercase());
        let parts = parts.filter(|part| (1..=MAX_BYTES).contains(&part.len()));
        return parts.for_each(|text| each(Word { text, joined: false }));
    }
    let bare = text.trim_end_matches(|c: char| c.is_ascii_punctuation());
    if bare.starts_with(|c: char| c.is_ascii_uppercase())
        && bare.len() <= MAX_BYTES
        && bare.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
    {
        return each(Word { text: &bare.to_ascii_lowercase(), joined: false });
    }
    let mut run = Run::default();
    if text.is_ascii() {
        for c in text.chars() {
            run.take(c, &mut each);
        }
    } else {
        for c in text.nfkc() {
            match unaccented(c) {
                Some(base) => run.take(base, &mut each),
                None if c == 'ß' => "ss".chars().for_each(|c| run.take(c, &mut each)),
                None => run.take(c, &mut each),
            }
        }
    }
    run.end(&mut each);
}

/// The words of a text, without joined ones.
pub(super) fn plain(text: &str) -> Vec<String> {
    let mut list = Vec::new();
    words(text, |word| {
        if !word.joined {
            list.push(word.text.to_string());
        }
    });
    list
}

/// Latin letters without their accents.
fn unaccented(c: char) -> Option<char> {
    if !('\u{c0}'..'\u{250}').contains(&c) && !('\u{1e00}'..'\u{1f00}').contains(&c) {
        return None;
    }
    std::iter::once(c).nfd().next().filter(char::is_ascii_alphabetic)
}

fn kind(c: char) -> Kind {
    match c {
        'a'..='z' => Kind::Lower,
        'A'..='Z' => Kind::Upper,
        '0'..='9' => Kind::Digit,
        _ if c.is_ascii() => Kind::Between,
        // Thai and Lao; Japanese syllables; Chinese characters; Korean syllables; Chinese characters of later planes.
        '\u{e00}'..='\u{eff}'
        | '\u{3041}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => Kind::Dense,
        _ if c.is_uppercase() => Kind::Upper,
        _ if c.is_alphabetic() => Kind::Lower,
        _ if c.is_numeric() => Kind::Digit,
        _ => Kind::Between,
    }
}

/// A run of letters and digits.
#[derive(Default)]
struct Run {
    /// The word that is being read.
    word: String,
    kinds: Option<(Kind, Kind)>,
    /// The words written together with this one.
    whole: String,
    parts: usize,
    /// Characters of a dense script.
    dense: String,
    apostrophe: bool,
}

impl Run {
    fn take(&mut self, c: char, each: &mut impl FnMut(Word<'_>)) {
        let kind = kind(c);
        if kind != Kind::Dense && !self.dense.is_empty() {
            self.end_dense(each);
        }
        match kind {
            Kind::Between => {
                let apostrophe = matches!(c, '\'' | '\u{2019}') && !self.word.is_empty();
                self.end(each);
                self.apostrophe = apostrophe;
            }
            Kind::Dense => {
                if !self.word.is_empty() {
                    self.end(each);
                }
                self.dense.push(c);
            }
            _ => {
                if let Some((before, last)) = self.kinds {
                    let begins = match (last, kind) {
                        (Kind::Lower, Kind::Upper) => true,
                        (Kind::Digit, other) | (other, Kind::Digit) => other != Kind::Digit,
                        _ => false,
                    };
                    if begins {
                        self.part(true, each);
                    } else if (before, last, kind) == (Kind::Upper, Kind::Upper, Kind::Lower) {
                        // HTMLPage: the last capital begins the next word.
                        if let Some(last) = self.word.pop() {
                            self.part(true, each);
                            self.word.push(last);
                        }
                    }
                }
                match c.is_ascii() {
                    true => self.word.push(c.to_ascii_lowercase()),
                    false => self.word.extend(c.to_lowercase()),
                }
                let last = self.kinds.filter(|_| !self.word.is_empty()).map_or(kind, |(_, last)| last);
                self.kinds = Some((last, kind));
            }
        }
    }

    /// Ends a word, which may be joined to others.
    fn part(&mut self, is_joined: bool, each: &mut impl FnMut(Word<'_>)) {
        if self.word.is_empty() {
            return;
        }
        if is_joined {
            self.whole.push_str(&self.word);
        }
        self.parts += 1;
        self.give(each);
        self.kinds = None;
    }

    fn give(&mut self, each: &mut impl FnMut(Word<'_>)) {
        let text = self.word.as_str();
        // The rest of "user's" and "don't".
        let is_rest = std::mem::take(&mut self.apostrophe)
            && matches!(text, "s" | "t" | "re" | "ve" | "ll" | "d" | "m");
        if !is_rest && text.len() <= MAX_BYTES {
            each(Word { text, joined: false });
        }
        self.word.clear();
    }

    fn end(&mut self, each: &mut impl FnMut(Word<'_>)) {
        self.end_dense(each);
        self.part(self.parts > 0, each);
        if (2..=MAX_JOINED).contains(&self.parts) && self.whole.len() <= MAX_WORD {
            each(Word { text: &self.whole, joined: true });
        }
        self.whole.clear();
        (self.parts, self.kinds) = (0, None);
    }

    /// Pairs of characters of a dense script are words, since no spaces mark word borders.
    fn end_dense(&mut self, each: &mut impl FnMut(Word<'_>)) {
        let run = std::mem::take(&mut self.dense);
        let places: Vec<usize> = run.char_indices().map(|(place, _)| place).collect();
        match places.len() {
            0 => {}
            1 => each(Word { text: &run, joined: false }),
            count => {
                for index in 0..count - 1 {
                    let end = places.get(index + 2).copied().unwrap_or(run.len());
                    each(Word { text: &run[places[index]..end], joined: false });
                }
            }
        }
    }
}

/// Whether a word is of a script without spaces.
pub(super) fn is_dense(word: &str) -> bool {
    word.chars().next().is_some_and(|c| kind(c) == Kind::Dense)
}

// Stems of words: one text for all forms of a word, in English and Russian.

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

// Splits names that are written as one word: `airqualityforecast` is about air, quality and forecast.

/// Shortest and longest name that is split: shorter ones are words themselves, longer ones no words at all.
const LENGTH: std::ops::RangeInclusive<usize> = 7..=40;
/// The shortest part.
const MIN_PART: usize = 3;

/// The parts of a name that consists of words of descriptions and of common words; none for a word, or where it cannot be
/// split. The fewest parts win.
pub(super) fn parts_of(name: &str, is_described: impl Fn(&str) -> bool) -> Vec<String> {
    let knows = |word: &str| !is_stop(word) && (is_described(word) || is_word(word));
    if !LENGTH.contains(&name.len()) || !name.bytes().all(|byte| byte.is_ascii_lowercase()) || knows(name) {
        return Vec::new();
    }
    // The fewest parts up to each position, and the start of the last part.
    let mut best: Vec<Option<(usize, usize)>> = vec![None; name.len() + 1];
    best[0] = Some((0, 0));
    for end in MIN_PART..=name.len() {
        for start in 0..=end - MIN_PART {
            let Some((parts, _)) = best[start] else { continue };
            let is_better = best[end].is_none_or(|(least, _)| parts + 1 < least);
            if is_better && knows(&name[start..end]) {
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

#[cfg(test)]
mod tests {
    use super::{stemmed as stem, *};

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        words(text, |word| {
            found.push(if word.joined { format!("={}", word.text) } else { word.text.to_string() })
        });
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn identifiers_are_split_and_kept_whole() {
        check("create_issue", &["create", "issue"]);
        check("getUserToken", &["get", "user", "token", "=getusertoken"]);
        check("parseHTMLPage", &["parse", "html", "page", "=parsehtmlpage"]);
        check("GitHub", &["git", "hub", "=github"]);
        check("s3 k8s mp3", &["s", "3", "=s3", "k", "8", "s", "=k8s", "mp", "3", "=mp3"]);
        check("PDF&URLTool", &["pdf", "url", "tool", "=urltool"]);
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
        check("Найти файлы", &["найти", "файлы"]);
    }

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

    #[test]
    fn a_name_of_several_words_is_taken_apart_and_a_word_is_not() {
        let split = |name: &str| parts_of(name, |word| ["air", "quality", "forecast"].contains(&word));
        assert_eq!(split("airqualityforecast"), ["air", "quality", "forecast"]);
        assert_eq!(split("forecast"), Vec::<String>::new());
        assert_eq!(split("xyzzyplugh"), Vec::<String>::new());
    }
}

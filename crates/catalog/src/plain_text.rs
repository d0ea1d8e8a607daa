//! Markdown to plain text, and where its first sentence ends.

use std::sync::LazyLock;

use regex::Regex;

use toolcrib_definition::clean_line;

static LINK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"!?\[([^\[\]]*)\]\([^()\s]*\)").ok());
/// One line of plain text: links, emphasis, code ticks, bullets and headings are taken away.
pub(super) fn without_marks(line: &str) -> String {
    let line = clean_line(line);
    let has_marks = line.bytes().any(|byte| matches!(byte, b'*' | b'[' | b'<' | b'`' | b'&' | b'_'));
    let text = if has_marks { without_inline_marks(line) } else { line };
    let text = text.trim_start_matches(['#', '>', '•', '|', '-', '–', '—', '*', ':', '🔍', '💡']);
    text.trim_start_matches(|c: char| c.is_whitespace() || is_emoji(c)).trim_end().to_string()
}

fn without_inline_marks(line: String) -> String {
    let text = match &*LINK {
        Some(link) => link.replace_all(&line, "$1").into_owned(),
        None => line,
    };
    let text = text.replace("**", "").replace('`', "");
    clean_line(&without_underscores(&without_stars(&text)))
}

/// Emphasis with single stars, which stand at the borders of words and not between spaces.
fn without_stars(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_letter = |at: usize| chars.get(at).is_some_and(|c| c.is_alphanumeric());
    // Whether letters stand before and after a star.
    let around = |at: usize| (at > 0 && is_letter(at - 1), is_letter(at + 1));
    let stars: Vec<usize> = (0..chars.len()).filter(|&at| chars[at] == '*').collect();
    let paired = stars.len() == 2 && around(stars[0]) == (false, true) && around(stars[1]) == (true, false);
    chars.iter().enumerate().filter(|(at, _)| !(paired && stars.contains(at))).map(|(_, c)| c).collect()
}

/// Emphasis with `__`, which Python's own names carry too: those are followed by letters and stay.
fn without_underscores(text: &str) -> String {
    if text.starts_with("__") && text.matches("__").count() == 2 && text.contains(' ') {
        text.replacen("__", "", 2)
    } else {
        text.to_string()
    }
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

/// Words that end in a full stop without ending a sentence.
const ABBREVIATIONS: [&str; 24] = [
    "e.g", "i.e", "eg", "ie", "etc", "vs", "cf", "approx", "incl", "no", "nos", "dr", "mr", "mrs", "ms",
    "st", "inc", "ltd", "corp", "fig", "sec", "u.s", "max", "min",
];

/// Where the first sentence of a line ends.
pub(super) fn sentence_end(line: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        match c {
            '(' | '（' | '[' => depth += 1,
            ')' | '）' | ']' => depth = depth.saturating_sub(1),
            '。' | '！' | '？' if depth == 0 => return end,
            '.' | '!' | '?' if depth == 0 && ends_here(&line[..at], c, &line[end..]) => return end,
            _ => {}
        }
    }
    line.len()
}

/// Whether a mark ends a sentence, judged by the characters around it.
fn ends_here(before: &str, mark: char, after: &str) -> bool {
    let next = after.trim_start_matches(['"', '\'', '”', '’', ')']).chars().next();
    let in_word = |c: &char| !c.is_whitespace() && *c != '(';
    let word_length: usize = before.chars().rev().take(24).take_while(in_word).map(char::len_utf8).sum();
    let word = &before[before.len() - word_length..];
    let follows = after.trim_start().chars().next();
    match next {
        None => true,
        Some(c) if spaced_script(c) => word.len() > 1 || word.chars().any(spaced_script),
        Some(c) if !c.is_whitespace() => false,
        Some(_) if mark != '.' => true,
        Some(_) if ABBREVIATIONS.contains(&word.to_ascii_lowercase().as_str()) => {
            word.eq_ignore_ascii_case("etc") && follows.is_some_and(char::is_uppercase)
        }
        Some(_) if word.chars().count() == 1 && word.chars().all(char::is_uppercase) => false,
        Some(_) => !follows.is_some_and(char::is_lowercase) || word.len() > 3 && !before.ends_with('.'),
    }
}

/// Scripts that put no space between sentences.
fn spaced_script(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}')
}

//! Markdown to plain text, and where its first sentence ends.

use toolcrib_definition::clean_line;
use toolcrib_definition::markdown::Inline;

/// One line of plain text: links, emphasis, code ticks, bullets and headings are taken away.
pub(super) fn without_marks(line: &str) -> String {
    let line = clean_line(line);
    let has_marks = line.contains(['*', '[', '`', '_']);
    let text = if has_marks { clean_line(&Inline::read(&line).plain(&line)) } else { line };
    without_opening(&text).to_string()
}

/// A plain text without the bullets, the marks of headings and the emoji before it.
pub(super) fn without_opening(text: &str) -> &str {
    let text = text.trim().trim_start_matches(['#', '>', '•', '|', '-', '–', '—', '*', ':', '🔍', '💡']);
    text.trim_start_matches(|c: char| c.is_whitespace() || is_emoji(c))
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

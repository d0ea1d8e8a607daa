//! Text as code: a span on one line, or a fenced block.

use super::markers::break_marker;
use super::plain::{is_markup_in_code, is_plain};
use toolcrib_definition::{clean_line, clean_text};

/// Text as an inline code span on one line; empty text gives an empty string.
pub(crate) fn code(text: &str) -> String {
    if is_plain(text, is_markup_in_code) {
        return if text.is_empty() { String::new() } else { ["`", text, "`"].concat() };
    }
    let line = clean_line(text);
    let line = break_marker(&line, "<! --");
    if line.is_empty() {
        return String::new();
    }
    let runs: Vec<usize> = backtick_runs(&line).map(|(_, length)| length).collect();
    let length = (1..).find(|length| !runs.contains(length)).unwrap_or(1);
    let ticks = "`".repeat(length);
    let pad = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{line}{pad}{ticks}")
}

/// Text as a fenced code block that its content cannot close.
pub(crate) fn fence(language: &str, text: &str) -> String {
    let text = clean_text(text);
    let text = break_marker(&text, if language == "json" { "\\u003c!--" } else { "<! --" });
    let longest = backtick_runs(&text).map(|(_, length)| length).max().unwrap_or(0);
    let ticks = "`".repeat(longest.max(2) + 1);
    let language: String =
        language.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+')).collect();
    let end = if text.is_empty() { "" } else { "\n" };
    format!("{ticks}{language}\n{text}{end}{ticks}")
}

/// Starts and lengths of the runs of backticks.
fn backtick_runs(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text.get(from..)?.find('`')?;
        let length = text.len() - start - text[start..].trim_start_matches('`').len();
        from = start + length;
        Some((start, length))
    })
}

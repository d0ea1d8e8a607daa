//! Texts within a cap: cut after a clause or a word, with an ellipsis.

use unicode_segmentation::UnicodeSegmentation;

use crate::config::ShortDescription as Cap;
use toolcrib_definition::tokens::token_count;

/// Whether a text is within a cap.
fn holds(cap: Cap, text: &str) -> bool {
    text.chars().count() <= cap.max_chars && token_count(text) <= cap.max_tokens
}

/// `Some` shortened text when a text is over the cap: cut after a clause or a word, with an ellipsis.
pub fn capped(text: &str, cap: Cap) -> Option<String> {
    if holds(cap, text) {
        return None;
    }
    let start: String = text.chars().take(cap.max_chars).collect();
    let fits = |end: &usize| holds(cap, &cut(&start[..*end]));
    let borders = borders(&start, start.len() < text.len());
    let last = borders.iter().rev().copied().find(fits).filter(|&end| !cut(&start[..end]).is_empty());
    let Some(last) = last else {
        let grapheme = start.grapheme_indices(true).map(|(at, _)| at).filter(|&at| at > 0).rev().find(fits);
        return Some(grapheme.map_or_else(String::new, |end| cut(&start[..end])));
    };
    let clause = borders.iter().rev().copied().find(|&end| {
        end <= last
            && end * 5 >= last * 3
            && start[..end].ends_with([',', ';', ':', '，', '；', '、', '：', '.', ')'])
            && fits(&end)
    });
    Some(cut(&start[..clause.unwrap_or(last)]))
}

/// Where a text may be cut: after a word, and between the characters of scripts without spaces.
fn borders(text: &str, more_follows: bool) -> Vec<usize> {
    let mut borders = Vec::new();
    let mut before = ' ';
    for (at, grapheme) in text.grapheme_indices(true) {
        let c = grapheme.chars().next().unwrap_or(' ');
        if at > 0
            && ((c.is_whitespace() && !before.is_whitespace())
                || (spaceless(before) && !is_closing(c))
                || spaceless(c))
        {
            borders.push(at);
        }
        before = c;
    }
    if !more_follows {
        borders.push(text.len());
    }
    borders
}

/// A start of a text, without a dangling conjunction or mark, and an ellipsis.
fn cut(start: &str) -> String {
    const DANGLING: [&str; 24] = [
        "a", "an", "the", "and", "or", "of", "to", "with", "for", "in", "on", "by", "from", "as", "at",
        "that", "which", "e.g", "i.e", "including", "using", "such", "via", "is",
    ];
    let mark = |c: char| {
        c.is_whitespace()
            || (!c.is_alphanumeric() && !matches!(c, ')' | ']' | '}' | '%' | '"' | '\'' | '>' | '）' | '」'))
    };
    let mut text = start.trim_end_matches(mark);
    while let Some((rest, word)) = text.rsplit_once(char::is_whitespace)
        && DANGLING.contains(&word.to_ascii_lowercase().as_str())
    {
        text = rest.trim_end_matches(mark);
    }
    let text = without_open_bracket(text).trim_end_matches(mark);
    if text.is_empty() { String::new() } else { format!("{text}…") }
}

/// Removes a bracket that opens near the end and never closes, with its content.
fn without_open_bracket(text: &str) -> &str {
    match text.rfind(['(', '（', '[']) {
        Some(at) if !text[at..].contains([')', '）', ']']) && at * 2 > text.len() => &text[..at],
        _ => text,
    }
}

fn is_closing(c: char) -> bool {
    matches!(c, '，' | '。' | '、' | '；' | '：' | '）' | '！' | '？' | '」' | '』' | ',' | '.' | ')')
}

fn spaceless(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{3001}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff01}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}')
}

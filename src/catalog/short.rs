//! Short descriptions: when to use the tool, in one line, derived from the long description.

mod opening;
mod plain_text;

use unicode_segmentation::UnicodeSegmentation;

use crate::tokens::estimate;
use crate::tool::words;

use super::docstring;
pub use opening::SharedOpenings;
pub(super) use plain_text::{sentence_end, without_marks};

/// Longest short description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    /// Characters.
    pub max_chars: usize,
    /// Estimated tokens.
    pub max_tokens: usize,
}

impl Default for Cap {
    fn default() -> Self {
        Self { max_chars: 120, max_tokens: 30 }
    }
}

impl Cap {
    fn holds(self, text: &str) -> bool {
        text.chars().count() <= self.max_chars && estimate(text) <= self.max_tokens
    }
}

/// The short description of a tool: the first sentence of the long one, or the words of the name.
pub fn derive(name: &str, description: &str, cap: Cap) -> String {
    let body = docstring::split(description).body;
    let sentence = plain_text::first_sentence(&body);
    let text = if sentence.is_empty() { capitalised(&words(name).join(" ")) } else { direct(&sentence) };
    capped(&text, cap).unwrap_or(text)
}

/// Openings of a description without content; the verb after them remains.
const OPENINGS: [&str; 8] = ["", "this is ", "use ", "use this ", "provides ", "an mcp ", "mcp ", "call "];
const NOUNS: [&str; 12] = [
    "this tool ", "the tool ", "a tool ", "tool ", "this function ", "the function ", "a function ",
    "function ", "this endpoint ", "this api ", "this method ", "this command ",
];
const LINKS: [&str; 22] = [
    "will allow you to ", "allows you to ", "allows users to ", "allows the user to ", "enables you to ",
    "enables users to ", "lets you ", "helps you to ", "helps you ", "helps to ", "helps users ",
    "can be used to ", "is used to ", "may be used to ", "is useful to ", "that can ", "that ", "which ",
    "will ", "can ", "used to ", "to ",
];

/// A sentence without its opening boilerplate and final full stop, capitalised.
fn direct(sentence: &str) -> String {
    let mut text = sentence;
    if let Some(rest) = without_opening(text) {
        text = rest;
    }
    let bare = text.strip_suffix(['.', '。', ':', '：']).unwrap_or(text).trim_end();
    let keeps_dot = bare.ends_with('.') || bare.ends_with("etc");
    capitalised(if keeps_dot { text } else { bare })
}

fn without_opening(text: &str) -> Option<&str> {
    let rest = OPENINGS.iter().find_map(|opening| {
        let rest = strip_ignoring_case(text, opening)?;
        if let Some(rest) = NOUNS.iter().find_map(|noun| strip_ignoring_case(rest, noun)) {
            return Some(link(rest).unwrap_or(rest));
        }
        let bare = matches!(*opening, "" | "use " | "use this ");
        if bare {
            link(rest).filter(|_| !starts_with_any(text, &["that ", "which ", "will ", "can ", "to "]))
        } else {
            None
        }
    })?;
    let says_little = [
        "is ", "are ", "was ", "has ", "should ", "must ", "requires ", "does ", "when ", "if ", "for ",
        "only ", "cannot ", "with ", "in ", "and ", "of ", "name", "call", "be ", "also ", "after ",
        "before ",
    ];
    (!starts_with_any(rest, &says_little) && rest.starts_with(char::is_alphabetic) && rest.contains(' '))
        .then_some(rest)
}

fn link(text: &str) -> Option<&str> {
    LINKS.iter().find_map(|link| strip_ignoring_case(text, link))
}

fn starts_with_any(text: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| strip_ignoring_case(text, start).is_some())
}

fn strip_ignoring_case<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    text.get(..start.len()).filter(|head| head.eq_ignore_ascii_case(start)).map(|head| &text[head.len()..])
}

/// A first letter in upper case, unless the first word is an identifier such as `iOS` or `get_page`.
fn capitalised(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or("");
    let mut chars = text.chars();
    match chars.next() {
        Some(first)
            if word
                .trim_end_matches([',', ':', '.'])
                .chars()
                .all(|c| c.is_lowercase() || c == '-' || c == '/' || c == '\'') =>
        {
            first.to_uppercase().chain(chars).collect()
        }
        _ => text.to_string(),
    }
}

/// `Some` shortened text when a text is over the cap: cut after a clause or a word, with an ellipsis.
pub fn capped(text: &str, cap: Cap) -> Option<String> {
    if cap.holds(text) {
        return None;
    }
    let start: String = text.chars().take(cap.max_chars).collect();
    let fits = |end: &usize| cap.holds(&cut(&start[..*end]));
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

#[cfg(test)]
mod tests;

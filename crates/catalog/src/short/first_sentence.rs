//! The first sentence of a description that says what a tool is for.

use crate::plain_text::{sentence_end, without_marks};
use toolcrib_definition::markdown::{Fences, item};

/// The first sentence with content, on one line and without markdown.
pub(super) fn first_sentence(text: &str) -> String {
    let mut title = String::new();
    let mut disclaimer = String::new();
    let mut paragraphs = paragraphs(text).into_iter().peekable();
    while let Some(paragraph) = paragraphs.next() {
        let plain = without_marks(&paragraph);
        let mut sentence = said(&plain);
        let mut end = sentence.len();
        while is_disclaimer(sentence) {
            let after = plain[end..].trim_start();
            if disclaimer.is_empty() {
                disclaimer = sentence.to_string();
            }
            end = plain.len() - after.len();
            sentence = said(after);
            end += sentence.len();
        }
        if sentence.is_empty() || is_rule(sentence) {
            continue;
        }
        // `**Required scope:** tasks:write` says what a call needs, not what it does.
        let is_label = (paragraph.starts_with("**")
            && (paragraph.contains(":**") || paragraph.contains("**:")))
            || is_need(sentence);
        let is_title = paragraph.starts_with('#')
            || (is_label && paragraphs.peek().is_some())
            || (!sentence.contains(' ') && sentence.is_ascii());
        if !is_title {
            return sentence.to_string();
        }
        if title.is_empty() {
            title = sentence.to_string();
        }
    }
    if title.is_empty() { disclaimer } else { title }
}

/// Whether a sentence is a label with what a call needs: `Required role: admin`.
fn is_need(sentence: &str) -> bool {
    const BEGINNINGS: [&str; 7] = [
        "authorization", "permission", "rate limit", "required permission", "required role",
        "required scope", "scope",
    ];
    let label = sentence.split_once(": ").map(|(label, _)| label.to_lowercase());
    label.is_some_and(|label| {
        label.split(' ').count() <= 3 && BEGINNINGS.iter().any(|beginning| label.starts_with(beginning))
    })
}

/// Whether a sentence tells the state of a tool, and not its use.
pub(crate) fn is_disclaimer(sentence: &str) -> bool {
    const BEGINNINGS: [&str; 12] = [
        "beta", "caution", "deprecated", "disclaimer", "experimental", "important", "internal", "note",
        "notice", "preview", "this", "warning",
    ];
    const STATES: [&str; 9] = [
        "at your own risk", "deprecated", "early access", "experimental", "in beta", "in preview",
        "public preview", "subject to change", "without notice",
    ];
    let lower = sentence.to_lowercase();
    let word = lower.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let is_labelled =
        word != "this" && lower[word.len()..].starts_with([':', '!', ' ', ']', '.']) && lower.contains(':');
    let is_state = STATES.iter().any(|state| lower.contains(state));
    BEGINNINGS.contains(&word) && (is_labelled || is_state) || is_state && lower.contains(" is ")
}

/// The first sentence of a line, with the next ones as long as it is only a word or a label.
fn said(plain: &str) -> &str {
    let mut end = 0;
    while end < plain.len() {
        end += sentence_end(&plain[end..]);
        let said = plain[..end].trim();
        if said.split_whitespace().count() > 1 || !said.is_ascii() {
            break;
        }
    }
    plain[..end].trim()
}

/// Whether a text has only marks.
fn is_rule(text: &str) -> bool {
    !text.chars().any(char::is_alphanumeric)
}

/// The paragraphs of a text, each as one line, without code.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut fences = Fences::default();
    let mut above = None;
    for line in text.lines().map(str::trim) {
        if fences.holds(line) || line.starts_with("```") || line.is_empty() {
            above = None;
            continue;
        }
        match (above, paragraphs.last_mut()) {
            (Some(above), Some(paragraph)) if !breaks(above, line) => {
                paragraph.push(' ');
                paragraph.push_str(line);
            }
            _ => paragraphs.push(line.to_string()),
        }
        above = Some(line);
    }
    paragraphs
}

/// Whether a line begins a new block although no blank line stands before it.
fn breaks(above: &str, line: &str) -> bool {
    const OPEN: [&str; 26] = [
        "a", "an", "the", "and", "or", "of", "to", "with", "for", "in", "on", "by", "from", "your", "its",
        "their", "this", "is", "are", "as", "at", "that", "into", "using", "given", "via",
    ];
    let marked = line.starts_with(['#', '|', '•', '✅', '❌']) || item(line).is_some();
    let last_word = above.rsplit(' ').next().unwrap_or("").to_ascii_lowercase();
    let open = above.ends_with(',') || OPEN.contains(&last_word.as_str());
    let short = above.chars().count() <= 60;
    above.starts_with('#')
        || marked
        || (short && !open && !line.starts_with(|c: char| c.is_lowercase() || c == '('))
}

//! The first sentence of a description that says what a tool is for.

use crate::plain_text::{sentence_end, without_marks};

/// The first sentence with content, on one line and without markdown.
pub(super) fn first_sentence(text: &str) -> String {
    let mut title = String::new();
    let mut disclaimer = String::new();
    let mut rest = text;
    while !rest.trim().is_empty() {
        let (paragraph, after) = paragraph(rest);
        rest = after;
        if paragraph.starts_with(char::from(0)) {
            continue;
        }
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
            || (is_label && !rest.trim().is_empty())
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

/// The first paragraph as one line, and the rest. Code blocks come out as a zero byte.
fn paragraph(text: &str) -> (String, &str) {
    let text = text.trim_start_matches(['\n', '\r']);
    let mut line_of: Vec<&str> = Vec::new();
    let mut at = 0;
    if text.trim_start().starts_with("```") {
        let open = text.find("```").unwrap_or(0) + 3;
        let close = text[open..].find("```").map_or(text.len(), |close| open + close + 3);
        return ("\0".to_string(), &text[close..]);
    }
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.is_empty() || line_of.last().is_some_and(|above| breaks(above, trimmed)) {
            break;
        }
        line_of.push(trimmed);
        at += line.len();
    }
    if line_of.is_empty() {
        at = text.find('\n').map_or(text.len(), |end| end + 1);
    }
    (line_of.join(" "), &text[at..])
}

/// Whether a line begins a new block although no blank line stands before it.
fn breaks(above: &str, line: &str) -> bool {
    const OPEN: [&str; 26] = [
        "a", "an", "the", "and", "or", "of", "to", "with", "for", "in", "on", "by", "from", "your", "its",
        "their", "this", "is", "are", "as", "at", "that", "into", "using", "given", "via",
    ];
    let marked = line.starts_with(['#', '|', '•', '✅', '❌'])
        || line.starts_with("```")
        || line.starts_with("- ")
        || line.starts_with("* ")
        || line
            .split_once(['.', ')'])
            .is_some_and(|(n, rest)| n.parse::<u8>().is_ok() && rest.starts_with(' '));
    let last_word = above.rsplit(' ').next().unwrap_or("").to_ascii_lowercase();
    let open = above.ends_with(',') || OPEN.contains(&last_word.as_str());
    let short = above.chars().count() <= 60;
    above.starts_with('#')
        || marked
        || (short && !open && !line.starts_with(|c: char| c.is_lowercase() || c == '('))
}

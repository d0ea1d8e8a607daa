//! Cleaning of untrusted text: no control, bidi, zero-width or tag characters reach an agent.

use std::borrow::Cow;

use indexmap::IndexSet;

/// Whether a character is invisible or steers the display, so that the displayed text differs from the text that is
/// read.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' // controls, terminal escapes
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'    // zero width, bidi
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}') // tags, variation selectors
}

/// Whether a text is ASCII without controls except line ends, as nearly all texts are; then nothing in it is hidden.
fn is_plain_ascii(text: &str) -> bool {
    // Whole pieces at a time, which the processor looks at at once.
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n');
    text.as_bytes().chunks(64).all(|piece| piece.iter().fold(true, |all, byte| all & is_plain(byte)))
}

/// The hidden characters of a text, each once, in order of appearance.
pub fn hidden_characters(text: &str) -> Vec<char> {
    let rest = if is_plain_ascii(text) { "" } else { text };
    let hidden: IndexSet<char> = rest.chars().filter(|&c| is_hidden(c)).collect();
    hidden.into_iter().collect()
}

/// Text of several lines without hidden characters; line ends become `\n`, and no line ends in a space.
pub fn clean_text(text: &str) -> Cow<'_, str> {
    let is_clean = is_plain_ascii(text)
        || !text.chars().any(|c| is_hidden(c) || matches!(c, '\r' | '\t' | '\u{2028}' | '\u{2029}'));
    let untouched = is_clean && !text.contains(" \n") && text.trim() == text;
    if untouched {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let normal =
        text.replace("\r\n", "\n").replace(['\r', '\u{2028}', '\u{2029}'], "\n").replace('\t', "    ");
    for line in normal.lines() {
        clean.extend(line.trim_end().chars().filter(|&c| !is_hidden(c)));
        clean.truncate(clean.trim_end_matches(' ').len());
        clean.push('\n');
    }
    Cow::Owned(clean.trim_matches('\n').trim_end().to_string())
}

/// The beginning of a text, at most this many characters.
pub fn beginning(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// The beginning of a text, at most this many characters; a longer one ends in an ellipsis.
pub fn clipped(text: &str, most: usize) -> Cow<'_, str> {
    match beginning(text, most) {
        whole if whole.len() == text.len() => Cow::Borrowed(text),
        start => Cow::Owned(format!("{}…", start.trim_end())),
    }
}

/// Text as one line without hidden characters: runs of white space become one space.
pub fn clean_line(text: &str) -> String {
    if is_plain_ascii(text) && !text.contains('\n') && !text.contains("  ") {
        return text.trim().to_string();
    }
    let visible: String = text.chars().filter(|&c| c.is_whitespace() || !is_hidden(c)).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Most characters of a foreign text that a message repeats.
const MAX_QUOTED: usize = 80;

/// A foreign text as a message repeats it: its beginning, on one line.
pub fn quoted(text: &str) -> String {
    clean_line(beginning(text, MAX_QUOTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_text_is_removed_and_reported() {
        let text = "Read a\u{200b} file\u{202e}\u{1b}[31m \r\n\tnow\u{e0041}";
        assert_eq!(clean_text(text), "Read a file[31m\n    now");
        assert_eq!(clean_line(text), "Read a file[31m now");
        assert_eq!(hidden_characters(text), ['\u{200b}', '\u{202e}', '\u{1b}', '\u{e0041}']);
    }
}

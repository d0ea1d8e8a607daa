//! Text that Markdown reads as it is.

/// Whether an ASCII character has a meaning to Markdown in a code span, and outside of it.
pub(super) fn is_markup_in_code(byte: u8) -> bool {
    matches!(byte, b'`' | b'<')
}
pub(super) fn is_markup(byte: u8) -> bool {
    matches!(byte, b'\\' | b'`' | b'*' | b'_' | b'~' | b'<' | b'&' | b'[' | b']')
}

/// Returns true if text is one clean line of ASCII without this markup, which is common and cheap to write. An underscore
/// within a word is not markup.
pub(super) fn is_plain(text: &str, is_marked: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let mut before = b' ';
    for (index, &byte) in bytes.iter().enumerate() {
        let is_within_word = || {
            let after = bytes.get(index + 1);
            byte == b'_' && before.is_ascii_alphanumeric() && after.is_some_and(u8::is_ascii_alphanumeric)
        };
        let is_text = matches!(byte, b' '..=b'~') && !is_marked(byte);
        if !(is_text || is_within_word()) || (byte == b' ' && before == b' ') {
            return false;
        }
        before = byte;
    }
    before != b' ' || bytes.is_empty()
}

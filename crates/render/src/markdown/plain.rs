//! Text that Markdown reads as it is.

/// For each byte, whether it is a space or a visible ASCII character without a meaning to Markdown in a code span.
pub(super) static PLAIN_IN_CODE: [bool; 256] = plain_bytes(b"`<");
/// The same for inline text outside of code.
pub(super) static PLAIN_INLINE: [bool; 256] = plain_bytes(b"\\`*_~<&[]");

const fn plain_bytes(markup: &[u8]) -> [bool; 256] {
    let mut plain = [false; 256];
    let mut byte = b' ';
    while byte <= b'~' {
        plain[byte as usize] = true;
        byte += 1;
    }
    let mut index = 0;
    while index < markup.len() {
        plain[markup[index] as usize] = false;
        index += 1;
    }
    plain
}

/// Returns true if text is one clean line of ASCII without markup, which is common and cheap to write. An underscore
/// within a word is not markup.
pub(super) fn is_plain(text: &str, plain: &[bool; 256]) -> bool {
    let bytes = text.as_bytes();
    let mut before = b' ';
    for (index, &byte) in bytes.iter().enumerate() {
        let is_within_word = || {
            let after = bytes.get(index + 1);
            byte == b'_' && before.is_ascii_alphanumeric() && after.is_some_and(u8::is_ascii_alphanumeric)
        };
        if !(plain[usize::from(byte)] || is_within_word()) || (byte == b' ' && before == b' ') {
            return false;
        }
        before = byte;
    }
    before != b' ' || bytes.is_empty()
}

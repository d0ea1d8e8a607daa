//! Names in lists, and other short texts: on one line, visible, of bounded length.

use crate::tool::clean_line;

/// Most characters of a name in a list.
pub(super) const MAX_NAME: usize = 120;

/// A text of at most this many characters; a longer one ends in an ellipsis.
pub(super) fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_string(),
    }
}

/// A name for lists; an invisible one is replaced.
pub(super) fn shown_name(name: &str, otherwise: &str) -> String {
    let name = clean_line(name);
    if name.is_empty() { otherwise.to_string() } else { clipped(&name, MAX_NAME) }
}

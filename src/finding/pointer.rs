//! JSON Pointers (RFC 6901), put together and taken apart.

use std::borrow::Cow;

/// A pointer with one more segment.
pub fn pointer_join(pointer: &str, segment: impl std::fmt::Display) -> String {
    let mut joined = pointer.to_string();
    pointer_push(&mut joined, &segment.to_string());
    joined
}

/// Appends a segment to a pointer in place; for walks that visit every value.
pub fn pointer_push(pointer: &mut String, segment: &str) {
    pointer.push('/');
    for c in segment.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// The pointer of the parent, and the last segment as the name that it stands for; the whole document has neither.
pub fn pointer_split(pointer: &str) -> Option<(&str, Cow<'_, str>)> {
    pointer.rsplit_once('/').map(|(parent, last)| (parent, pointer_unescape(last)))
}

/// The name that a segment stands for: `~1` is `/` and `~0` is `~`.
pub fn pointer_unescape(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') { segment.replace("~1", "/").replace("~0", "~").into() } else { segment.into() }
}

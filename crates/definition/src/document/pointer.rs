//! Joins and splits JSON Pointers (RFC 6901).

use std::borrow::Cow;

/// A pointer with one more segment.
pub fn pointer_join(pointer: &str, segment: impl std::fmt::Display) -> String {
    let segment = segment.to_string();
    let mut joined = String::with_capacity(pointer.len() + 1 + segment.len());
    joined.push_str(pointer);
    pointer_push(&mut joined, &segment);
    joined
}

/// A pointer with several more segments.
pub fn pointer_to(pointer: &str, segments: &[&str]) -> String {
    let mut joined = pointer.to_string();
    segments.iter().for_each(|segment| pointer_push(&mut joined, segment));
    joined
}

/// Appends a segment to a pointer in place; for walks that visit every value.
pub fn pointer_push(pointer: &mut String, segment: &str) {
    pointer.push('/');
    if !segment.contains(['~', '/']) {
        return pointer.push_str(segment);
    }
    for c in segment.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// The pointer of the parent, and the name in the last segment; `None` for the whole document.
pub fn pointer_split(pointer: &str) -> Option<(&str, Cow<'_, str>)> {
    pointer.rsplit_once('/').map(|(parent, last)| (parent, pointer_unescape(last)))
}

/// The name that a segment stands for: `~1` is `/` and `~0` is `~`.
pub fn pointer_unescape(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') { segment.replace("~1", "/").replace("~0", "~").into() } else { segment.into() }
}

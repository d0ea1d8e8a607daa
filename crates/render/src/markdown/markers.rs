//! toolcrib's markers, which untrusted text must not contain.

use std::borrow::Cow;

/// Text that goes into a file unchanged, except for toolcrib's markers.
pub(crate) fn without_markers(text: &str) -> Cow<'_, str> {
    break_marker(text, "<! --")
}

/// toolcrib's markers are comments that begin with `<!-- toolcrib`. Untrusted text must not contain them.
pub(super) fn break_marker<'a>(text: &'a str, opening: &str) -> Cow<'a, str> {
    const COMMENT: &str = "<!--";
    let is_ours = |after: &str| {
        after
            .trim_start()
            .trim_start_matches('/')
            .trim_start()
            .get(..8)
            .is_some_and(|name| name.eq_ignore_ascii_case("toolcrib"))
    };
    if !text.match_indices(COMMENT).any(|(at, _)| is_ours(&text[at + COMMENT.len()..])) {
        return Cow::Borrowed(text);
    }
    let mut pieces = text.split(COMMENT);
    let mut broken = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        broken.push_str(if is_ours(piece) { opening } else { COMMENT });
        broken.push_str(piece);
    }
    Cow::Owned(broken)
}

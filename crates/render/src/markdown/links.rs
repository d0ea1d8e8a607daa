//! Links on one line, and their targets.

use std::borrow::Cow;
use std::ops::Range;

/// Longest text and longest target of a link on one line, in bytes.
const MAX_TEXT: usize = 200;
const MAX_TARGET: usize = 500;

/// Whether a target is a web address, which works anywhere.
pub(super) fn is_web(target: &str) -> bool {
    ["http://", "https://", "mailto:"].iter().any(|scheme| has_scheme(target, scheme))
}

/// Returns true if a target works only on the author's website: an anchor on the page, a path, or a reference for the
/// site's generator.
pub(super) fn is_of_a_website(target: &str) -> bool {
    let is_path = || !target.contains(':') && (target.contains('/') || target.ends_with(".md"));
    target.starts_with('#') || has_scheme(target, "ref:") || is_path()
}

/// Returns a line with its links as text. The target of a link stays only if it is a web address.
pub(super) fn without_links<'t>(line: &'t str, code: &[Range<usize>]) -> Cow<'t, str> {
    let mut out = String::new();
    let mut done = 0;
    let mut spans = code.iter().peekable();
    for (middle, _) in line.match_indices("](") {
        while spans.next_if(|span| span.end <= middle).is_some() {}
        let is_code = spans.peek().is_some_and(|span| span.start <= middle);
        if is_code {
            continue;
        }
        let Some(Link { range, text, target }) = link_around(line, middle) else { continue };
        if range.start < done {
            continue;
        }
        out.push_str(&line[done..range.start]);
        out.push_str(text);
        if is_web(target) {
            out.extend([" (", target, ")"]);
        }
        done = range.end;
    }
    if done == 0 {
        return Cow::Borrowed(line);
    }
    out.push_str(&line[done..]);
    Cow::Owned(out)
}

struct Link<'t> {
    range: Range<usize>,
    text: &'t str,
    target: &'t str,
}

/// The link, or the image, with its `](` at `middle`.
fn link_around(line: &str, middle: usize) -> Option<Link<'_>> {
    let near = line[..middle].bytes().rev().take(MAX_TEXT).position(|b| matches!(b, b'[' | b']'))?;
    let open = middle - near - 1;
    let text = line[open..middle].strip_prefix('[')?;
    let after = &line[middle + 2..];
    let length = after.bytes().take(MAX_TARGET).position(|b| b == b')')?;
    let target = after[..length].trim();
    let is_one = !text.trim().is_empty() && !target.contains([' ', '(', '<', '\\']) && !text.ends_with('\\');
    let before = &line[..open];
    let start = if before.ends_with('!') { open - 1 } else { open };
    let is_link = is_one && !before.ends_with('\\') && (is_web(target) || is_of_a_website(target));
    is_link.then_some(Link { range: start..middle + 2 + length + 1, text, target })
}

fn has_scheme(target: &str, scheme: &str) -> bool {
    target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

//! Writes untrusted text as Markdown. Whatever the text contains, it stays text, and cannot leave its place.

pub mod inline;
pub mod prose;

use std::borrow::Cow;
use std::ops::Range;

use toolcrib_definition::{clean_line, clean_text};

pub use inline::{inline, name};
pub use prose::prose;

/// Text as an inline code span on one line; empty text gives an empty string.
pub(crate) fn code(text: &str) -> String {
    if is_plain(text, &PLAIN_IN_CODE) {
        return if text.is_empty() { String::new() } else { ["`", text, "`"].concat() };
    }
    let line = clean_line(text);
    let line = break_marker(&line, "<! --");
    if line.is_empty() {
        return String::new();
    }
    let runs: Vec<usize> = backtick_runs(&line).map(|(_, length)| length).collect();
    let length = (1..).find(|length| !runs.contains(length)).unwrap_or(1);
    let ticks = "`".repeat(length);
    let pad = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{line}{pad}{ticks}")
}

/// Text as a fenced code block that its content cannot close.
pub(crate) fn fence(language: &str, text: &str) -> String {
    let text = clean_text(text);
    let text = break_marker(&text, if language == "json" { "\\u003c!--" } else { "<! --" });
    let longest = backtick_runs(&text).map(|(_, length)| length).max().unwrap_or(0);
    let ticks = "`".repeat(longest.max(2) + 1);
    let language: String =
        language.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+')).collect();
    let end = if text.is_empty() { "" } else { "\n" };
    format!("{ticks}{language}\n{text}{end}{ticks}")
}

/// For each byte, whether it is a space or a visible ASCII character without a meaning to Markdown in a code span.
static PLAIN_IN_CODE: [bool; 256] = plain_bytes(b"`<");
/// The same for inline text outside of code.
static PLAIN_INLINE: [bool; 256] = plain_bytes(b"\\`*_~<&[]");

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
fn is_plain(text: &str, plain: &[bool; 256]) -> bool {
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

/// Starts and lengths of the runs of backticks.
fn backtick_runs(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text.get(from..)?.find('`')?;
        let length = text.len() - start - text[start..].trim_start_matches('`').len();
        from = start + length;
        Some((start, length))
    })
}

/// Text that goes into a file unchanged, except for toolcrib's markers.
pub(crate) fn without_markers(text: &str) -> Cow<'_, str> {
    break_marker(text, "<! --")
}

/// toolcrib's markers are comments that begin with `<!-- toolcrib`. Untrusted text must not contain them.
fn break_marker<'a>(text: &'a str, opening: &str) -> Cow<'a, str> {
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

/// Longest text and longest target of a link on one line, in bytes.
const MAX_TEXT: usize = 200;
const MAX_TARGET: usize = 500;

/// Whether a target is a web address, which works anywhere.
fn is_web(target: &str) -> bool {
    ["http://", "https://", "mailto:"].iter().any(|scheme| has_scheme(target, scheme))
}

/// Returns true if a target works only on the author's website: an anchor on the page, a path, or a reference for the
/// site's generator.
fn is_of_a_website(target: &str) -> bool {
    let is_path = || !target.contains(':') && (target.contains('/') || target.ends_with(".md"));
    target.starts_with('#') || has_scheme(target, "ref:") || is_path()
}

/// Returns a line with its links as text. The target of a link stays only if it is a web address.
fn without_links<'t>(line: &'t str, code: &[Range<usize>]) -> Cow<'t, str> {
    let mut out = String::new();
    let mut done = 0;
    let mut spans = code.iter().peekable();
    for (middle, _) in line.match_indices("](") {
        while spans.next_if(|span| span.end <= middle).is_some() {}
        let is_code = spans.peek().is_some_and(|span| span.start <= middle);
        let Some(Link { range, text, target }) = link_around(line, middle).filter(|_| !is_code) else {
            continue;
        };
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

#[cfg(test)]
mod tests;

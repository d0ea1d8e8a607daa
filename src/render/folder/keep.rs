//! Copies the user's text between keep-markers from the old content of a file into the new one.
//!
//! Only `.md` files have such blocks. A block runs from a line `<!-- toolcrib:keep -->` to a line `<!-- /toolcrib:keep -->`. It comes back after the
//! generated line that it followed, or at the end of the file when that line is gone. The blank lines around a
//! block belong to it and take the place of the generated ones, so that a current file stays as it is.
//!
//! No text is ever lost: a block that is not closed reaches to the end of the old file, and is closed when it is
//! carried over, even though generated text below the marker is then kept as well.

use std::collections::HashMap;
use std::path::Path;

const OPEN: &[u8] = b"toolcrib:keep";
const CLOSE: &[u8] = b"/toolcrib:keep";
const CLOSING_LINE: &[u8] = b"<!-- /toolcrib:keep -->";

/// Consecutive blocks, with the blank lines around them.
struct Kept<'a> {
    /// The line before, and its number among equal lines; `None` at the top of the file.
    anchor: Option<(&'a [u8], usize)>,
    text: Vec<u8>,
}

/// Whether a file can have keep-blocks: in other formats a line that looks like a marker is data.
pub(super) fn applies_to(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}

/// Whether a content has a keep-block.
pub(super) fn has_block(content: &[u8]) -> bool {
    lines(content).any(|line| is_marker(line, OPEN))
}

/// The new content with the blocks of the old one.
pub(super) fn carry(old: &[u8], new: String) -> Vec<u8> {
    if !has_block(old) {
        return new.into_bytes();
    }
    let mut kept = collect(old);
    let places: HashMap<_, usize> = kept.iter().enumerate().map(|(i, kept)| (kept.anchor, i)).collect();
    let mut counts: HashMap<&[u8], usize> = HashMap::new();
    let mut out = Vec::with_capacity(old.len() + new.len());
    let mut place = |anchor, out: &mut Vec<u8>| match places.get(&anchor) {
        Some(&index) => {
            append(out, &std::mem::take(&mut kept[index].text));
            true
        }
        None => false,
    };
    let mut placed = place(None, &mut out);
    // The renderer writes no markers. A marker that got through must not multiply from run to run.
    for line in lines(new.as_bytes()).filter(|line| !is_marker(line, OPEN)) {
        if is_blank(line) {
            if !placed {
                append(&mut out, line);
            }
            continue;
        }
        append(&mut out, line);
        placed = place(Some(anchor_of(line, &mut counts)), &mut out);
    }
    for Kept { text, .. } in kept.iter().filter(|kept| !kept.text.is_empty()) {
        drop_blank_end(&mut out);
        append(&mut out, b"\n");
        append(&mut out, text.trim_ascii());
        out.push(b'\n');
    }
    out
}

/// The blocks of a content, each run of them with its place.
fn collect(content: &[u8]) -> Vec<Kept<'_>> {
    let mut all: Vec<Kept> = Vec::new();
    let mut counts: HashMap<&[u8], usize> = HashMap::new();
    let mut run = Kept { anchor: None, text: Vec::new() };
    let (mut has_block, mut open) = (false, false);
    for line in lines(content) {
        let opens = !open && is_marker(line, OPEN);
        if open || opens || is_blank(line) {
            run.text.extend_from_slice(line);
            has_block |= opens;
            open = opens || open && !is_marker(line, CLOSE);
            continue;
        }
        let next = Kept { anchor: Some(anchor_of(line, &mut counts)), text: Vec::new() };
        let run = std::mem::replace(&mut run, next);
        all.extend(std::mem::take(&mut has_block).then_some(run));
    }
    if open {
        drop_blank_end(&mut run.text);
        append(&mut run.text, CLOSING_LINE);
        run.text.push(b'\n');
    }
    all.extend(has_block.then_some(run));
    all
}

fn anchor_of<'a>(line: &'a [u8], counts: &mut HashMap<&'a [u8], usize>) -> (&'a [u8], usize) {
    let line = line.trim_ascii_end();
    let count = counts.entry(line).or_default();
    *count += 1;
    (line, *count)
}

/// Lines with their ends; a byte order mark, which some editors add, is left out.
fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    content.split_inclusive(|&byte| byte == b'\n')
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

/// Whether a line is a marker alone, in any spacing and letter case.
fn is_marker(line: &[u8], marker: &[u8]) -> bool {
    let inner = line.trim_ascii().strip_prefix(b"<!--").and_then(|rest| rest.strip_suffix(b"-->"));
    inner.is_some_and(|inner| inner.trim_ascii().eq_ignore_ascii_case(marker))
}

/// Appends text on a line of its own.
fn append(out: &mut Vec<u8>, text: &[u8]) {
    if !text.is_empty() && !out.is_empty() && !out.ends_with(b"\n") {
        out.push(b'\n');
    }
    out.extend_from_slice(text);
}

/// Drops the blank lines at the end.
fn drop_blank_end(out: &mut Vec<u8>) {
    let end = out.trim_ascii_end().len();
    if let Some(line_end) = out[end..].iter().position(|&byte| byte == b'\n') {
        out.truncate(end + line_end + 1);
    }
}

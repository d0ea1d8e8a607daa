//! The unified diff of one file. Of long lines, it shows the words that differ.

use std::time::Duration;

use similar::{DiffTag, TextDiff};

use toolcrib_definition::{beginning, clipped};

/// Time after which the diff of one file becomes coarser.
const DIFF_TIME: Duration = Duration::from_secs(5);

/// The unified diff of one file; `None` is a file that does not exist.
pub(super) fn unified(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> String {
    let name = |side: &str, content: Option<&[u8]>| match content {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_string(),
    };
    let from = name("a", old);
    let to = name("b", new);
    let old = String::from_utf8_lossy(old.unwrap_or_default());
    let new = String::from_utf8_lossy(new.unwrap_or_default());
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(&*old, &*new);
    let mut out = String::new();
    for hunk in diff.unified_diff().iter_hunks() {
        out.push_str(&format!("{}\n", hunk.header()));
        for op in hunk.ops() {
            let (_, old, new) = op.as_tag_tuple();
            let old = &diff.old_slices()[old];
            let new = &diff.new_slices()[new];
            write_lines(op.tag(), old, new, &mut out);
        }
    }
    if out.is_empty() { out } else { format!("--- {from}\n+++ {to}\n{out}") }
}

/// Longest line that a diff shows whole, and most bytes on each side of a change in a longer one.
const MAX_LINE: usize = 240;
const AROUND: usize = 40;

/// Writes lines that are equal, or differ. Of long lines, the words that differ are shown, with those around them.
fn write_lines(tag: DiffTag, old: &[&str], new: &[&str], out: &mut String) {
    let mut line = |mark: char, text: &str| {
        out.push(mark);
        out.push_str(text.trim_end_matches('\n'));
        out.push('\n');
    };
    let is_long = |lines: &[&str]| lines.iter().any(|line| line.len() > MAX_LINE);
    if tag == DiffTag::Equal {
        return old.iter().for_each(|text| line(' ', &clipped(text, MAX_LINE)));
    }
    if old.len() == new.len() && (is_long(old) || is_long(new)) {
        for (old, new) in old.iter().zip(new) {
            let (old, new) = changed_words(old, new);
            line('-', &old);
            line('+', &new);
        }
        return;
    }
    old.iter().for_each(|text| line('-', &clipped(text, MAX_LINE)));
    new.iter().for_each(|text| line('+', &clipped(text, MAX_LINE)));
}

/// The words of two lines that differ, and some text around them.
fn changed_words(old: &str, new: &str) -> (String, String) {
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_words(old, new);
    let mut sides = (String::new(), String::new());
    let ops = diff.ops();
    for (index, op) in ops.iter().enumerate() {
        let (_, old, new) = op.as_tag_tuple();
        let old = diff.old_slices()[old].concat();
        let new = diff.new_slices()[new].concat();
        if op.tag() == DiffTag::Equal {
            let is_first = index == 0;
            let is_last = index + 1 == ops.len();
            let between = around(&old, !is_first, !is_last);
            sides.0.push_str(&between);
            sides.1.push_str(&between);
        } else {
            sides.0.push_str(&clipped(&old, MAX_LINE));
            sides.1.push_str(&clipped(&new, MAX_LINE));
        }
    }
    sides
}

/// The ends of a text next to changes.
fn around(text: &str, after: bool, before: bool) -> String {
    let head = if after { beginning(text, AROUND) } else { "" };
    let rest = &text[head.len()..];
    let tail = rest.char_indices().rev().take(AROUND).last().map_or(rest.len(), |(at, _)| at);
    let tail = if before { &rest[tail..] } else { "" };
    let left_out = head.len() + tail.len() < text.len();
    [head, if left_out { " … " } else { "" }, tail].concat()
}

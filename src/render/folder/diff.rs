//! The unified diff between the files on disk and the generated ones.

use std::fmt::Write;

use similar::TextDiff;

/// Most comparisons of lines (old lines times new lines) before a diff replaces all lines: the time would grow
/// without bound.
const MAX_MATCHED: usize = 100_000_000;

/// The changes of many files, up to a size.
pub(super) struct Diff {
    text: String,
    limit: usize,
    left_out: usize,
}

impl Diff {
    pub(super) fn new(limit: usize) -> Self {
        Diff { text: String::new(), limit, left_out: 0 }
    }

    /// Whether the diff is full.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= self.limit
    }

    /// Adds the difference of one file, or counts it when there is no room.
    pub(super) fn push(&mut self, file: &str) {
        if self.is_full() {
            self.left_out += 1;
            return;
        }
        self.text.push_str(file);
        if self.text.len() > self.limit {
            let line_end = self.text.as_bytes()[..self.limit].iter().rposition(|&byte| byte == b'\n');
            self.text.truncate(line_end.map_or(0, |end| end + 1));
            self.limit = self.text.len();
            self.left_out += 1;
        }
    }

    /// The whole text, with a note when a part was left out.
    pub(super) fn finish(mut self) -> String {
        if self.left_out > 0 {
            let _ = writeln!(
                self.text,
                "# cut here; {} more changed files are not shown or not in full",
                self.left_out
            );
        }
        self.text
    }
}

/// The change of one file; `None` is a file that does not exist.
pub fn unified(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> String {
    let name = |side: &str, content: Option<&[u8]>| match content {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_string(),
    };
    let (from, to) = (name("a", old), name("b", new));
    let old = String::from_utf8_lossy(old.unwrap_or_default());
    let new = String::from_utf8_lossy(new.unwrap_or_default());
    if old.lines().count().saturating_mul(new.lines().count()) > MAX_MATCHED {
        return replaced(&from, &to, &old, &new);
    }
    TextDiff::from_lines(&*old, &*new).unified_diff().header(&from, &to).to_string()
}

/// A diff that replaces every line.
fn replaced(from: &str, to: &str, old: &str, new: &str) -> String {
    let (removed, added) = (old.lines().count(), new.lines().count());
    let mut out = format!("--- {from}\n+++ {to}\n@@ -1,{removed} +1,{added} @@\n");
    for (sign, text) in [('-', old), ('+', new)] {
        for line in text.split_inclusive('\n') {
            out.push(sign);
            out.push_str(line);
        }
        if !text.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
    out
}

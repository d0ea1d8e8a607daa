//! Converts the JSON Pointers of findings to lines and columns, in one pass per document.

use std::collections::HashMap;

use super::pointer::PointerTree;
use super::{Document, Finding};

/// Fills in line and column of every finding that has none and whose file is among the documents.
///
/// The place of a member of an object is its key, and of an element of an array its value. The place of a missing
/// field is the nearest existing value around it.
pub fn locate(documents: &[Document], findings: &mut [Finding]) {
    let mut by_file: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, finding) in findings.iter().enumerate() {
        if let Some(place) = finding.place.as_ref().filter(|place| place.line.is_none()) {
            by_file.entry(&place.file).or_default().push(index);
        }
    }
    let mut located = Vec::new();
    for document in documents {
        if let Some(wanted) = by_file.remove(document.file.as_str()) {
            locate_in(document, findings, &wanted, &mut located);
        }
    }
    for (index, (line, column)) in located {
        if let Some(place) = findings.get_mut(index).and_then(|finding| finding.place.as_mut()) {
            (place.line, place.column) = (Some(line), Some(column));
        }
    }
}

fn locate_in(
    document: &Document,
    findings: &[Finding],
    wanted: &[usize],
    located: &mut Vec<(usize, (usize, usize))>,
) {
    let pointer = |index: &usize| findings.get(*index)?.place.as_ref().map(|place| place.pointer.as_str());
    let (tree, ends) = PointerTree::new(wanted.iter().map(|index| pointer(index).unwrap_or_default()));
    let spans = document.spans(&tree);
    let start = |end: &Option<usize>| Some(tree.nearest((*end)?, &spans)?.start());
    let mut starts: Vec<(usize, usize)> =
        ends.iter().zip(wanted).map(|(end, index)| (start(end).unwrap_or(0), *index)).collect();
    starts.sort_unstable();
    let mut cursor = Cursor::new(&document.text);
    located.extend(starts.into_iter().map(|(offset, index)| (index, cursor.seek(offset))));
}

// Byte offsets to lines and columns and back, in one pass over the text.

/// A place in a text that only moves forward, so that many look-ups in order cost one pass together.
pub(super) struct Cursor<'t> {
    text: &'t str,
    offset: usize,
    line: usize,
    column: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, offset: 0, line: 1, column: 1 }
    }

    /// Line and column, from 1, of a byte offset that is not before the last one.
    pub(super) fn seek(&mut self, offset: usize) -> (usize, usize) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        if let Some(passed) = self.text.get(self.offset..end) {
            match passed.rfind('\n') {
                Some(last) => {
                    self.line += passed.bytes().filter(|byte| *byte == b'\n').count();
                    self.column = 1 + passed.get(last + 1..).map_or(0, |rest| rest.chars().count());
                }
                None => self.column += passed.chars().count(),
            }
            self.offset = end;
        }
        (self.line, self.column)
    }

    /// The byte offset of a line and column that are not before the last ones; the end of the line when it is shorter.
    pub(super) fn find(&mut self, line: usize, column: usize) -> Option<usize> {
        while self.line < line {
            self.offset += self.text.get(self.offset..)?.find('\n')? + 1;
            self.line += 1;
            self.column = 1;
        }
        let rest = self.text.get(self.offset..)?;
        for c in rest.chars().take_while(|c| *c != '\n').take(column.saturating_sub(self.column)) {
            self.offset += c.len_utf8();
            self.column += 1;
        }
        Some(self.offset)
    }
}

#[cfg(test)]
#[path = "tests/place.rs"]
mod tests;

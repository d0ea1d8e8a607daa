//! Converts the JSON Pointers of findings to lines and columns, in one pass per document.

use std::collections::HashMap;

use super::pointer_tree::PointerTree;
use super::position::Cursor;
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

#[cfg(test)]
#[path = "tests/place.rs"]
mod tests;

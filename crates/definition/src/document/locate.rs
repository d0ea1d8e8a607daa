//! The lines and columns of findings, in one pass per document.

use std::collections::HashMap;

use super::line_columns::Cursor;
use super::pointer_tree::{NodeId, PointerTree};
use super::source::Document;
use crate::finding::Finding;

/// Fills in missing lines and columns of all findings whose file is among the documents.
///
/// A member of an object is shown at its key, an element of an array at its value, and a missing field at the nearest
/// existing value around it.
pub fn locate(documents: &[Document], findings: &mut [Finding]) {
    let mut by_file: HashMap<&str, Vec<usize>> = Default::default();
    for (index, finding) in findings.iter().enumerate() {
        if let Some(place) = finding.place.as_ref().filter(|place| place.line.is_none()) {
            by_file.entry(&place.file).or_default().push(index);
        }
    }
    let mut located = Vec::new();
    for document in documents {
        let Some(wanted) = by_file.remove(document.file.as_str()) else { continue };
        let pointer = |index: &usize| findings[*index].place.as_ref().map_or("", |place| &place.pointer);
        let (tree, ends) = PointerTree::new(wanted.iter().map(pointer));
        let spans = document.spans(&tree);
        let start = |end: Option<NodeId>| Some(tree.nearest(end?, &spans)?.start());
        let starts = ends.into_iter().map(|end| start(end).unwrap_or(0));
        let mut starts: Vec<(usize, usize)> = starts.zip(wanted).collect();
        starts.sort_unstable();
        let mut cursor = Cursor::new(&document.text);
        located.extend(starts.into_iter().map(|(offset, index)| (index, cursor.seek(offset))));
    }
    for (index, (line, column)) in located {
        if let Some(place) = &mut findings[index].place {
            (place.line, place.column) = (Some(line), Some(column));
        }
    }
}

#[cfg(test)]
#[path = "tests/place.rs"]
mod tests;

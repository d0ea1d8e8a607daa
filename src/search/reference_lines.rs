//! The lines of `words/world.txt`, each a reference tool, as topic vectors. `build.rs` reads them.

use super::columns::{ColumnReader, ColumnWriter, Columns, Rows};
use super::topics::Topics;

/// Reference tools by topic.
#[derive(Debug, Default)]
pub(super) struct ReferenceLines {
    pub(super) topics: Topics,
    /// Topic vector of each line.
    pub(super) lines: Rows<2>,
    /// For each topic the lines that have it, each with its weight.
    pub(super) by_topic: Rows<2>,
}

impl Columns for ReferenceLines {
    fn write(&self, to: &mut ColumnWriter) {
        self.topics.write(to);
        self.lines.write(to);
        self.by_topic.write(to);
    }

    fn read(from: &mut ColumnReader) -> Option<Self> {
        Some(Self {
            topics: Columns::read(from)?,
            lines: Columns::read(from)?,
            by_topic: Columns::read(from)?,
        })
    }
}

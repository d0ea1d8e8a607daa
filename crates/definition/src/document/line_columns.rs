//! Byte offsets to lines and columns and back, in one pass over the text.

/// A place in a text that only moves forward, so that many look-ups in order take one pass.
pub(crate) struct Cursor<'t> {
    text: &'t str,
    offset: usize,
    line: usize,
    column: usize,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, offset: 0, line: 1, column: 1 }
    }

    /// Line and column, from 1, of a byte offset that is not before the last one.
    pub(crate) fn seek(&mut self, offset: usize) -> (usize, usize) {
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

    /// The byte offset of a line and column that are not before the last ones; the end of the line if it is shorter.
    pub(crate) fn find(&mut self, line: usize, column: usize) -> Option<usize> {
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn columns_count_characters() {
        let text = "a\r\né→x\n";
        assert_eq!(Cursor::new(text).seek(0), (1, 1));
        assert_eq!(Cursor::new(text).seek(text.find('x').unwrap()), (2, 3));
        assert_eq!(Cursor::new(text).seek(usize::MAX), (3, 1));
    }

    proptest! {
        #[test]
        fn there_and_back(text in "[aé\n]{0,40}", mut offsets in prop::collection::vec(0usize..60, 0..8)) {
            offsets.sort_unstable();
            let mut there = Cursor::new(&text);
            let mut back = Cursor::new(&text);
            for offset in offsets {
                let (line, column) = there.seek(offset);
                let found = back.find(line, column).unwrap();
                prop_assert!(found == there.offset && text.is_char_boundary(found));
                prop_assert_eq!(Cursor::new(&text).seek(offset), (line, column));
            }
        }
    }
}

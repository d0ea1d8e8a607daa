//! Cursors: the id of a stored result, and the position of its next part.

/// Longest path of a cursor; JSON is nested less deeply.
const MAX_PATH: usize = 140;

/// A position in a value, by the indexes of children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    /// Path of the long part.
    pub(super) base: Vec<usize>,
    /// Path from there to the next child; of a position within a text, to the text.
    pub(super) path: Vec<usize>,
    /// The byte of a text.
    pub(super) byte: Option<usize>,
}

impl Position {
    /// Another position in the same long part.
    pub(super) fn moved(&self, path: Vec<usize>, byte: Option<usize>) -> Self {
        Self { base: self.base.clone(), path, byte }
    }

    /// The cursor of this position: `ID.`, then `k` and an index for each level of the long part, `i` and an index for each
    /// below it, `b` and a byte.
    pub(super) fn cursor(&self, id: &str) -> String {
        let step = |mark: char| move |index: &usize| format!("{mark}{index}");
        let steps = self.base.iter().map(step('k')).chain(self.path.iter().map(step('i')));
        let steps: String = steps.chain(self.byte.iter().map(step('b'))).collect();
        format!("{id}.{steps}")
    }

    /// The id and the position of a cursor.
    pub(super) fn read(cursor: &str) -> Option<(&str, Self)> {
        let (id, place) = cursor.trim().split_once('.')?;
        let is_id = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (mut position, mut rest) = (Self::default(), place);
        while let Some(mark) = rest.chars().next() {
            let digits = rest.get(1..)?;
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let index = digits[..end].parse().ok()?;
            rest = &digits[end..];
            match mark {
                'k' if position.path.is_empty() => position.base.push(index),
                'i' => position.path.push(index),
                'b' if rest.is_empty() => position.byte = Some(index),
                _ => return None,
            }
        }
        let is_whole = position.byte.is_some() || !position.path.is_empty();
        let is_short = position.base.len() + position.path.len() <= MAX_PATH;
        (id.len() <= 64 && id.starts_with("re_") && id.chars().all(is_id) && is_whole && is_short)
            .then_some((id, position))
    }
}

//! A table of texts: each has a number, in the order in which they came, and is found by its text.

use std::hash::BuildHasher;

use bytes::Bytes;
use hashbrown::{DefaultHashBuilder, HashTable};

use super::columns::{ColumnReader, ColumnWriter, Columns, Numbers};

/// Texts with their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct TextTable {
    /// All texts, one after another.
    text: String,
    ends: Vec<u32>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl TextTable {
    /// The number of a text; a new text gets the next one.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.get(text) {
            return number;
        }
        let number = self.ends.len() as u32;
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
        self.insert(number);
        number
    }

    fn insert(&mut self, number: u32) {
        let (text, ends, hasher) = (&self.text, &self.ends, &self.hasher);
        let hash = |number: &u32| hasher.hash_one(span(text, ends, *number));
        self.numbers.insert_unique(hash(&number), number, hash);
    }

    /// The number of a known text.
    #[inline]
    pub(super) fn get(&self, text: &str) -> Option<u32> {
        self.numbers.find(self.hasher.hash_one(text), |&number| self.text(number) == text).copied()
    }

    /// The text with this number; empty where there is none.
    #[inline]
    pub(super) fn text(&self, number: u32) -> &str {
        span(&self.text, &self.ends, number)
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }
}

#[inline]
fn span<'t>(text: &'t str, ends: &[u32], number: u32) -> &'t str {
    let end = |place: usize| ends.get(place).map_or(0, |end| *end as usize);
    let place = number as usize;
    text.get(place.checked_sub(1).map_or(0, end)..end(place)).unwrap_or_default()
}

impl Columns for TextTable {
    fn write(&self, to: &mut ColumnWriter) {
        to.add(self.text.as_bytes());
        self.ends.iter().copied().collect::<Numbers>().write(to);
    }

    fn read(from: &mut ColumnReader) -> Option<Self> {
        let text = String::from_utf8(Bytes::read(from)?.into()).ok()?;
        let ends: Vec<u32> = Numbers::read(from)?.all().iter().map(|end| u32::from_le_bytes(*end)).collect();
        let mut table = Self { text, ends, ..Self::default() };
        for number in 0..table.ends.len() as u32 {
            table.insert(number);
        }
        Some(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_numbers_also_in_a_file() {
        let mut table = TextTable::default();
        let numbers: Vec<u32> = ["one", "zwei", "", "one", "три"].map(|text| table.number(text)).into();
        assert_eq!(numbers, [0, 1, 2, 0, 3]);
        let mut writer = ColumnWriter::default();
        table.write(&mut writer);
        let back = TextTable::read(&mut ColumnReader(writer.finish().into())).expect("a table");
        assert_eq!((back.len(), back.get("три"), back.get("four")), (4, Some(3), None));
        assert_eq!((back.text(1), back.text(3), back.text(9)), ("zwei", "три", ""));
    }
}

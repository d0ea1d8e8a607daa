//! A table of texts: each has a number, in the order in which they came, and is found by its text.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

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
        let (text, ends, hasher) = (&self.text, &self.ends, &self.hasher);
        let hash = |number: &u32| hasher.hash_one(span(text, ends, *number));
        self.numbers.insert_unique(hash(&number), number, hash);
        number
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_numbers() {
        let mut table = TextTable::default();
        let numbers: Vec<u32> = ["one", "zwei", "", "one", "три"].map(|text| table.number(text)).into();
        assert_eq!(numbers, [0, 1, 2, 0, 3]);
        assert_eq!((table.len(), table.get("три"), table.get("four")), (4, Some(3), None));
        assert_eq!((table.text(1), table.text(3), table.text(9)), ("zwei", "три", ""));
    }
}

//! The meaning of words as vectors of whole numbers, so that sums are the same on each machine.
//!
//! The model in `model/static.bin`, which `lab/search/pack.py` writes, has a vector for each piece of a word. A text is
//! the sum of its pieces. Nothing is read of the model before its first use, and nothing is parsed. Without the feature
//! `static-model`, no word has a meaning, and search compares words alone.

use std::cmp::Ordering;

/// Numbers of a vector.
const DIMENSIONS: usize = 128;
/// Length of a [`Meaning`]: the product of two has at most its square, which fits 32 bits.
const UNIT: f64 = 4096.0;
/// Longest word that is split, in bytes.
const MAX_WORD: usize = 40;

#[cfg(feature = "static-model")]
static MODEL: &[u8] = include_bytes!("../model/static.bin");
#[cfg(not(feature = "static-model"))]
static MODEL: &[u8] = b"toolcrib model 1\0\0\0\0\0\0\0\0";

/// A vector of whole numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Vector<N>([N; DIMENSIONS]);
/// Sum of vectors. A sum of some thousand words fits.
pub(super) type Sum = Vector<i32>;
/// A vector of length one, in steps of 1/4096. All zeros has no meaning.
pub(super) type Meaning = Vector<i16>;

impl<N: Copy + Default> Default for Vector<N> {
    fn default() -> Self {
        Self([N::default(); DIMENSIONS])
    }
}

impl Sum {
    /// The sum of the pieces of a word in lower case.
    pub(super) fn of_word(word: &str) -> Self {
        let mut sum = Self::default();
        for row in pieces(word) {
            let Some((scale, numbers)) = row_at(row) else { continue };
            for (sum, number) in sum.0.iter_mut().zip(numbers) {
                *sum += i32::from(scale) * i32::from(*number as i8);
            }
        }
        sum
    }

    /// Adds a vector. Four thousand pieces fit; vector instructions have no other addition of this width.
    pub(super) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, number)| *sum = sum.wrapping_add(*number));
    }

    /// The vector of length one in the same direction. Square roots and quotients are exact in IEEE 754.
    pub(super) fn meaning(&self) -> Meaning {
        // Eight sums at once, and rounding without a call, since an index has this for each entry and word.
        let mut squares = [0.0; 8];
        for numbers in self.0.as_chunks::<8>().0 {
            squares.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += f64::from(*number).powi(2));
        }
        let length = f64::sqrt(squares.iter().sum());
        let mut meaning = Meaning::default();
        if length > 0.0 {
            let scale = (UNIT / length) as f32;
            for (to, number) in meaning.0.iter_mut().zip(&self.0) {
                let exact = *number as f32 * scale;
                *to = (exact + 0.5_f32.copysign(exact)) as i32 as i16;
            }
        }
        meaning
    }
}

impl Meaning {
    /// The sum of two directions, the second with a weight in hundredths.
    pub(super) fn with(&self, other: &Self, hundredths: i32) -> Self {
        let mut sum = Sum::default();
        for ((sum, one), other) in sum.0.iter_mut().zip(&self.0).zip(&other.0) {
            *sum = 100 * i32::from(*one) + hundredths * i32::from(*other);
        }
        sum.meaning()
    }

    /// Whether it has no direction.
    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; DIMENSIONS]
    }

    /// Cosine of the angle between two, from -1 to 1; 0 where either has no meaning.
    #[inline]
    pub(super) fn near(&self, other: &Self) -> f32 {
        let products = self.0.iter().zip(&other.0).map(|(one, other)| i32::from(*one) * i32::from(*other));
        products.sum::<i32>() as f32 / (UNIT * UNIT) as f32
    }
}

/// Number of pieces in the model.
fn count() -> usize {
    number(16) as usize
}

fn number(at: usize) -> u32 {
    MODEL.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// The text of a piece.
fn piece(row: usize) -> &'static [u8] {
    let texts = 24 + 4 * count();
    let end = |row: usize| number(24 + 4 * row) as usize;
    let start = if row == 0 { 0 } else { end(row - 1) };
    MODEL.get(texts + start..texts + end(row)).unwrap_or_default()
}

/// Scale and numbers of a piece.
fn row_at(row: usize) -> Option<(u16, &'static [u8])> {
    let scales = 24 + 4 * count() + number(20 + 4 * count()) as usize;
    let scale = MODEL.get(scales + 2 * row..scales + 2 * row + 2)?;
    let numbers = scales + 2 * count() + row * DIMENSIONS;
    Some((u16::from_le_bytes(scale.try_into().ok()?), MODEL.get(numbers..numbers + DIMENSIONS)?))
}

/// The row and the length of the longest piece that a text begins with; of a piece that begins a word, or goes on with one.
fn longest(mut text: &[u8], goes_on: bool) -> Option<(usize, usize)> {
    // "##" is less than any letter or digit.
    let own = |row: usize| match (piece(row).strip_prefix(b"##"), goes_on) {
        (Some(rest), true) => Ok(rest),
        (None, false) => Ok(piece(row)),
        (Some(_), false) => Err(Ordering::Less),
        (None, true) => Err(Ordering::Greater),
    };
    while !text.is_empty() {
        let mut from = 0;
        let mut to = count();
        while from < to {
            let middle = usize::midpoint(from, to);
            match own(middle).map_or_else(|order| order, |known| known.cmp(text)) {
                Ordering::Greater => to = middle,
                _ => from = middle + 1,
            }
        }
        // The last piece that is not after the text begins as any piece that the text begins with.
        let row = from.checked_sub(1)?;
        let known = own(row).ok()?;
        let same = known.iter().zip(text).take_while(|(one, other)| one == other).count();
        if same == known.len() {
            return Some((row, same));
        }
        text = &text[..same];
    }
    None
}

/// Whether a word is a piece of its own: an ordinary word, spelled well.
pub(super) fn is_word(word: &str) -> bool {
    longest(word.as_bytes(), false).is_some_and(|(_, length)| length == word.len())
}

/// The longest pieces of a word, from the left; none for a word that is not made of pieces.
fn pieces(word: &str) -> Vec<usize> {
    let word = word.as_bytes();
    let mut rows = Vec::new();
    let mut from = 0;
    if word.len() > MAX_WORD || count() == 0 {
        return rows;
    }
    while from < word.len() {
        let Some((row, length)) = longest(&word[from..], from > 0) else { return Vec::new() };
        rows.push(row);
        from += length;
    }
    // Letters that make no word have no meaning.
    if rows.len() > 2 && 2 * rows.len() > word.len() { Vec::new() } else { rows }
}

#[cfg(all(test, feature = "static-model"))]
mod tests {
    use super::*;

    fn near(one: &str, other: &str) -> f32 {
        Sum::of_word(one).meaning().near(&Sum::of_word(other).meaning())
    }

    #[test]
    fn every_piece_of_the_model_is_found_in_its_row() {
        assert_eq!(number(20) as usize, DIMENSIONS);
        for row in 0..count() {
            let text = piece(row);
            let goes_on = text.starts_with(b"##");
            let text = text.strip_prefix(b"##").unwrap_or(text);
            assert_eq!(longest(text, goes_on), Some((row, text.len())));
        }
        assert_eq!(row_at(count() - 1).unwrap().1.as_ptr_range().end, MODEL.as_ptr_range().end);
        assert!(row_at(count()).is_none());
    }

    #[test]
    fn words_of_similar_meaning_are_near() {
        assert!(near("bug", "issue") > near("bug", "folder"));
        assert!((near("weather", "weather") - 1.0).abs() < 0.001);
        assert_eq!(near("天气", "weather"), 0.0);
        assert_eq!(Sum::of_word("qzxvjjkw").meaning(), Meaning::default());
        assert_eq!(Sum::of_word(&"x".repeat(99)).meaning(), Meaning::default());
    }

    #[test]
    fn a_vector_is_the_same_on_each_machine() {
        let Vector(numbers) = Sum::of_word("forecast").meaning();
        let sum = numbers.iter().fold(0_i64, |sum, number| sum * 31 % 1_000_003 + i64::from(*number));
        assert_eq!(sum, 810362);
    }
}

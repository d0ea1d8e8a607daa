//! Weights of terms by BM25: higher for rare terms, for frequent ones of an entry, and in short texts.

use super::{Field, Term};

/// Weight of each field, and the influence of its length.
const FIELDS: [(Field, f32, f32); 8] = [
    (Field::Name, 3.0, 0.3),
    (Field::Alias, 1.5, 0.3),
    (Field::Short, 0.8, 0.5),
    (Field::Long, 1.5, 0.5),
    (Field::Parameter, 0.8, 0.5),
    (Field::ParameterText, 0.7, 0.5),
    (Field::Label, 1.0, 0.3),
    (Field::Example, 0.4, 0.5),
];
/// Saturation of repeated words (BM25's k1).
const SATURATION: f32 = 1.2;
/// Exponent of BM25's idf; below 1, rare words count less.
const IDF_POWER: f32 = 0.85;
/// Least weight of a word, as a share of the largest.
const MIN_IDF_SHARE: f32 = 0.1;

/// A number for each field.
pub(super) type OfFields<N> = [N; FIELDS.len()];
/// How often each term of an entry is in each field, sorted by term.
pub(super) type TermCounts = Vec<(Term, OfFields<u16>)>;

/// The terms, each with the fields that contain it, one bit each.
pub(super) fn with_fields(counts: &TermCounts) -> Vec<(Term, u8)> {
    let bit = |(field, count): (&(Field, f32, f32), &u16)| if *count > 0 { field.0.bit() } else { 0 };
    let bits = |counts: &OfFields<u16>| FIELDS.iter().zip(counts).map(bit).sum();
    counts.iter().map(|(term, counts)| (*term, bits(counts))).collect()
}

/// Inverse document frequency of a term that so many of all entries have.
pub(super) fn idf_of(having: usize, all: usize) -> f32 {
    let having = having as f32;
    let all = all as f32;
    let tells = |having: f32| (1.0 + (all - having + 0.5) / (having + 0.5)).ln().powf(IDF_POWER);
    // A word that all entries have at least shows which catalog this is.
    tells(having).max(MIN_IDF_SHARE * tells(0.0))
}

/// The entries that contain each term, with its weight in each. `having` is the number of entries of each term.
pub(super) fn postings<'t>(
    entries: impl ExactSizeIterator<Item = (&'t TermCounts, &'t OfFields<f32>)> + Clone,
    having: &[usize],
) -> Vec<Vec<(u32, f32)>> {
    let number = entries.len().max(1) as f32;
    let mut mean = OfFields::<f32>::default();
    for (_, lengths) in entries.clone() {
        mean.iter_mut().zip(lengths).for_each(|(mean, length)| *mean += length / number);
    }
    let weight = |counts: &OfFields<u16>, length: &OfFields<f32>| {
        let mut weight = 0.0;
        for (field, (_, scale, evens)) in FIELDS.iter().enumerate().filter(|(field, _)| counts[*field] > 0) {
            let length = 1.0 - evens + evens * length[field] / mean[field].max(1.0);
            weight += scale * f32::from(counts[field]) / length;
        }
        weight * (SATURATION + 1.0) / (weight + SATURATION)
    };
    let mut postings: Vec<Vec<(u32, f32)>> =
        having.iter().map(|having| Vec::with_capacity(*having)).collect();
    for ((counts, length), entry) in entries.zip(0..) {
        for (term, counts) in counts {
            postings[*term as usize].push((entry, weight(counts, length)));
        }
    }
    postings
}

//! The probability that a hit is right, and that any hit is: two logistic models over features of the first hits.
//!
//! `lab/search/fit.py` fits their weights.

use super::candidate::Candidate;
use super::index::Index;
use super::nearness::Nearness;
use super::query::{Query, Unit};

/// Confidence of a hit whose name is in the query.
pub const NAMED: f32 = 0.99;
/// Confidence of the first hit below which the verdict is `unsure`.
pub(super) const UNSURE: f32 = 0.55;
/// Least probability that any hit fits where the first hit has every word of the query.
const SURE_MATCH_LIKELIHOOD: f32 = 0.4;
/// How much less the score of a rival may be: then either may be right.
const RIVAL: f32 = 1.5;
/// Weight from which a sense counts as the word itself.
const LITERAL: f32 = 0.8;

/// Features of a hit.
#[derive(Clone, Debug, Default)]
pub(super) struct Features {
    pub(super) hit: Candidate,
    /// Share of the query's topics that it meets literally.
    literally: f32,
    /// Nearness of its words to each unit of the query.
    units: Vec<f32>,
    /// Score of the next hit, or the first, less its own.
    next: f32,
    place: f32,
    /// Logarithm of the number of first hits whose scores are no worse, or hardly, its own included.
    rivals: f32,
}

/// A value of a logistic model, with its weight.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// The value as the source writes it.
    pub name: &'static str,
    pub value: f32,
    pub weight: f32,
}

macro_rules! terms {
    ($($value:expr => $weight:expr,)+) => {
        [$(Term { name: stringify!($value), value: $value, weight: $weight }),+]
    };
}

fn logistic(terms: &[Term]) -> f32 {
    let sum: f32 = terms.iter().map(|term| term.value * term.weight).sum();
    1.0 / (1.0 + (-sum).exp())
}

impl Index {
    /// Features of the hit at a position, given the scores of the first hits.
    pub(super) fn features(&self, query: &Query, place: usize, hit: &Candidate, scores: &[f32]) -> Features {
        let entry = hit.entry;
        let units = self.units_near(query, entry, &mut Nearness::default());
        let is_literal = |unit: &Unit| self.met(unit, entry).any(|(sense, _)| sense.weight >= LITERAL);
        let other = scores.get(if place == 0 { 1 } else { 0 });
        Features {
            hit: *hit,
            literally: covered(query, query.units.iter().map(|unit| f32::from(u8::from(is_literal(unit))))),
            units,
            next: other.copied().unwrap_or(0.0) - hit.score,
            place: (place as f32 + 1.0).ln(),
            rivals: (scores.iter().filter(|score| **score > hit.score - RIVAL).count().max(1) as f32).ln(),
        }
    }

    /// Probability that any of the first hits fits.
    pub(super) fn match_likelihood(&self, query: &Query, hits: &[Features]) -> f32 {
        let Some(first) = hits.first() else { return 0.0 };
        let fit = logistic(&self.match_terms(query, hits));
        // A user who types a word of a tool wants to see that tool.
        if first.literally > 0.99 { fit.max(SURE_MATCH_LIKELIHOOD) } else { fit }
    }

    /// Terms of the probability that any of the first hits fits; there is a first hit.
    pub(super) fn match_terms(&self, query: &Query, hits: &[Features]) -> [Term; 13] {
        let most = |value: fn(&Features) -> f32| hits.iter().map(value).fold(0.0, f32::max);
        let nearest = |place: usize| hits.iter().map(|hit| hit.units[place]).fold(0.0, f32::max);
        let near: Vec<f32> = (0..query.units.len()).map(nearest).collect();
        let least = least(query, &near);
        let together = covered(query, near.into_iter());
        let first = &hits[0];
        let length = (query.length as f32 + 1.0).ln();
        terms! {
            1.0 => -8.020,
            first.hit.meaning => 4.327,
            most(|hit| hit.hit.meaning) => 7.408,
            most(|hit| hit.hit.phrase) => 1.335,
            first.hit.near => -0.597,
            together => 3.683,
            least => 0.692,
            first.literally => 1.742,
            first.hit.agrees => 0.283,
            first.hit.extra => -0.160,
            first.hit.head => 0.034,
            length => 0.176,
            (self.len() as f32).ln() => -0.123,
        }
    }
}

/// Weight of a topic from which it is an object of the query.
const OBJECT: f32 = 0.6;

/// Share of a query's topics that is covered, where each unit is covered by a value from 0 to 1.
fn covered(query: &Query, values: impl Iterator<Item = f32>) -> f32 {
    let mut covered = 0.0;
    let mut all = 0.0;
    for (unit, value) in query.units.iter().zip(values).filter(|(unit, _)| unit.topic > 0.0) {
        covered += unit.topic * value;
        all += unit.topic;
    }
    if all > 0.0 { covered / all } else { 0.0 }
}

/// The least of these values among the objects of a query.
fn least(query: &Query, values: &[f32]) -> f32 {
    let objects = query.units.iter().zip(values).filter(|(unit, _)| unit.topic >= OBJECT);
    objects.fold(1.0, |least, (_, value)| least.min(*value))
}

/// Confidence of a hit, given the probability that any hit fits.
pub(super) fn of(hit: &Features, fit: f32) -> f32 {
    logistic(&hit.terms(fit))
}

impl Features {
    /// Terms of the probability that the hit is right, given the probability that any hit fits.
    pub(super) fn terms(&self, fit: f32) -> [Term; 9] {
        terms! {
            1.0 => -2.377,
            fit => 2.226,
            self.hit.phrase => 1.003,
            self.hit.near => 0.227,
            // Its share of the words of the best candidate by words.
            self.hit.features[0] => -0.332,
            self.hit.agrees => 0.133,
            self.next => -0.224,
            self.place => -0.265,
            self.rivals => -0.847,
        }
    }
}

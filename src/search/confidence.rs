//! How likely a hit is what was wanted, and whether anything is.

use super::index::Index;
use super::query::Query;
use super::rank::Candidate;

/// What tells whether a hit fits.
#[derive(Clone, Debug, Default)]
pub(super) struct Features {
    pub(super) values: [f32; COUNT],
}

pub(super) const COUNT: usize = 17;

/// The confidence of a hit whose name was said.
pub(super) const NAMED: f32 = 0.99;

impl Index {
    /// What is known of the hit at a place.
    pub(super) fn features(&self, query: &Query, place: usize, candidate: &Candidate, scores: &[f32]) -> Features {
        let entry = candidate.entry;
        let words = query.units.iter().map(|unit| unit.words.end).max().unwrap_or(0);
        // How well each word that was said is met, and how well literally; phrases count for their words.
        let mut met = vec![(0.0_f32, 0.0_f32); words];
        let mut strongest = 0.0_f32;
        let mut units = 0.0_f32;
        for unit in &query.units {
            let mut best = 0.0_f32;
            let mut literal = 0.0_f32;
            for sense in &unit.senses {
                if self.fields(sense.term, entry).is_some() {
                    best = best.max(sense.weight);
                    if sense.weight >= 0.8 {
                        literal = 1.0;
                    }
                    strongest = strongest.max(unit.weight * sense.weight * self.rarity[sense.term as usize]);
                }
            }
            if best > 0.0 && unit.weight > 0.4 {
                units += 1.0;
            }
            for word in unit.words.clone() {
                met[word] = (met[word].0.max(best.powf(0.4)), met[word].1.max(literal));
            }
        }
        let (mut topics, mut covered, mut literally) = (0.0, 0.0, 0.0);
        let (mut told, mut telling) = (0.0, 0.0);
        let mut unknown = 0.0;
        for unit in query.units.iter().filter(|unit| unit.topic > 0.0) {
            let (best, literal) = met[unit.words.start];
            topics += unit.topic;
            covered += unit.topic * best;
            literally += unit.topic * literal;
            let own = unit.senses.first().filter(|sense| sense.weight >= 0.8).map_or(self.most, |sense| self.rarity[sense.term as usize]);
            telling += unit.topic * own;
            told += unit.topic * own * best;
            if unit.senses.is_empty() {
                unknown += unit.topic;
            }
        }
        let mut actions_free = (0.0_f32, 0.0_f32);
        for unit in query.units.iter().filter(|unit| unit.topic > 0.9) {
            let (best, _) = met[unit.words.start];
            actions_free.0 += best;
            actions_free.1 += 1.0 - best;
        }
        let share = |part: f32, whole: f32| if whole > 0.0 { part / whole } else { 0.0 };
        let first = scores.first().copied().unwrap_or(0.0);
        let next = scores.get(if place == 0 { 1 } else { 0 }).copied().unwrap_or(0.0);
        let last = scores.last().copied().unwrap_or(0.0);
        let values = [
            share(covered, topics),
            share(literally, topics),
            share(told, telling),
            candidate.name,
            strongest / self.most,
            candidate.score / self.most,
            (1.0 + units).ln(),
            (1.0 + topics).ln(),
            share(unknown, topics),
            share(candidate.score, first),
            share(next, candidate.score).min(2.0),
            share(last, first),
            (place as f32 + 1.0).ln(),
            (self.entries as f32).ln(),
            candidate.about,
            actions_free.0,
            actions_free.1,
        ];
        Features { values }
    }
}

/// How likely the hit is what was wanted.
pub(super) fn of(features: &Features) -> f32 {
    features.values[0].clamp(0.0, 1.0)
}

/// Whether any of the first hits is.
pub(super) fn any_fits(first: &[Features]) -> bool {
    first.first().is_some_and(|features| features.values[0] > 0.3)
}

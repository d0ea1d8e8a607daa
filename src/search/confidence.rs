//! How likely a hit is what was wanted, and whether anything is.

use super::index::Index;
use super::query::Query;
use super::rank::Candidate;

/// What tells whether a hit fits.
#[derive(Clone, Debug, Default)]
pub(super) struct Features {
    pub(super) values: [f32; COUNT],
    /// How well each word of the query is met, and how well literally.
    met: Vec<(f32, f32)>,
}

pub(super) const COUNT: usize = 18;

/// The confidence of a hit whose name was said.
pub(super) const NAMED: f32 = 0.99;

fn share(part: f32, whole: f32) -> f32 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl Index {
    /// What is known of the hit at a place, where the first hits have these scores.
    pub(super) fn features(&self, query: &Query, place: usize, candidate: &Candidate, scores: &[f32]) -> Features {
        let entry = candidate.entry;
        let words = query.units.iter().map(|unit| unit.words.end).max().unwrap_or(0);
        let mut met = vec![(0.0_f32, 0.0_f32); words];
        let (mut strongest, mut units) = (0.0_f32, 0.0_f32);
        for unit in &query.units {
            let (mut best, mut literal) = (0.0_f32, 0.0_f32);
            for sense in unit.senses.iter().filter(|sense| self.fields(sense.term, entry).is_some()) {
                best = best.max(sense.weight);
                literal = literal.max(if sense.weight >= 0.8 { 1.0 } else { 0.0 });
                strongest = strongest.max(unit.weight * sense.weight * self.rarity[sense.term as usize]);
            }
            if best > 0.0 && unit.weight > 0.4 {
                units += 1.0;
            }
            for word in unit.words.clone() {
                met[word] = (met[word].0.max(best.powf(0.4)), met[word].1.max(literal));
            }
        }
        let (topics, covered, literally, told, telling) = self.covered(query, &met);
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
            share(candidate.score, first),
            share(next, candidate.score).min(2.0),
            share(last, first),
            (place as f32 + 1.0).ln(),
            (self.entries as f32).ln(),
            candidate.about,
            topics - covered,
            candidate.score / self.whole[entry as usize].max(0.1),
            (1.0 + self.whole[entry as usize]).ln(),
            candidate.score / self.mean_whole.max(0.1),
        ];
        Features { values, met }
    }

    /// Topics of a query, those that are met, in any way and literally, and both by how much they tell.
    fn covered(&self, query: &Query, met: &[(f32, f32)]) -> (f32, f32, f32, f32, f32) {
        let (mut topics, mut covered, mut literally, mut told, mut telling) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for unit in query.units.iter().filter(|unit| unit.topic > 0.0) {
            let (best, literal) = met[unit.words.start];
            let own = unit.senses.first().filter(|sense| sense.weight >= 0.8);
            let own = own.map_or(self.most, |sense| self.rarity[sense.term as usize]);
            topics += unit.topic;
            covered += unit.topic * best;
            literally += unit.topic * literal;
            telling += unit.topic * own;
            told += unit.topic * own * best;
        }
        (topics, covered, literally, told, telling)
    }

    /// What is known of a query by its first hits.
    pub(super) fn fit(&self, query: &Query, hits: &[Features]) -> [f32; FIT] {
        let Some(first) = hits.first() else { return [0.0; FIT] };
        let mut met = first.met.clone();
        for hit in &hits[1..] {
            for (all, one) in met.iter_mut().zip(&hit.met) {
                *all = (all.0.max(one.0), all.1.max(one.1));
            }
        }
        let (topics, covered, literally, told, telling) = self.covered(query, &met);
        let most = |value: usize| hits.iter().map(|hit| hit.values[value]).fold(0.0, f32::max);
        let known: f32 = query.units.iter().filter(|unit| !unit.senses.is_empty()).map(|unit| unit.topic).sum();
        let mean_about = hits.iter().map(|hit| hit.values[13]).sum::<f32>() / hits.len() as f32;
        let v = &first.values;
        [
            v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[9], v[10], v[12], v[13], v[14],
            share(covered, topics), share(literally, topics), share(told, telling), most(3), most(13), most(0),
            share(known, topics), mean_about, topics - covered, v[0] * v[3], v[0] * v[13], v[4] * v[0], v[15], v[16], v[17], (1.0 + self.mean_whole).ln(),
        ]
    }
}

pub(super) const FIT: usize = 29;

/// How likely the hit is what was wanted.
pub(super) fn of(features: &Features) -> f32 {
    features.values[0].clamp(0.0, 1.0)
}

/// Whether any of the first hits is.
pub(super) fn any_fits(first: &[Features]) -> bool {
    first.first().is_some_and(|features| features.values[0] > 0.3)
}

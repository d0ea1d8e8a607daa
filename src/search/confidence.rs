//! How likely a hit is what was wanted, and whether anything is: two logistic models over what is known of the first hits.
//!
//! Their weights were fitted to the labelled queries of six sets, and to queries of one set asked of the catalog of another
//! of which a reader had judged that it cannot serve them; `ARCHITECTURE.md` tells how well they hold for sets left out.

use super::index::Index;
use super::query::Query;
use super::rank::Candidate;

/// The confidence of a hit whose name was said.
pub const NAMED: f32 = 0.99;

/// Below this likelihood that anything fits, the answer is that nothing does.
pub(super) const LEAST_FIT: f32 = 0.2;

/// What is known of a hit.
#[derive(Clone, Debug, Default)]
pub(super) struct Features {
    /// The share of the query's topics that it meets: in any way, literally, and weighed by what they tell.
    met: f32,
    literally: f32,
    told: f32,
    /// The share of its name that is said.
    name: f32,
    /// What its most telling word counts, and all of them, as shares of what a word can tell.
    strongest: f32,
    score: f32,
    /// How many words it meets, and how many topics the query has; logarithms.
    units: f32,
    topics: f32,
    /// Its score against that of the first hit, and of the next one; the last hit against the first.
    of_first: f32,
    next: f32,
    last: f32,
    place: f32,
    entries: f32,
    /// How much it is about the same.
    about: f32,
    /// Topics that it does not meet.
    missed: f32,
    /// Its score against what all its own words would count, that sum, and against the mean of such sums.
    of_whole: f32,
    whole: f32,
    of_mean: f32,
    /// How well each word of the query is met, and how well literally.
    words: Vec<(f32, f32)>,
}

/// How much of a query's topics is met.
#[derive(Clone, Copy, Default)]
struct Covered {
    topics: f32,
    met: f32,
    literally: f32,
    telling: f32,
    told: f32,
}

fn share(part: f32, whole: f32) -> f32 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn logistic(terms: &[(f32, f32)], bias: f32) -> f32 {
    let sum: f32 = bias + terms.iter().map(|(value, weight)| value * weight).sum::<f32>();
    1.0 / (1.0 + (-sum).exp())
}

impl Index {
    /// What is known of the hit at a place, where the first hits have these scores.
    pub(super) fn features(
        &self,
        query: &Query,
        place: usize,
        candidate: &Candidate,
        scores: &[f32],
    ) -> Features {
        let entry = candidate.entry;
        let said = query.units.iter().map(|unit| unit.words.end).max().unwrap_or(0);
        let mut words = vec![(0.0_f32, 0.0_f32); said];
        let (mut strongest, mut units) = (0.0_f32, 0.0_f32);
        for unit in &query.units {
            let (mut best, mut literal) = (0.0_f32, 0.0_f32);
            for sense in unit.senses.iter().filter(|sense| self.fields(sense.term, entry).is_some()) {
                best = best.max(sense.weight);
                literal = literal.max(if sense.weight >= LITERAL { 1.0 } else { 0.0 });
                strongest = strongest.max(unit.weight * sense.weight * self.rarity[sense.term as usize]);
            }
            if best > 0.0 && unit.weight > 0.4 {
                units += 1.0;
            }
            for word in unit.words.clone() {
                words[word] = (words[word].0.max(best.powf(0.4)), words[word].1.max(literal));
            }
        }
        let covered = self.covered(query, &words);
        let at = |place: usize| scores.get(place).copied().unwrap_or(0.0);
        let whole = self.whole[entry as usize];
        Features {
            met: share(covered.met, covered.topics),
            literally: share(covered.literally, covered.topics),
            told: share(covered.told, covered.telling),
            name: candidate.name,
            strongest: strongest / self.most,
            score: candidate.score / self.most,
            units: (1.0 + units).ln(),
            topics: (1.0 + covered.topics).ln(),
            of_first: share(candidate.score, at(0)),
            next: share(at(if place == 0 { 1 } else { 0 }), candidate.score).min(2.0),
            last: share(scores.last().copied().unwrap_or(0.0), at(0)),
            place: (place as f32 + 1.0).ln(),
            entries: (self.entries as f32).ln(),
            about: candidate.about,
            missed: covered.topics - covered.met,
            of_whole: candidate.score / whole.max(0.1),
            whole: (1.0 + whole).ln(),
            of_mean: candidate.score / self.mean_whole.max(0.1),
            words,
        }
    }

    fn covered(&self, query: &Query, words: &[(f32, f32)]) -> Covered {
        let mut covered = Covered::default();
        for unit in query.units.iter().filter(|unit| unit.topic > 0.0) {
            let (met, literally) = words[unit.words.start];
            let own = unit.senses.first().filter(|sense| sense.weight >= LITERAL);
            let tells = unit.topic * own.map_or(self.most, |sense| self.rarity[sense.term as usize]);
            covered.topics += unit.topic;
            covered.met += unit.topic * met;
            covered.literally += unit.topic * literally;
            covered.telling += tells;
            covered.told += tells * met;
        }
        covered
    }

    /// How likely it is that any of the first hits fits.
    pub(super) fn fit(&self, query: &Query, hits: &[Features]) -> f32 {
        let Some(first) = hits.first() else { return 0.0 };
        let mut words = first.words.clone();
        for hit in &hits[1..] {
            for (all, one) in words.iter_mut().zip(&hit.words) {
                *all = (all.0.max(one.0), all.1.max(one.1));
            }
        }
        let together = self.covered(query, &words);
        let most = |value: fn(&Features) -> f32| hits.iter().map(value).fold(0.0, f32::max);
        let known = query.units.iter().filter(|unit| !unit.senses.is_empty()).map(|unit| unit.topic).sum();
        let about = hits.iter().map(|hit| hit.about).sum::<f32>() / hits.len() as f32;
        let terms = [
            (first.literally, 2.054),
            (first.told, 2.13),
            (first.strongest, -0.513),
            (first.score, 0.072),
            (first.topics, 2.025),
            (first.last, -1.145),
            (first.entries, -1.091),
            (first.missed, 0.029),
            (share(together.met, together.topics), 2.465),
            (share(together.literally, together.topics), 1.718),
            (share(together.told, together.telling), -5.403),
            (most(|hit| hit.name), 1.064),
            (most(|hit| hit.about), 2.992),
            (share(known, together.topics), 3.559),
            (about, 1.682),
            (together.topics - together.met, -0.395),
            (first.met * first.name, 2.019),
            (first.met * first.about, -1.115),
            (first.of_whole, 2.207),
            (first.whole, 0.886),
            ((1.0 + self.mean_whole).ln(), -0.534),
        ];
        logistic(&terms, -3.084)
    }
}

/// From this weight on a sense is the word itself.
const LITERAL: f32 = 0.8;

/// How likely the hit is what was wanted.
pub(super) fn of(hit: &Features) -> f32 {
    let terms = [
        (hit.met, 0.521),
        (hit.literally, 0.646),
        (hit.told, 0.903),
        (hit.name, 0.447),
        (hit.strongest, -0.845),
        (hit.score, -0.082),
        (hit.units, -0.429),
        (hit.topics, 1.461),
        (hit.of_first, -0.687),
        (hit.next, -2.982),
        (hit.last, -2.3),
        (hit.place, -0.343),
        (hit.entries, -0.14),
        (hit.about, 1.09),
        (hit.missed, -0.087),
        (hit.of_whole, 1.139),
        (hit.whole, 0.655),
        (hit.of_mean, 0.118),
    ];
    logistic(&terms, -0.041)
}

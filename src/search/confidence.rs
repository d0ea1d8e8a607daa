//! The probability that a hit is right, and that any hit is: two logistic models over features of the first hits.
//!
//! Their weights were fitted to the labelled queries of six sets, and to queries of one set asked of another set's
//! catalog, of which a reader had judged that it cannot serve them. `ARCHITECTURE.md` has the errors for sets that
//! were left out of the fit.

use super::candidate::Candidate;
use super::index::Index;
use super::query::Query;

/// Confidence of a hit whose name is in the query.
pub const NAMED: f32 = 0.99;

/// Features of a hit.
#[derive(Clone, Debug, Default)]
pub(super) struct Features {
    /// Share of the query's topics that it meets: in any sense, literally, and weighted by how distinctive they are.
    met: f32,
    literally: f32,
    told: f32,
    /// Share of its name that the query says.
    name: f32,
    /// Weight of its strongest word, and of all its words, as shares of the largest weight of a word.
    strongest: f32,
    score: f32,
    /// Logarithms of the words that it meets, and of the topics of the query.
    units: f32,
    topics: f32,
    /// Its score relative to the first hit, and to the next one; the last hit's relative to the first.
    of_first: f32,
    next: f32,
    last: f32,
    place: f32,
    entries: f32,
    /// Similarity of its topics and the query's.
    about: f32,
    /// Share of topics that it does not meet.
    missed: f32,
    /// Its score relative to the sum of all its own words, that sum, and the score relative to the mean of such sums.
    of_whole: f32,
    whole: f32,
    of_mean: f32,
    /// Degree to which it meets each word of the query, in any sense and literally.
    words: Vec<(f32, f32)>,
    entry: u32,
}

/// Coverage of a query's topics.
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

fn logistic(values: &[f32], weights: &[f32], bias: f32) -> f32 {
    let sum: f32 = bias + values.iter().zip(weights).map(|(value, weight)| value * weight).sum::<f32>();
    1.0 / (1.0 + (-sum).exp())
}

impl Index {
    /// Features of the hit at a position, given the scores of the first hits.
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
                strongest = strongest.max(unit.weight * sense.weight * self.idf[sense.term as usize]);
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
        let whole = self.max_score[entry as usize];
        Features {
            met: share(covered.met, covered.topics),
            literally: share(covered.literally, covered.topics),
            told: share(covered.told, covered.telling),
            name: candidate.name_score,
            strongest: strongest / self.max_idf,
            score: candidate.score / self.max_idf,
            units: (1.0 + units).ln(),
            topics: (1.0 + covered.topics).ln(),
            of_first: share(candidate.score, at(0)),
            next: share(at(if place == 0 { 1 } else { 0 }), candidate.score).min(2.0),
            last: share(scores.last().copied().unwrap_or(0.0), at(0)),
            place: (place as f32 + 1.0).ln(),
            entries: (self.entries as f32).ln(),
            about: candidate.topic_score,
            missed: covered.topics - covered.met,
            of_whole: candidate.score / whole.max(0.1),
            whole: (1.0 + whole).ln(),
            of_mean: candidate.score / self.mean_max_score.max(0.1),
            words,
            entry,
        }
    }

    fn covered(&self, query: &Query, words: &[(f32, f32)]) -> Covered {
        let mut covered = Covered::default();
        for unit in query.units.iter().filter(|unit| unit.topic > 0.0) {
            let (met, literally) = words[unit.words.start];
            let own = unit.senses.first().filter(|sense| sense.weight >= LITERAL);
            let tells = unit.topic * own.map_or(self.max_idf, |sense| self.idf[sense.term as usize]);
            covered.topics += unit.topic;
            covered.met += unit.topic * met;
            covered.literally += unit.topic * literally;
            covered.telling += tells;
            covered.told += tells * met;
        }
        covered
    }

    /// Probability that any of the first hits fits.
    pub(super) fn match_likelihood(&self, query: &Query, hits: &[Features]) -> f32 {
        let Some(first) = hits.first() else { return 0.0 };
        let fit = logistic(&self.match_features(query, hits), &FIT, FIT_BIAS);
        // A user who types a word of a tool wants to see that tool.
        if first.literally > 0.99 { fit.max(SURE_MATCH_LIKELIHOOD) } else { fit }
    }

    /// Features of a query, from its first hits.
    pub(super) fn match_features(&self, query: &Query, hits: &[Features]) -> [f32; FIT.len()] {
        let Some(first) = hits.first() else { return [0.0; FIT.len()] };
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
        let about_hits = hits.iter().map(|hit| &self.topic_vector[hit.entry as usize]);
        let near = super::reference_tools::reference_similarity(
            &query.stems,
            &self.synonyms,
            &self.topics,
            about_hits,
        );
        let world = near.best;
        [
            first.met,
            first.literally,
            first.told,
            first.name,
            first.strongest,
            first.score,
            first.topics,
            first.last,
            first.entries,
            first.about,
            share(together.met, together.topics),
            share(together.literally, together.topics),
            share(together.told, together.telling),
            most(|hit| hit.name),
            most(|hit| hit.about),
            share(known, together.topics),
            about,
            together.topics - together.met,
            first.met * first.name,
            first.of_whole,
            first.whole,
            (1.0 + self.mean_max_score).ln(),
            world,
            most(|hit| hit.about) / world.max(0.05),
            most(|hit| hit.about) - world,
            near.bridge,
            near.bridge_first,
            near.bridge * world,
            most(|hit| hit.about) * near.bridge,
        ]
    }
}

/// Weight from which a sense counts as the word itself.
const LITERAL: f32 = 0.8;

/// Probability that any hit fits, from which it no longer lowers the confidence of a hit.
const SURE_MATCH_LIKELIHOOD: f32 = 0.4;

/// Confidence of a hit, given the probability that any hit fits.
pub(super) fn of(hit: &Features, fit: f32) -> f32 {
    logistic(&hit.values(), &HIT, HIT_BIAS) * (fit / SURE_MATCH_LIKELIHOOD).min(1.0)
}

impl Features {
    pub(super) fn values(&self) -> [f32; HIT.len()] {
        [
            self.met,
            self.literally,
            self.told,
            self.name,
            self.strongest,
            self.score,
            self.units,
            self.topics,
            self.of_first,
            self.next,
            self.last,
            self.place,
            self.entries,
            self.about,
            self.missed,
            self.of_whole,
            self.whole,
            self.of_mean,
        ]
    }
}

/// The weights of [`Features::values`].
const HIT: [f32; 18] = [
    2.456, -0.404, -0.187, 0.654, -0.641, -0.113, -0.632, 1.215, 0.731, -2.575, -2.598, -0.045, -0.145,
    0.680, -0.070, 0.886, 0.520, 1.623,
];
const HIT_BIAS: f32 = -0.888;
/// The weights of [`Index::match_features`].
const FIT: [f32; 29] = [
    2.429, 0.059, 1.052, 0.344, 0.073, 0.120, 1.638, -0.869, -1.293, 1.927, 4.227, 1.244, -5.319, 0.721,
    -1.052, 3.310, 2.352, -0.282, 1.218, 2.596, 1.059, -0.745, -3.113, 0.402, 0.336, 1.704, 1.307, -1.337,
    1.296,
];
const FIT_BIAS: f32 = -2.258;

//! The probability that a hit is right, and that any hit is: two logistic models over features of the first hits.
//!
//! Their weights were fitted to the labelled queries of six sets, and to queries of one set asked of another set's
//! catalog, of which a reader had judged that it cannot serve them. `ARCHITECTURE.md` has the errors for sets that
//! were left out of the fit. `benches/fit_confidence.rs` fits them again.

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
    pub(super) entry: u32,
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

/// A value of a logistic model, with its weight. `benches/fit_confidence.rs` prints the terms as they are written here.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// The value as the source writes it.
    pub name: &'static str,
    /// The value.
    pub value: f32,
    /// Its weight.
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
        let fit = logistic(&self.match_terms(query, first, hits));
        // A user who types a word of a tool wants to see that tool.
        if first.literally > 0.99 { fit.max(SURE_MATCH_LIKELIHOOD) } else { fit }
    }

    /// Terms of the probability that any of the first hits fits.
    pub(super) fn match_terms(&self, query: &Query, first: &Features, hits: &[Features]) -> [Term; 30] {
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
            &query.stems, &self.synonyms, &self.topics, about_hits,
        );
        let world = near.best;
        terms! {
            1.0 => -2.258,
            first.met => 2.429,
            first.literally => 0.059,
            first.told => 1.052,
            first.name => 0.344,
            first.strongest => 0.073,
            first.score => 0.120,
            first.topics => 1.638,
            first.last => -0.869,
            first.entries => -1.293,
            first.about => 1.927,
            share(together.met, together.topics) => 4.227,
            share(together.literally, together.topics) => 1.244,
            share(together.told, together.telling) => -5.319,
            most(|hit| hit.name) => 0.721,
            most(|hit| hit.about) => -1.052,
            share(known, together.topics) => 3.310,
            about => 2.352,
            together.topics - together.met => -0.282,
            first.met * first.name => 1.218,
            first.of_whole => 2.596,
            first.whole => 1.059,
            (1.0 + self.mean_max_score).ln() => -0.745,
            world => -3.113,
            most(|hit| hit.about) / world.max(0.05) => 0.402,
            most(|hit| hit.about) - world => 0.336,
            near.bridge => 1.704,
            near.bridge_first => 1.307,
            near.bridge * world => -1.337,
            most(|hit| hit.about) * near.bridge => 1.296,
        }
    }
}

/// Weight from which a sense counts as the word itself.
const LITERAL: f32 = 0.8;

/// Probability that any hit fits, from which it no longer lowers the confidence of a hit.
const SURE_MATCH_LIKELIHOOD: f32 = 0.4;

/// Confidence of a hit, given the probability that any hit fits.
pub(super) fn of(hit: &Features, fit: f32) -> f32 {
    logistic(&hit.terms()) * (fit / SURE_MATCH_LIKELIHOOD).min(1.0)
}

impl Features {
    /// Terms of the probability that the hit is right, if any is.
    pub(super) fn terms(&self) -> [Term; 19] {
        terms! {
            1.0 => -0.888,
            self.met => 2.456,
            self.literally => -0.404,
            self.told => -0.187,
            self.name => 0.654,
            self.strongest => -0.641,
            self.score => -0.113,
            self.units => -0.632,
            self.topics => 1.215,
            self.of_first => 0.731,
            self.next => -2.575,
            self.last => -2.598,
            self.place => -0.045,
            self.entries => -0.145,
            self.about => 0.680,
            self.missed => -0.070,
            self.of_whole => 0.886,
            self.whole => 0.520,
            self.of_mean => 1.623,
        }
    }
}

//! The probability that a hit is right, and that any hit is: two logistic models over features of the first hits.
//!
//! Their weights were fitted to the labelled queries of six sets, and to queries of one set asked of another set's
//! catalog, of which a reader had judged that it cannot serve them. `benches/fit_confidence.rs` fits them again.

use super::index::Index;
use super::query::{Kind, Query, Unit};
use super::rank::Candidate;
use super::topics::{Lead, reference_similarity};
use super::{Field, Hit};

/// Confidence of a hit whose name is in the query.
pub const NAMED: f32 = 0.99;

/// Features of a hit.
#[derive(Clone, Debug, Default)]
pub(super) struct Features {
    /// Share of the query's topics that it meets, in any sense and literally.
    met: f32,
    literally: f32,
    /// The least degree to which it meets an object of the query.
    least: f32,
    /// Share of its name that the query says.
    name: f32,
    /// Weight of its strongest word, of all its words, and of those that are adjacent in the query too, as shares of the
    /// largest weight of a word.
    strongest: f32,
    score: f32,
    pairs: f32,
    /// Logarithms of the words that it meets, and of the topics of the query.
    units: f32,
    topics: f32,
    /// Score of the next hit, or the first, relative to its own; the last hit's relative to the first.
    next: f32,
    last: f32,
    place: f32,
    /// Similarity of its topics and the query's.
    about: f32,
    /// Degree to which it meets each word of the query.
    words: Vec<Met>,
    pub(super) entry: u32,
}

/// Degree to which an entry meets a word: in any sense, and literally.
type Met = [f32; 2];

/// Coverage of a query's topics.
#[derive(Clone, Copy, Default)]
struct Covered {
    topics: f32,
    met: f32,
    literally: f32,
    least: f32,
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
        let mut words = vec![Met::default(); said];
        let (mut strongest, mut units) = (0.0_f32, 0.0_f32);
        for unit in &query.units {
            let (mut best, mut literal) = (0.0_f32, 0.0_f32);
            for (sense, _) in self.met(unit, entry) {
                best = best.max(sense.weight);
                literal = literal.max(if sense.weight >= LITERAL { 1.0 } else { 0.0 });
                strongest = strongest.max(unit.weight * sense.weight * self.idf(sense.term));
            }
            if best > 0.0 && unit.weight > 0.4 {
                units += 1.0;
            }
            let met = if best > 0.0 { best.powf(0.4) } else { 0.0 };
            for word in unit.words.clone() {
                let met = [met, literal];
                words[word].iter_mut().zip(met).for_each(|(known, met)| *known = known.max(met));
            }
        }
        let covered = self.covered(query, &words);
        let at = |place: usize| scores.get(place).copied().unwrap_or(0.0);
        Features {
            met: share(covered.met, covered.topics),
            literally: share(covered.literally, covered.topics),
            least: covered.least,
            name: candidate.name_score,
            strongest: strongest / self.max_idf,
            score: candidate.score / self.max_idf,
            pairs: self.pair_score(query, entry) / self.max_idf,
            units: (1.0 + units).ln(),
            topics: (1.0 + covered.topics).ln(),
            next: share(at(if place == 0 { 1 } else { 0 }), candidate.score).min(1.4),
            last: share(scores.last().copied().unwrap_or(0.0), at(0)),
            place: (place as f32 + 1.0).ln(),
            about: candidate.topic_score,
            words,
            entry,
        }
    }

    fn covered(&self, query: &Query, words: &[Met]) -> Covered {
        let mut covered = Covered { least: 1.0, ..Covered::default() };
        for unit in query.units.iter().filter(|unit| unit.topic > 0.0) {
            let [met, literally] = words[unit.words.start];
            let own = unit.senses.first().filter(|sense| sense.weight >= LITERAL);
            let tells = unit.topic * own.map_or(self.max_idf, |sense| self.idf(sense.term));
            covered.topics += unit.topic;
            covered.met += unit.topic * met;
            covered.literally += unit.topic * literally;
            covered.least = covered.least.min(if unit.topic >= OBJECT { met } else { 1.0 });
            covered.telling += tells;
            covered.told += tells * met;
        }
        covered
    }

    /// Probability that any of the first hits fits.
    pub(super) fn match_likelihood(&self, query: &Query, leads: &[Lead<'_>], hits: &[Features]) -> f32 {
        let Some(first) = hits.first() else { return 0.0 };
        let fit = logistic(&self.match_terms(query, leads, first, hits));
        // A user who types a word of a tool wants to see that tool.
        if first.literally > 0.99 { fit.max(SURE_MATCH_LIKELIHOOD) } else { fit }
    }

    /// Terms of the probability that any of the first hits fits.
    pub(super) fn match_terms(
        &self,
        query: &Query,
        leads: &[Lead<'_>],
        first: &Features,
        hits: &[Features],
    ) -> [Term; 16] {
        let mut words = first.words.clone();
        for hit in &hits[1..] {
            for (all, one) in words.iter_mut().zip(&hit.words) {
                all.iter_mut().zip(one).for_each(|(all, one)| *all = all.max(*one));
            }
        }
        let together = self.covered(query, &words);
        let most = |value: fn(&Features) -> f32| hits.iter().map(value).fold(0.0, f32::max);
        let known = query.units.iter().filter(|unit| !unit.senses.is_empty()).map(|unit| unit.topic).sum();
        let about_hits = hits.iter().map(|hit| self.topics_of(hit.entry));
        let near = reference_similarity(leads, &self.reference_topics, about_hits);
        let world = near.best;
        terms! {
            1.0 => 0.604,
            first.name => -0.262,
            first.strongest => -1.073,
            first.score => 0.767,
            first.topics => 0.441,
            share(together.told, together.telling) => 2.739,
            world => -7.452,
            most(|hit| hit.about) / world.max(0.05) => 0.972,
            near.bridge_first => 1.448,
            near.bridge * world => 4.996,
            first.least => 1.054,
            together.least => -0.779,
            most(|hit| hit.pairs) => 0.464,
            first.units => -0.491,
            (self.len() as f32).ln() => -0.569,
            share(known, together.topics) => 0.751,
        }
    }
}

/// Weight of a topic from which it is an object of the query.
const OBJECT: f32 = 0.6;
/// Weight from which a sense counts as the word itself.
const LITERAL: f32 = 0.8;

/// Probability that any hit fits, from which it no longer lowers the confidence of a hit. It is at least this where the
/// first hit has every word of the query.
const SURE_MATCH_LIKELIHOOD: f32 = 0.4;

/// Confidence of a hit, given the probability that any hit fits.
pub(super) fn of(hit: &Features, fit: f32) -> f32 {
    logistic(&hit.terms()) * (fit / SURE_MATCH_LIKELIHOOD).min(1.0)
}

impl Features {
    /// Terms of the probability that the hit is right, if any is.
    pub(super) fn terms(&self) -> [Term; 12] {
        terms! {
            1.0 => 1.888,
            self.met => 1.350,
            self.units => -0.604,
            self.topics => 1.154,
            self.next => -3.700,
            self.last => -1.540,
            self.place => -0.525,
            self.about => 0.570,
            self.least => 0.550,
            self.pairs => 0.265,
            self.name => 0.680,
            self.literally => -0.823,
        }
    }
}

// The reason why an entry is a hit, for people; and the words of a query that no hit has.

/// Most words of each kind that are listed.
const MAX_SHOWN: usize = 5;
/// Weight of a word below which it does not tell what is wanted.
const TELLING: f32 = 0.2;

impl Index {
    /// Words of a query that none of these hits has, in any sense. They tell what is missing where nothing fits.
    pub fn unmet(&self, query: &str, hits: &[Hit]) -> Vec<String> {
        let query = Query::read(query, self);
        let met = |unit: &&Unit| hits.iter().any(|hit| self.met(unit, hit.entry as u32).next().is_some());
        let met: Vec<_> = query.units.iter().filter(met).map(|unit| unit.words.clone()).collect();
        let is_unmet = |word| !met.iter().any(|words| words.contains(&word));
        let unmet = query.units.iter().filter(|unit| unit.weight > TELLING && is_unmet(unit.words.start));
        unmet.filter(|unit| unit.words.len() == 1).map(|unit| unit.said.clone()).take(MAX_SHOWN).collect()
    }
}

/// Lists the fields that contain words of the query: `name: move, document; text: folder; meant: directory (folder)`.
pub(super) fn reason(index: &Index, query: &Query, entry: u32) -> String {
    let mut groups: [(&str, Vec<String>); 5] = [
        ("name", vec![]),
        ("text", vec![]),
        ("parameters", vec![]),
        ("similar words for", vec![]),
        ("spelled", vec![]),
    ];
    for unit in &query.units {
        let best = index.met(unit, entry).max_by(|(one, _), (other, _)| one.weight.total_cmp(&other.weight));
        let Some((sense, found)) = best else { continue };
        let has = |fields: &[Field]| fields.iter().any(|field| found & field.bit() != 0);
        let group = match sense.kind {
            Kind::Meant => 3,
            Kind::Spelled => 4,
            Kind::Said if has(&[Field::Name, Field::Alias]) => 0,
            Kind::Said if has(&[Field::Short, Field::Long, Field::Label, Field::Example]) => 1,
            Kind::Said => 2,
        };
        if unit.weight > TELLING && !groups[group].1.contains(&unit.said) {
            groups[group].1.push(unit.said.clone());
        }
    }
    let parts = groups.iter().filter(|(_, words)| !words.is_empty());
    let parts =
        parts.map(|(group, words)| format!("{group}: {}", words[..words.len().min(MAX_SHOWN)].join(", ")));
    parts.collect::<Vec<_>>().join("; ")
}

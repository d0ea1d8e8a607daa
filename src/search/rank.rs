//! Ranks entries by their fit to a query.

use hashbrown::HashMap;

use super::confidence::{self, Features, Term};
use super::index::Index;
use super::query::{Intent, Kind, Query};
use super::topics::Lead;
use super::words::Stem;
use super::{Hit, SearchRequest, SearchResult, Verdict};

/// Most entries that are scored in full.
pub(super) const CANDIDATES: usize = 100;
/// Weight of a name that the query says, as a share of the best score.
const NAME_WEIGHT: f32 = 0.15;
/// Weight of words that are adjacent in both query and entry.
const PAIR_WEIGHT: f32 = 0.4;
/// Weight of similar topics, as a share of the best score.
const TOPIC_WEIGHT: f32 = 0.4;
/// Share of the largest weight of a word, below which a word is not summed: it is in many entries.
const MIN_IDF_SHARE: f32 = 0.05;
/// Most confidence of a hit beside one that the query names.
const MOST_BESIDE_NAMED: f32 = 0.5;
/// Fewest hits from which the features of the verdict are made.
pub(super) const TELLING: usize = 5;

/// An entry with the features of its fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) entry: u32,
    pub(super) score: f32,
    /// Share of its name that the query says.
    pub(super) name_score: f32,
    /// Similarity of its topics and the query's.
    pub(super) topic_score: f32,
}

/// Sum of one entry.
#[derive(Clone, Copy)]
struct Sum {
    total: f32,
    /// The unit that was added last, and its contribution.
    unit: Option<usize>,
    counted: f32,
}

/// Steps into which sums are divided to find the best ones.
const STEPS: usize = 128;

/// Least sum of the best entries: a lower bound, so that at least `limit` entries reach it.
fn least(sums: &[(u32, f32)], limit: usize, within: &dyn Fn(u32) -> bool) -> f32 {
    let best = sums.iter().map(|(_, total)| *total).fold(0.0, f32::max);
    if sums.len() <= limit || best <= 0.0 {
        return 0.0;
    }
    let mut steps = [0_usize; STEPS + 1];
    for (_, total) in sums.iter().filter(|(entry, _)| within(*entry)) {
        steps[(total / best * STEPS as f32) as usize] += 1;
    }
    let mut count = 0;
    let step = (0..=STEPS).rev().find(|&step| {
        count += steps[step];
        count >= limit
    });
    step.unwrap_or(0) as f32 / STEPS as f32 * best
}

/// Terms of both models of confidence for one query.
#[derive(Clone, Debug)]
pub struct Observation {
    /// Whether any hit fits.
    pub query: Vec<Term>,
    /// Whether a hit is right, for the entry of each of the first hits.
    pub hits: Vec<(usize, Vec<Term>)>,
}

impl Index {
    /// Ranks the entries for a request with the query as a whole; this many are scored in full.
    pub(super) fn find_whole(&self, request: SearchRequest<'_>, scored: usize) -> SearchResult {
        let query = Query::read(request.query, self);
        let leads = Lead::of_query(&query.stems, &self.synonyms);
        let within = |entry: u32| request.within.is_none_or(|within| within(entry as usize));
        let named: Vec<u32> =
            self.mentioned(request.query).into_iter().filter(|&entry| within(entry)).collect();
        let mut ranked = self.ranked(&query, &leads, &within, request.limit.max(scored));
        ranked.retain(|candidate| !named.contains(&candidate.entry));
        let best = ranked.first().map_or(0.0, |first| first.score);
        let left = request.limit.saturating_sub(named.len());
        let first = self.first_features(&query, &ranked, left.max(TELLING));
        let telling = &first[..first.len().min(TELLING)];
        let (fit, most) = match named.is_empty() {
            true => (self.match_likelihood(&query, &leads, telling), 1.0),
            false => (1.0, MOST_BESIDE_NAMED),
        };
        let named = named.iter().take(request.limit).map(|&entry| Hit {
            entry: entry as usize,
            score: best.max(1.0) * 2.0,
            confidence: confidence::NAMED,
            reason: "the query names it".into(),
        });
        let fitting = ranked.iter().zip(&first).take(left).map(|(candidate, features)| Hit {
            entry: candidate.entry as usize,
            score: candidate.score,
            confidence: confidence::of(features, fit).min(most),
            reason: confidence::reason(self, &query, candidate.entry),
        });
        SearchResult {
            verdict: if fit >= self.min_match_likelihood { Verdict::Match } else { Verdict::NoMatch },
            hits: named.chain(fitting).collect(),
        }
    }

    /// Terms of both models of confidence for a query, for the program that fits their weights; none where the query names
    /// an entry, or nothing is found.
    pub fn observe(&self, query: &str) -> Option<Observation> {
        let is_named = !self.mentioned(query).is_empty();
        let query = Query::read(query, self);
        let leads = Lead::of_query(&query.stems, &self.synonyms);
        let ranked = self.ranked(&query, &leads, &|_| true, CANDIDATES);
        let telling = self.first_features(&query, &ranked, TELLING);
        let first = telling.first().filter(|_| !is_named)?;
        Some(Observation {
            query: self.match_terms(&query, &leads, first, &telling).to_vec(),
            hits: telling.iter().map(|hit| (hit.entry as usize, hit.terms().to_vec())).collect(),
        })
    }

    /// The features of the first of these candidates.
    fn first_features(&self, query: &Query, ranked: &[Candidate], count: usize) -> Vec<Features> {
        let scores: Vec<f32> = ranked.iter().take(TELLING).map(|candidate| candidate.score).collect();
        let features = |(place, candidate)| self.features(query, place, candidate, &scores);
        ranked.iter().take(count).enumerate().map(features).collect()
    }

    pub(super) fn ranked(
        &self,
        query: &Query,
        leads: &[Lead<'_>],
        within: &dyn Fn(u32) -> bool,
        limit: usize,
    ) -> Vec<Candidate> {
        let mut candidates = self.accumulate(query, within, limit);
        let best = candidates.iter().map(|candidate| candidate.score).fold(0.0, f32::max);
        self.measure_topics(query, leads, &mut candidates);
        self.measure_names(query, &mut candidates);
        for candidate in &mut candidates {
            candidate.score += NAME_WEIGHT * best * candidate.name_score
                + PAIR_WEIGHT * self.pair_score(query, candidate.entry);
        }
        let (best, most) = candidates.iter().fold((0.0_f32, 0.0_f32), |(best, most), candidate| {
            (best.max(candidate.score), most.max(candidate.topic_score))
        });
        if most > 0.0 {
            for candidate in &mut candidates {
                candidate.score += TOPIC_WEIGHT * best * candidate.topic_score / most;
            }
        }
        for candidate in &mut candidates {
            candidate.score *= Intent::factor(query.intent, self.intents[candidate.entry as usize]);
        }
        candidates.sort_unstable_by(order);
        candidates
    }

    fn measure_topics(&self, query: &Query, leads: &[Lead<'_>], candidates: &mut [Candidate]) {
        let tells = |stem: &Stem| stem.term.map_or(1.0, |term| self.idf(term) / self.max_idf);
        let rarity: Vec<f32> = query.stems.iter().map(tells).collect();
        let about = self.topics.weigh(leads, |place| rarity[place]);
        for candidate in candidates {
            candidate.topic_score = about.likeness(self.topics_of(candidate.entry));
        }
    }

    fn measure_names(&self, query: &Query, candidates: &mut [Candidate]) {
        let mut said = Weights::default();
        for sense in query.units.iter().flat_map(|unit| &unit.senses) {
            said.raise(sense.term, sense.weight);
        }
        for candidate in candidates {
            let name = self.names[candidate.entry as usize].iter();
            candidate.name_score = name.map(|(term, share)| share * said.get(*term)).sum();
        }
    }

    /// Entries with any word of the query, and their sums: the best, at least as many as the limit.
    fn accumulate(&self, query: &Query, within: &dyn Fn(u32) -> bool, limit: usize) -> Vec<Candidate> {
        let mut sums = vec![Sum { total: 0.0, unit: None, counted: 0.0 }; self.len()];
        for (number, unit) in query.units.iter().enumerate() {
            for sense in &unit.senses {
                let scale = unit.weight * sense.weight * self.idf(sense.term);
                if scale < MIN_IDF_SHARE * self.max_idf && sense.kind != Kind::Said {
                    continue;
                }
                for &(entry, weight) in &self.postings[sense.term as usize] {
                    let counts = scale * weight;
                    let sum = &mut sums[entry as usize];
                    if sum.unit != Some(number) {
                        (sum.unit, sum.counted) = (Some(number), counts);
                        sum.total += counts;
                    } else if counts > sum.counted {
                        // Several senses of one unit do not add up: only the best counts.
                        sum.total += counts - sum.counted;
                        sum.counted = counts;
                    }
                }
            }
        }
        let met = sums.iter().zip(0..).filter(|(sum, _)| sum.unit.is_some());
        let met: Vec<(u32, f32)> = met.map(|(sum, entry)| (entry, sum.total)).collect();
        let least = least(&met, limit, within);
        let best = met.into_iter().filter(|(entry, total)| *total >= least && within(*entry));
        best.map(|(entry, score)| Candidate { entry, score, name_score: 0.0, topic_score: 0.0 }).collect()
    }

    pub(super) fn pair_score(&self, query: &Query, entry: u32) -> f32 {
        let has = |(first, last): (_, _)| self.pairs.binary_search(&(first, last, entry)).is_ok();
        let both = query.pairs.iter().filter(|pair| has(pair.terms));
        both.map(|pair| pair.weight).sum()
    }
}

/// Best first; ties in the order of the catalog.
fn order(one: &Candidate, other: &Candidate) -> std::cmp::Ordering {
    other.score.total_cmp(&one.score).then(one.entry.cmp(&other.entry))
}

/// Weights by topic or by term.
#[derive(Debug, Default)]
pub(super) struct Weights(HashMap<u32, f32>);

impl Weights {
    pub(super) fn add(&mut self, number: u32, weight: f32) {
        *self.0.entry(number).or_default() += weight;
    }

    /// Raises a weight to this one.
    pub(super) fn raise(&mut self, number: u32, weight: f32) {
        let known = self.0.entry(number).or_default();
        *known = known.max(weight);
    }

    pub(super) fn get(&self, number: u32) -> f32 {
        self.0.get(&number).copied().unwrap_or_default()
    }

    /// Divides all weights by the length of the vector that they are with these others.
    pub(super) fn normalize(&mut self, others: &[f32]) {
        let own = self.sorted().into_iter().map(|(_, weight)| weight);
        let all = own.chain(others.iter().copied());
        let length = all.map(|weight| weight * weight).sum::<f32>().sqrt();
        if length > 0.0 {
            self.0.values_mut().for_each(|weight| *weight /= length);
        }
    }

    /// All weights by their numbers, sorted, since the sum of floats depends on their order.
    pub(super) fn sorted(&self) -> Vec<(u32, f32)> {
        let mut sorted: Vec<(u32, f32)> = self.0.iter().map(|(number, weight)| (*number, *weight)).collect();
        sorted.sort_unstable_by_key(|(number, _)| *number);
        sorted
    }

    /// Similarity of a query with these weights and an entry by topics, from 0 to 1.
    pub(super) fn likeness(&self, entry: &[(u32, f32)]) -> f32 {
        let met = entry.iter().filter_map(|(topic, weight)| Some((self.0.get(topic)?, weight)));
        met.fold(0.0, |sum, (own, weight)| sum + own * weight)
    }
}

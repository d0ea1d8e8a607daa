//! Ranks entries by their fit to a query.

use std::cell::RefCell;

use super::confidence::{self, Features, Term};
use super::index::{Candidate, Index};
use super::leads::Lead;
use super::query::{Kind, MetSenses, Query};
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

/// Sums of all entries; each thread keeps them from query to query.
#[derive(Default)]
struct Sums {
    entries: Vec<Sum>,
    touched: Vec<u32>,
}

/// Sum of one entry.
#[derive(Clone, Copy)]
struct Sum {
    total: f32,
    /// The unit that was added last, and its contribution.
    unit: u32,
    counted: f32,
}

impl Sum {
    const NOTHING: Self = Self { total: 0.0, unit: u32::MAX, counted: 0.0 };
}

/// Steps into which sums are divided to find the best ones.
const STEPS: usize = 128;

impl Sums {
    /// Least sum of the best entries: a lower bound, so that at least `limit` entries reach it.
    fn least(&self, limit: usize, within: &dyn Fn(u32) -> bool) -> f32 {
        let total = |&entry: &u32| self.entries[entry as usize].total;
        let best = self.touched.iter().map(total).fold(0.0, f32::max);
        if self.touched.len() <= limit || best <= 0.0 {
            return 0.0;
        }
        let mut steps = [0_usize; STEPS + 1];
        for entry in self.touched.iter().filter(|&&entry| within(entry)) {
            steps[(total(entry) / best * STEPS as f32) as usize] += 1;
        }
        let mut count = 0;
        let step = (0..=STEPS).rev().find(|&step| {
            count += steps[step];
            count >= limit
        });
        step.unwrap_or(0) as f32 / STEPS as f32 * best
    }
}

/// Terms of both models of confidence for one query.
#[derive(Clone, Debug)]
pub struct Observation {
    /// Whether any hit fits.
    pub query: Vec<Term>,
    /// Whether a hit is right, for the entry of each of the first hits.
    pub hits: Vec<(usize, Vec<Term>)>,
}

fn first_scores(ranked: &[Candidate]) -> Vec<f32> {
    ranked.iter().take(TELLING).map(|candidate| candidate.score).collect()
}

thread_local! {
    static SUMS: RefCell<Sums> = RefCell::default();
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
        let scores = first_scores(&ranked);
        let left = request.limit.saturating_sub(named.len());
        let met = |candidate: &Candidate| MetSenses::of(&query, candidate.entry, self);
        let senses: Vec<MetSenses> = ranked.iter().take(left.max(TELLING)).map(met).collect();
        let telling = self.telling(&query, &ranked, &scores, &senses);
        let fit = if named.is_empty() { self.match_likelihood(&query, &leads, &telling) } else { 1.0 };
        let mut hits: Vec<Hit> = named
            .iter()
            .take(request.limit)
            .map(|&entry| Hit {
                entry: entry as usize,
                score: best.max(1.0) * 2.0,
                confidence: confidence::NAMED,
                reason: "the query names it".into(),
            })
            .collect();
        let most = if named.is_empty() { 1.0 } else { MOST_BESIDE_NAMED };
        hits.extend(ranked.iter().take(left).zip(&senses).enumerate().map(|(place, (candidate, senses))| {
            let confidence = match telling.get(place) {
                Some(features) => confidence::of(features, fit),
                None => confidence::of(&self.features(&query, place, candidate, &scores, senses), fit),
            };
            Hit {
                entry: candidate.entry as usize,
                score: candidate.score,
                confidence: confidence.min(most),
                reason: confidence::reason(&query, senses),
            }
        }));
        SearchResult {
            verdict: if fit >= self.min_match_likelihood { Verdict::Match } else { Verdict::NoMatch },
            hits,
        }
    }

    /// Terms of both models of confidence for a query, for the program that fits their weights; none where the query names
    /// an entry, or nothing is found.
    pub fn observe(&self, query: &str) -> Option<Observation> {
        let is_named = !self.mentioned(query).is_empty();
        let query = Query::read(query, self);
        let leads = Lead::of_query(&query.stems, &self.synonyms);
        let ranked = self.ranked(&query, &leads, &|_| true, CANDIDATES);
        let met = |candidate: &Candidate| MetSenses::of(&query, candidate.entry, self);
        let senses: Vec<MetSenses> = ranked.iter().take(TELLING).map(met).collect();
        let telling = self.telling(&query, &ranked, &first_scores(&ranked), &senses);
        let first = telling.first().filter(|_| !is_named)?;
        Some(Observation {
            query: self.match_terms(&query, &leads, first, &telling).to_vec(),
            hits: telling.iter().map(|hit| (hit.entry as usize, hit.terms().to_vec())).collect(),
        })
    }

    fn telling(
        &self,
        query: &Query,
        ranked: &[Candidate],
        scores: &[f32],
        senses: &[MetSenses],
    ) -> Vec<Features> {
        let features = |(place, (candidate, senses))| self.features(query, place, candidate, scores, senses);
        ranked.iter().zip(senses).take(TELLING).enumerate().map(features).collect()
    }

    pub(super) fn ranked(
        &self,
        query: &Query,
        leads: &[Lead<'_>],
        within: &dyn Fn(u32) -> bool,
        limit: usize,
    ) -> Vec<Candidate> {
        let mut sums = SUMS.take();
        let mut candidates = self.accumulate(query, within, limit, &mut sums);
        SUMS.set(sums);
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
            candidate.score *= super::intent::intent_factor(query.intent, self.intent(candidate.entry));
        }
        candidates.sort_unstable_by(order);
        candidates
    }

    fn measure_topics(&self, query: &Query, leads: &[Lead<'_>], candidates: &mut [Candidate]) {
        let tells = |stem: &Stem| stem.term.map_or(1.0, |term| self.idf(term) / self.max_idf);
        let rarity: Vec<f32> = query.stems.iter().map(tells).collect();
        Weights::with(|about| {
            self.topics.weigh(leads, |place| rarity[place], about);
            for candidate in candidates {
                candidate.topic_score = about.likeness(self.topics_of(candidate.entry));
            }
        });
    }

    fn measure_names(&self, query: &Query, candidates: &mut [Candidate]) {
        Weights::with(|said| {
            for sense in query.units.iter().flat_map(|unit| &unit.senses) {
                said.raise(sense.term, sense.weight);
            }
            for candidate in candidates {
                let name = self.names[candidate.entry as usize].iter();
                candidate.name_score = name.map(|(term, share)| share * said.get(*term)).sum();
            }
        });
    }

    /// Entries with any word of the query, and their sums: the best, at least as many as the limit.
    fn accumulate(
        &self,
        query: &Query,
        within: &dyn Fn(u32) -> bool,
        limit: usize,
        sums: &mut Sums,
    ) -> Vec<Candidate> {
        sums.entries.resize(self.len().max(sums.entries.len()), Sum::NOTHING);
        for (number, unit) in query.units.iter().enumerate() {
            let number = number as u32;
            for sense in &unit.senses {
                let scale = unit.weight * sense.weight * self.idf(sense.term);
                if scale < MIN_IDF_SHARE * self.max_idf && sense.kind != Kind::Said {
                    continue;
                }
                for &(entry, weight) in &self.postings[sense.term as usize] {
                    let counts = scale * weight;
                    let sum = &mut sums.entries[entry as usize];
                    if sum.unit != number {
                        if sum.unit == u32::MAX {
                            sums.touched.push(entry);
                        }
                        (sum.unit, sum.counted) = (number, counts);
                        sum.total += counts;
                    } else if counts > sum.counted {
                        // Several senses of one unit do not add up: only the best counts.
                        sum.total += counts - sum.counted;
                        sum.counted = counts;
                    }
                }
            }
        }
        let mut found: Vec<Candidate> = Vec::with_capacity(limit.min(sums.touched.len()));
        let least = sums.least(limit, within);
        let mut touched = std::mem::take(&mut sums.touched);
        for entry in touched.drain(..) {
            let sum = std::mem::replace(&mut sums.entries[entry as usize], Sum::NOTHING);
            if sum.total >= least && within(entry) {
                found.push(Candidate { entry, score: sum.total, name_score: 0.0, topic_score: 0.0 });
            }
        }
        sums.touched = touched;
        found
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

// Weights by number, for many lookups.

thread_local! {
    /// Weights that nobody uses, all at 0: the thread keeps them from query to query.
    static FREE: RefCell<Vec<Weights>> = RefCell::default();
}

/// Weights by topic or by term.
#[derive(Debug, Default)]
pub(super) struct Weights {
    weights: Vec<f32>,
    touched: Vec<u32>,
}

impl Weights {
    /// Calls with weights that are all 0.
    pub(super) fn with<R>(call: impl FnOnce(&mut Self) -> R) -> R {
        let mut weights = FREE.with_borrow_mut(Vec::pop).unwrap_or_default();
        let result = call(&mut weights);
        weights.touched.drain(..).for_each(|number| weights.weights[number as usize] = 0.0);
        FREE.with_borrow_mut(|free| free.push(weights));
        result
    }

    #[inline]
    fn place(&mut self, number: u32) -> &mut f32 {
        let place = number as usize;
        if self.weights.len() <= place {
            self.weights.resize(place + 1, 0.0);
        }
        self.touched.push(number);
        &mut self.weights[place]
    }

    #[inline]
    pub(super) fn add(&mut self, number: u32, weight: f32) {
        *self.place(number) += weight;
    }

    /// Raises a weight to this one.
    #[inline]
    pub(super) fn raise(&mut self, number: u32, weight: f32) {
        let known = self.place(number);
        *known = known.max(weight);
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> f32 {
        self.weights.get(number as usize).copied().unwrap_or(0.0)
    }

    /// Divides all weights by the length of the vector that they are with these others.
    pub(super) fn normalize(&mut self, others: &[f32]) {
        self.touched.sort_unstable();
        self.touched.dedup();
        let own = self.touched.iter().map(|topic| &self.weights[*topic as usize]);
        let length = own.chain(others).map(|weight| weight * weight).sum::<f32>().sqrt();
        if length > 0.0 {
            self.touched.iter().for_each(|topic| self.weights[*topic as usize] /= length);
        }
    }

    /// The weights that are not 0, by their numbers.
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, f32)> {
        let weights = self.touched.iter().map(|number| (*number, self.weights[*number as usize]));
        weights.filter(|(_, weight)| *weight != 0.0)
    }

    /// Similarity of a query with these weights and an entry by topics, from 0 to 1.
    #[inline]
    pub(super) fn likeness(&self, entry: &[(u32, f32)]) -> f32 {
        let met =
            entry.iter().map(|&(topic, weight)| (self.get(topic), weight)).filter(|(own, _)| *own != 0.0);
        met.fold(0.0, |sum, (own, weight)| sum + own * weight)
    }
}

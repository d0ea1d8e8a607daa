//! Entries in the order in which they fit a query.

use std::cell::RefCell;

use super::confidence::{self, Features};
use super::index::Index;
use super::query::Query;
use super::topics::likeness;
use super::{Found, Hit, Request, Verdict, reason};

/// The entries that are looked at closely.
const CANDIDATES: usize = 100;
/// How much a name that the query says counts, as a share of the best score.
const NAME: f32 = 0.2;
/// How much words count that stand next to each other in both.
const PAIR: f32 = 0.3;
/// How much being about the same counts, as a share of the best score.
const ABOUT: f32 = 0.35;
/// The fewest hits whose features tell whether anything fits.
const TELLING: usize = 5;

/// What is added up for all entries; kept by each thread from query to query.
#[derive(Default)]
struct Sums {
    entries: Vec<Sum>,
    touched: Vec<u32>,
}

/// What is added up for one entry.
#[derive(Clone, Copy)]
struct Sum {
    total: f32,
    /// The share of its name that was said.
    name: f32,
    /// The unit that was counted last, and what it has added to each.
    unit: u32,
    counted: f32,
    named: f32,
}

impl Sum {
    const NOTHING: Self = Self { total: 0.0, name: 0.0, unit: u32::MAX, counted: 0.0, named: 0.0 };
}

thread_local! {
    static SUMS: RefCell<Sums> = RefCell::default();
}

/// An entry and what is known of how it fits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) entry: u32,
    pub(super) score: f32,
    /// The share of its name that the query says.
    pub(super) name: f32,
    /// How much it is about the same.
    pub(super) about: f32,
}

impl Index {
    /// What fits a request. Names that a query says come first, then what its words fit best.
    pub fn find(&self, request: Request<'_>) -> Found {
        let query = Query::read(request.query, self);
        let within = |entry: u32| request.within.is_none_or(|within| within(entry as usize));
        let named: Vec<u32> = self.mentioned(request.query).into_iter().filter(|&entry| within(entry)).collect();
        let mut ranked = self.ranked(&query, &within, request.limit.max(CANDIDATES));
        ranked.retain(|candidate| !named.contains(&candidate.entry));
        let best = ranked.first().map_or(0.0, |first| first.score);
        let scores: Vec<f32> = ranked.iter().take(TELLING).map(|candidate| candidate.score).collect();
        let features = |place: usize, candidate: &Candidate| self.features(&query, place, candidate, &scores);
        let telling: Vec<Features> =
            ranked.iter().take(TELLING).enumerate().map(|(place, candidate)| features(place, candidate)).collect();
        let fits = !named.is_empty() || confidence::any_fits(&telling);
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
        let left = request.limit.saturating_sub(hits.len());
        hits.extend(ranked.iter().take(left).enumerate().map(|(place, candidate)| {
            let features = telling.get(place).cloned().unwrap_or_else(|| features(place, candidate));
            Hit {
                entry: candidate.entry as usize,
                score: candidate.score,
                confidence: if named.is_empty() { confidence::of(&features) } else { confidence::of(&features).min(0.5) },
                reason: reason::of(self, &query, candidate.entry),
            }
        }));
        Found { verdict: if fits { Verdict::Match } else { Verdict::NoMatch }, hits }
    }

    /// The entries that a query names: it is the name, it says just the words of the name, or the name stands in it
    /// and can be nothing else.
    fn mentioned(&self, query: &str) -> Vec<u32> {
        let trim = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '!' && c != '_').to_string();
        let mut all: Vec<u32> = self.named(query.trim()).to_vec();
        let is_identifier = |word: &str| {
            let inner = word.char_indices().skip(1);
            inner.clone().any(|(_, c)| matches!(c, '_' | '.' | '-' | ':') || c.is_numeric())
                || word.chars().zip(word.chars().skip(1)).any(|(one, next)| one.is_lowercase() && next.is_uppercase())
        };
        for word in query.split_whitespace().take(200) {
            let is_quoted = word.starts_with(['`', '"', '\'']);
            let word = trim(word);
            if is_quoted || is_identifier(&word) {
                all.extend(self.named(&word));
            }
        }
        all.extend(self.spoken(query));
        let mut seen = std::collections::HashSet::new();
        all.retain(|entry| seen.insert(*entry));
        all
    }

    fn ranked(&self, query: &Query, within: &dyn Fn(u32) -> bool, limit: usize) -> Vec<Candidate> {
        let mut candidates = SUMS.with_borrow_mut(|sums| self.added_up(query, within, sums));
        if candidates.len() > limit {
            candidates.select_nth_unstable_by(limit, order);
            candidates.truncate(limit);
        }
        let best = candidates.iter().map(|candidate| candidate.score).fold(0.0, f32::max);
        let about = self.about(query);
        for candidate in &mut candidates {
            candidate.about = likeness(&about, &self.about[candidate.entry as usize]);
            candidate.score += NAME * best * candidate.name + PAIR * self.pairs_said(query, candidate.entry);
        }
        let (best, most) = candidates.iter().fold((0.0_f32, 0.0_f32), |(best, most), candidate| {
            (best.max(candidate.score), most.max(candidate.about))
        });
        if most > 0.0 {
            for candidate in &mut candidates {
                candidate.score += ABOUT * best * candidate.about / most;
            }
        }
        candidates.sort_unstable_by(order);
        candidates
    }

    fn about(&self, query: &Query) -> Vec<f32> {
        let tells = |stem: &str| self.vocabulary.get(stem).map_or(1.0, |term| self.rarity[term as usize] / self.most);
        let mut weights = Vec::new();
        self.topics.query(&query.stems, &self.synonyms, &tells, &mut weights);
        weights
    }

    /// Each entry that has any word of the query, with what its words count.
    fn added_up(&self, query: &Query, within: &dyn Fn(u32) -> bool, sums: &mut Sums) -> Vec<Candidate> {
        sums.entries.resize(self.entries.max(sums.entries.len()), Sum::NOTHING);
        for (number, unit) in query.units.iter().enumerate() {
            let number = number as u32;
            for sense in &unit.senses {
                let scale = unit.weight * sense.weight * self.rarity[sense.term as usize];
                for posting in &self.postings[sense.term as usize] {
                    let sum = &mut sums.entries[posting.entry as usize];
                    if sum.unit == u32::MAX {
                        sums.touched.push(posting.entry);
                    }
                    // Several senses of one unit do not add up: the best counts.
                    if sum.unit != number {
                        (sum.unit, sum.counted, sum.named) = (number, 0.0, 0.0);
                    }
                    let counts = scale * posting.weight;
                    if counts > sum.counted {
                        sum.total += counts - sum.counted;
                        sum.counted = counts;
                    }
                    let named = sense.weight * posting.of_name;
                    if named > sum.named {
                        sum.name += named - sum.named;
                        sum.named = named;
                    }
                }
            }
        }
        let mut found = Vec::with_capacity(sums.touched.len());
        for entry in sums.touched.drain(..) {
            let sum = std::mem::replace(&mut sums.entries[entry as usize], Sum::NOTHING);
            if within(entry) {
                found.push(Candidate { entry, score: sum.total, name: sum.name.min(1.0), about: 0.0 });
            }
        }
        found
    }

    fn pairs_said(&self, query: &Query, entry: u32) -> f32 {
        let pairs = &self.pairs[entry as usize];
        let both = query.pairs.iter().filter(|pair| pairs.binary_search(pair).is_ok());
        both.map(|&(one, other)| self.rarity[one as usize].max(self.rarity[other as usize])).sum()
    }
}

/// Best first; of equals, the one that comes first in the catalog.
fn order(one: &Candidate, other: &Candidate) -> std::cmp::Ordering {
    other.score.total_cmp(&one.score).then(one.entry.cmp(&other.entry))
}

impl Index {
    pub(super) fn debugged(&self, text: &str, count: usize) -> Vec<(usize, [f32; confidence::COUNT])> {
        let query = Query::read(text, self);
        let ranked = self.ranked(&query, &|_| true, CANDIDATES);
        let scores: Vec<f32> = ranked.iter().take(TELLING).map(|candidate| candidate.score).collect();
        let first = ranked.iter().take(count).enumerate();
        first.map(|(place, one)| (one.entry as usize, self.features(&query, place, one, &scores).values)).collect()
    }
}

//! Candidates: the entries with the best words and meaning, which are then scored in full.

use hashbrown::HashMap;

use super::index::Index;
use super::query::{Kind, Query};

/// Share of the largest word weight below which a word is skipped, because it is in many entries.
const MIN_IDF_SHARE: f32 = 0.05;

/// Number of ranking features.
pub(super) const FEATURES: usize = 11;

/// Cosine above which an entry without a word of the query is a candidate.
const NEAR: f32 = 0.2;

/// An entry with the features of its fit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Candidate {
    pub(super) entry: u32,
    pub(super) score: f32,
    /// Sum of the weights of its words.
    pub(super) words: f32,
    /// Cosine of its meaning and the query's, and the largest cosine of its phrases.
    pub(super) meaning: f32,
    pub(super) phrase: f32,
    /// How well its action agrees with the requested action.
    pub(super) agrees: f32,
    /// How near its words are to those of the query.
    pub(super) near: f32,
    /// Weight of the nouns in its name that the query lacks, and nearness of its head noun to the query's.
    pub(super) extra: f32,
    pub(super) head: f32,
    pub(super) features: [f32; FEATURES],
}

/// Sum of the word weights of one entry.
#[derive(Clone, Copy, Default)]
struct WordSum {
    total: f32,
    /// The unit that was added last, counted from one, and its contribution.
    unit: u32,
    counted: f32,
}

/// A filter of entries; `None` admits all.
pub(super) type Within<'q> = Option<&'q dyn Fn(usize) -> bool>;

impl Index {
    /// The entries that are scored in full: those with the best words and meaning.
    pub(super) fn candidates(&self, query: &Query, within: Within<'_>, limit: usize) -> Vec<Candidate> {
        let mut sums = self.accumulate(query);
        if let Some(within) = within {
            let others = sums.iter_mut().enumerate().filter(|(entry, _)| !within(*entry));
            others.for_each(|(_, sum)| sum.total = -1.0);
        }
        let most = sums.iter().map(|sum| sum.total).fold(f32::MIN_POSITIVE, f32::max);
        let limit = limit.min(self.len());
        let (share, wordless) = self.without_vectors(query);
        let mut met = Vec::new();
        let mut least = f32::NEG_INFINITY;
        for (entry, &WordSum { total: words, .. }) in (0..).zip(&sums).filter(|(_, sum)| sum.total >= 0.0) {
            let cosine = self.meanings[entry as usize].near(&query.meaning).max(0.0);
            let meaning = cosine * share + wordless.get(&entry).copied().unwrap_or(0.0);
            let score = words / most + meaning;
            if score > least && (words > 0.0 || meaning > NEAR) {
                met.push(Candidate { entry, score, words, meaning, ..Candidate::default() });
            }
            // Ties go to the earlier entry, so a later one needs more than the least score kept.
            if met.len() == 2 * limit {
                least = keep_best(&mut met, limit);
            }
        }
        keep_best(&mut met, limit);
        met
    }

    /// The share of a query's topics with vectors, and for each entry the share of those without a vector that it has: the
    /// words of languages that the model does not know mean only themselves.
    fn without_vectors(&self, query: &Query) -> (f32, HashMap<u32, f32>) {
        let all: f32 = query.units.iter().map(|unit| unit.topic).sum();
        let mut share = 1.0;
        let mut met: HashMap<u32, f32> = HashMap::new();
        for unit in query.units.iter().filter(|unit| unit.topic > 0.0 && unit.meaning.is_empty()) {
            share -= unit.topic / all;
            let said = unit.senses.iter().find(|sense| sense.kind == Kind::Said);
            for (entry, _) in said.iter().flat_map(|sense| &self.postings[sense.term as usize]) {
                *met.entry(*entry).or_default() += unit.topic / all;
            }
        }
        (share, met)
    }

    /// The sum of the query's words for each entry.
    fn accumulate(&self, query: &Query) -> Vec<WordSum> {
        let mut sums = vec![WordSum::default(); self.len()];
        for (number, unit) in (1..).zip(&query.units) {
            for sense in &unit.senses {
                let scale = unit.weight * sense.weight * self.idf[sense.term as usize];
                if scale < MIN_IDF_SHARE * self.max_idf && sense.kind != Kind::Said {
                    continue;
                }
                for &(entry, weight) in &self.postings[sense.term as usize] {
                    let counts = scale * weight;
                    let sum = &mut sums[entry as usize];
                    if sum.unit != number {
                        (sum.unit, sum.counted) = (number, counts);
                        sum.total += counts;
                    } else if counts > sum.counted {
                        // Senses of one unit do not add up: only the best is used.
                        sum.total += counts - sum.counted;
                        sum.counted = counts;
                    }
                }
            }
        }
        sums
    }
}

/// Keeps the best candidates, in any order, and returns the least score among them.
fn keep_best(candidates: &mut Vec<Candidate>, limit: usize) -> f32 {
    if candidates.len() > limit {
        candidates.select_nth_unstable_by(limit - 1, order);
        candidates.truncate(limit);
    }
    candidates.last().map_or(0.0, |last| last.score)
}

/// Best first; ties in the order of the catalog.
pub(super) fn order(one: &Candidate, other: &Candidate) -> std::cmp::Ordering {
    other.score.total_cmp(&one.score).then(one.entry.cmp(&other.entry))
}

//! The outcome of one labelled query.

use super::DEPTH;
use crate::search::{SearchResult, Verdict};

/// Most hits that NDCG considers.
const BORDER: usize = 10;

/// The outcome of one labelled query.
#[derive(Clone, Debug, Default)]
pub struct QueryOutcome {
    /// The tools that serve it, by position; empty when none does.
    pub(super) gold: Vec<usize>,
    /// The hits, by position, with their confidence.
    pub(super) hits: Vec<(usize, f64)>,
    /// Whether the answer was `no_match`.
    pub(super) abstained: bool,
}

impl QueryOutcome {
    /// The outcome of a query that these tools serve, by position.
    pub fn new(gold: &[usize], found: SearchResult) -> Self {
        // Rounds to six digits, as reports print it: 0.8 is 0.8, and not the nearest smaller number.
        let digits = |value: f32| (f64::from(value) * 1e6).round() / 1e6;
        let confidence = |value: f32| if value.is_nan() { 0.0 } else { digits(value).clamp(0.0, 1.0) };
        let hits = found.hits.iter().take(DEPTH).map(|hit| (hit.entry, confidence(hit.confidence)));
        Self { gold: gold.to_vec(), hits: hits.collect(), abstained: found.verdict == Verdict::NoMatch }
    }

    /// Whether some tool serves it.
    pub(super) fn is_answerable(&self) -> bool {
        !self.gold.is_empty()
    }

    /// The rank of a tool among the hits, from 1.
    pub(super) fn rank(&self, tool: usize) -> Option<usize> {
        self.hits.iter().position(|(hit, _)| *hit == tool).map(|place| place + 1)
    }

    /// The share of its tools among the first `border` hits.
    pub(super) fn recall(&self, border: usize) -> f64 {
        let found =
            self.gold.iter().filter(|tool| self.rank(**tool).is_some_and(|rank| rank <= border)).count();
        found as f64 / self.gold.len().max(1) as f64
    }

    /// Largest possible [`QueryOutcome::recall`]: of four tools only one can come first.
    pub(super) fn best_recall(&self, border: usize) -> f64 {
        border.min(self.gold.len()) as f64 / self.gold.len().max(1) as f64
    }

    /// Normalised discounted cumulative gain of the first ten hits, each worth one or nothing.
    pub(super) fn ndcg(&self) -> f64 {
        let gain = |rank: usize| 1.0 / (rank as f64 + 1.0).log2();
        let ranks = (1..=BORDER).zip(&self.hits).filter(|(_, (tool, _))| self.gold.contains(tool));
        let ideal: f64 = (1..=BORDER.min(self.gold.len())).map(gain).sum();
        if ideal > 0.0 { ranks.map(|(rank, _)| gain(rank)).sum::<f64>() / ideal } else { 0.0 }
    }

    /// One over the rank of the first right hit; 0 when there is none.
    pub(super) fn reciprocal_rank(&self) -> f64 {
        let first = self.gold.iter().filter_map(|tool| self.rank(*tool)).min();
        first.map_or(0.0, |rank| 1.0 / rank as f64)
    }

    /// The confidence of the first hit.
    pub(super) fn confidence(&self) -> Option<f64> {
        self.hits.first().map(|(_, confidence)| *confidence)
    }

    /// Whether the first hit serves it.
    pub(super) fn is_right(&self) -> bool {
        self.hits.first().is_some_and(|(tool, _)| self.gold.contains(tool))
    }

    /// Quality of the whole answer, from 0 to 1. An answer `no_match` is either right or wrong.
    pub(super) fn score(&self) -> f64 {
        match (self.is_answerable(), self.abstained) {
            (true, false) => self.ndcg(),
            (false, true) => 1.0,
            _ => 0.0,
        }
    }
}

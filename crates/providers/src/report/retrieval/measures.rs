//! The measures, over the outcomes of labelled queries.

use indexmap::IndexMap;
use serde::Serialize;

use super::labels::{Labelled, Labels};
use toolcrib_catalog::Catalog;
use toolcrib_search::{SearchResult, Verdict};

/// Most hits of a query that are considered.
pub const DEPTH: usize = 100;

/// Tolerance for sums of shares, which are not exact in their last digits: 9 of 10 reaches 90.
pub(super) const SLACK: f64 = 1e-9;

/// Measures by name, as shares from 0 to 1; `None` for one that the queries do not define.
pub type Measures = IndexMap<&'static str, Option<f64>>;

/// A failed query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WrongQuery {
    pub file: String,
    /// Its line number.
    pub line: usize,
    pub query: String,
    /// Quality of the result, from 0 to 1: its NDCG, and 0 where "no match" is wrong or missing.
    pub score: f64,
    /// `match` or `no_match`.
    pub verdict: &'static str,
    /// The expected tools with their ranks, from 1; `None` for one that is not among the hits. Empty when no tool serves
    /// the query.
    pub gold: Vec<(String, Option<usize>)>,
    /// The first hits with their confidence.
    pub hits: Vec<(String, f64)>,
}

/// Most hits that NDCG considers.
const BORDER: usize = 10;
/// Most hits that are listed of a failed query.
const HITS: usize = 5;

/// The outcome of one labelled query.
#[derive(Clone, Debug, Default)]
pub struct QueryOutcome {
    /// The expected tools, by position; empty when no tool serves the query.
    gold: Vec<usize>,
    /// The hits, by position, with their confidence.
    hits: Vec<(usize, f64)>,
    /// Whether the result was "no match".
    is_no_match: bool,
}

/// One number from 0 to 1 from the outcomes of queries.
type Measure = fn(&[QueryOutcome]) -> Option<f64>;

/// The measures: those of ranking and wrong "no match" are over the queries that some tool serves, `refused` is over the
/// others.
pub const MEASURES: [(&str, Measure); 6] = [
    ("recall_1", |all| answerable(all, |one| one.recall(1))),
    ("recall_5", |all| answerable(all, |one| one.recall(5))),
    ("ndcg", |all| answerable(all, QueryOutcome::ndcg)),
    ("wrong_no_match", |all| answerable(all, QueryOutcome::no_match)),
    ("recall_5_answered", |all| answerable(all, |one| if one.is_no_match { 0.0 } else { one.recall(5) })),
    ("refused", |all| average(all.iter().filter(|one| !one.is_answerable()).map(QueryOutcome::no_match))),
];

fn answerable(all: &[QueryOutcome], measure: fn(&QueryOutcome) -> f64) -> Option<f64> {
    average(all.iter().filter(|one| one.is_answerable()).map(measure))
}

fn average(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

impl QueryOutcome {
    /// The outcome of a query that these tools serve, by position.
    pub fn new(gold: &[usize], found: SearchResult) -> Self {
        // Rounds to six digits, as reports print it: 0.8 is 0.8, and not the nearest smaller number.
        let digits = |value: f32| (f64::from(value) * 1e6).round() / 1e6;
        let confidence = |value: f32| if value.is_nan() { 0.0 } else { digits(value).clamp(0.0, 1.0) };
        let hits = found.hits.iter().take(DEPTH).map(|hit| (hit.entry, confidence(hit.confidence)));
        Self { gold: gold.to_vec(), hits: hits.collect(), is_no_match: found.verdict == Verdict::NoMatch }
    }

    /// Whether some tool serves it.
    pub(super) fn is_answerable(&self) -> bool {
        !self.gold.is_empty()
    }

    /// The rank of a tool among the hits, from 1.
    fn rank(&self, tool: usize) -> Option<usize> {
        self.hits.iter().position(|(hit, _)| *hit == tool).map(|place| place + 1)
    }

    /// The share of its tools among the first `border` hits.
    fn recall(&self, border: usize) -> f64 {
        let found =
            self.gold.iter().filter(|tool| self.rank(**tool).is_some_and(|rank| rank <= border)).count();
        found as f64 / self.gold.len().max(1) as f64
    }

    /// Normalised discounted cumulative gain of the first ten hits, each worth one or nothing.
    fn ndcg(&self) -> f64 {
        let gain = |rank: usize| 1.0 / (rank as f64 + 1.0).log2();
        let ranks = (1..=BORDER).zip(&self.hits).filter(|(_, (tool, _))| self.gold.contains(tool));
        let ideal: f64 = (1..=BORDER.min(self.gold.len())).map(gain).sum();
        if ideal > 0.0 { ranks.map(|(rank, _)| gain(rank)).sum::<f64>() / ideal } else { 0.0 }
    }

    fn no_match(&self) -> f64 {
        f64::from(u8::from(self.is_no_match))
    }

    /// The confidence of the first hit; 0 where there is no hit.
    pub(super) fn confidence(&self) -> f64 {
        self.hits.first().map_or(0.0, |(_, confidence)| *confidence)
    }

    /// Quality of the whole result, from 0 to 1. "No match" is either right or wrong.
    pub(super) fn score(&self) -> f64 {
        match (self.is_answerable(), self.is_no_match) {
            (true, false) => self.ndcg(),
            (false, true) => 1.0,
            _ => 0.0,
        }
    }

    /// What a reader needs to see of a failed query.
    pub(super) fn wrong(&self, catalog: &Catalog, labels: &Labels, labelled: &Labelled) -> WrongQuery {
        let tool = |index: usize| catalog.tools.get(index);
        let name = |index| tool(index).map(|tool| tool.names.canonical.clone()).unwrap_or_default();
        let hits = self.hits.iter().take(HITS);
        WrongQuery {
            file: labels.file.clone(),
            line: labelled.line,
            query: labelled.query.clone(),
            score: self.score(),
            verdict: if self.is_no_match { "no_match" } else { "match" },
            gold: self.gold.iter().map(|&tool| (name(tool), self.rank(tool))).collect(),
            hits: hits.map(|&(tool, confidence)| (name(tool), confidence)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcrib_search::Hit;

    /// Hits in this order, the first with this confidence.
    fn outcome(gold: &[usize], hits: &[usize], confidence: f32) -> QueryOutcome {
        let hit = |&entry: &usize| Hit { entry, score: 1.0, confidence, reason: String::new() };
        let verdict = if confidence >= 0.5 { Verdict::Match } else { Verdict::NoMatch };
        QueryOutcome::new(gold, SearchResult { verdict, hits: hits.iter().map(hit).collect() })
    }

    fn value(name: &str, all: &[QueryOutcome]) -> Option<f64> {
        let (_, measure) = MEASURES.iter().find(|(other, _)| *other == name).unwrap();
        measure(all)
    }

    #[track_caller]
    fn check(all: &[QueryOutcome], expect: &[(&str, f64)]) {
        for (name, expect) in expect {
            let got = value(name, all).unwrap();
            assert!((got - expect).abs() < 1e-9, "{name}: {got} and not {expect}");
        }
    }

    #[test]
    fn one_query_by_hand() {
        // Two tools serve it, at ranks two and four.
        let one = [outcome(&[7, 9], &[1, 7, 2, 9, 3], 0.8)];
        // (1/log2(3) + 1/log2(5)) / (1/log2(2) + 1/log2(3))
        let ndcg = (0.630_929_753_571_457_5 + 0.430_676_558_073_393) / (1.0 + 0.630_929_753_571_457_5);
        let expect = [
            ("recall_1", 0.0),
            ("recall_5", 1.0),
            ("ndcg", ndcg),
            ("wrong_no_match", 0.0),
            ("recall_5_answered", 1.0),
        ];
        check(&one, &expect);
        assert_eq!(value("refused", &one), None, "no query is unanswerable");
    }

    #[test]
    fn several_queries_by_hand() {
        let all = [
            outcome(&[1], &[1, 2, 3], 0.9), // right
            outcome(&[2], &[1, 2, 3], 0.7), // second
            outcome(&[3], &[3], 0.2),       // right, and kept back
            outcome(&[4], &[], 0.0),        // nothing at all, which is no_match
            outcome(&[], &[5], 0.1),        // rightly no_match
            outcome(&[], &[6], 0.7),        // answered all the same
        ];
        check(
            &all,
            &[
                ("recall_1", 0.5),
                ("recall_5", 0.75),
                ("ndcg", (1.0 + 0.630_929_753_571_457_5 + 1.0) / 4.0),
                ("wrong_no_match", 0.5),
                ("recall_5_answered", 0.5),
                ("refused", 0.5),
            ],
        );
    }

    #[test]
    fn only_the_first_ten_gain_and_confidence_is_a_share() {
        let hits: Vec<usize> = (0..40).collect();
        let far = outcome(&[10], &hits, f32::NAN);
        assert_eq!((far.ndcg(), far.confidence()), (0.0, 0.0));
        // With more tools than ranks, ten right ones are all there can be.
        let many: Vec<usize> = (0..20).collect();
        assert!((outcome(&many, &hits, 2.0).ndcg() - 1.0).abs() < 1e-12);
        assert_eq!(outcome(&many, &hits, 2.0).confidence(), 1.0);
    }
}

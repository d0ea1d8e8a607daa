//! The measures, each one number from 0 to 1. docs/search.md explains each.

use indexmap::IndexMap;
use serde::Serialize;

use super::calibration::Calibration;
use super::outcome::QueryOutcome;

/// Measures by name, in a fixed order; `None` for one that these queries do not define.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measures(pub(super) IndexMap<&'static str, Option<f64>>);

impl Measures {
    /// The measure of this name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied().flatten()
    }
}

/// One number from the outcomes of queries.
pub(super) type Measure = fn(&[QueryOutcome]) -> Option<f64>;

/// Every measure: first those of ranking, over the answerable queries; then those of abstention and of confidence.
pub(super) const MEASURES: [(&str, Measure); 14] = [
    ("recall_1", |all| answerable(all, |one| one.recall(1))),
    ("recall_3", |all| answerable(all, |one| one.recall(3))),
    ("recall_5", |all| answerable(all, |one| one.recall(5))),
    ("recall_10", |all| answerable(all, |one| one.recall(10))),
    ("best_recall_1", |all| answerable(all, |one| one.best_recall(1))),
    ("best_recall_3", |all| answerable(all, |one| one.best_recall(3))),
    ("best_recall_5", |all| answerable(all, |one| one.best_recall(5))),
    ("best_recall_10", |all| answerable(all, |one| one.best_recall(10))),
    ("ndcg_10", |all| answerable(all, QueryOutcome::ndcg)),
    ("mrr", |all| answerable(all, QueryOutcome::reciprocal_rank)),
    ("abstention", |all| average(all.iter().filter(|one| !one.is_answerable()).map(abstained))),
    ("wrong_abstention", |all| answerable(all, abstained)),
    ("recall_5_answered", |all| answerable(all, |one| if one.abstained { 0.0 } else { one.recall(5) })),
    ("ece", |all| Calibration::of(all).ece),
];

/// Whether a measure is a mean over queries that search can raise, so that a difference has an interval.
pub(super) fn is_of_queries(name: &str) -> bool {
    name != "ece" && !name.starts_with("best_")
}

fn answerable(all: &[QueryOutcome], measure: fn(&QueryOutcome) -> f64) -> Option<f64> {
    average(all.iter().filter(|one| one.is_answerable()).map(measure))
}

fn abstained(one: &QueryOutcome) -> f64 {
    f64::from(u8::from(one.abstained))
}

/// The mean of several rows.
pub(super) fn mean<'a>(rows: impl Iterator<Item = &'a Measures> + Clone) -> Measures {
    let of = |name| average(rows.clone().filter_map(|row| row.get(name)));
    Measures(MEASURES.map(|(name, _)| (name, of(name))).into())
}

fn average(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Hit, SearchResult, Verdict};

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
        check(
            &one,
            &[
                ("recall_1", 0.0),
                ("recall_3", 0.5),
                ("recall_5", 1.0),
                ("recall_10", 1.0),
                ("best_recall_1", 0.5),
                ("best_recall_3", 1.0),
                ("ndcg_10", ndcg),
                ("mrr", 0.5),
                ("wrong_abstention", 0.0),
                ("recall_5_answered", 1.0),
                ("ece", 0.8),
            ],
        );
        assert_eq!(value("abstention", &one), None, "no query is unanswerable");
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
                ("ndcg_10", (1.0 + 0.630_929_753_571_457_5 + 1.0) / 4.0),
                ("mrr", (1.0 + 0.5 + 1.0) / 4.0),
                ("abstention", 0.5),
                ("wrong_abstention", 0.5),
                ("recall_5_answered", 0.5),
                // Five have a first hit: |0.9 - 1| + 2 * |0.7 - 0| + |0.2 - 1| + |0.1 - 0|, over 5.
                ("ece", (0.1 + 1.4 + 0.8 + 0.1) / 5.0),
            ],
        );
    }

    #[test]
    fn nothing_measured_is_not_nothing_reached() {
        for (name, measure) in MEASURES {
            assert_eq!(measure(&[]), None, "{name}");
        }
        let rows = [outcome(&[1], &[1], 1.0), outcome(&[], &[1], 1.0)];
        let of = |one: &QueryOutcome| {
            Measures(MEASURES.map(|(name, measure)| (name, measure(std::slice::from_ref(one)))).into())
        };
        let rows = rows.each_ref().map(of);
        let mean = mean(rows.iter());
        assert_eq!((mean.get("recall_1"), mean.get("abstention")), (Some(1.0), Some(0.0)));
    }

    #[test]
    fn only_the_first_ten_gain_and_confidence_is_a_share() {
        let hits: Vec<usize> = (0..40).collect();
        let far = outcome(&[10], &hits, f32::NAN);
        assert_eq!((far.ndcg(), far.confidence()), (0.0, Some(0.0)));
        assert!((far.reciprocal_rank() - 1.0 / 11.0).abs() < 1e-12);
        // With more tools than ranks, ten right ones are all there can be.
        let many: Vec<usize> = (0..20).collect();
        assert!((outcome(&many, &hits, 2.0).ndcg() - 1.0).abs() < 1e-12);
        assert_eq!(outcome(&many, &hits, 2.0).confidence(), Some(1.0));
    }
}

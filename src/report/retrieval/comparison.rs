//! Setups of search side by side: the measures of each, and the difference to the first.

use indexmap::IndexMap;
use rayon::prelude::*;
use serde::Serialize;

use super::bootstrap::{Interval, Resampled};
use super::measure::{MEASURES, is_of_queries};
use super::outcome::QueryOutcome;
use super::{Labels, RetrievalReport, report};
use crate::catalog::Catalog;

/// The answers of one setup.
#[derive(Debug)]
pub struct SetupAnswers {
    /// Name of the setup.
    pub setup: String,
    /// The outcome of each query of each file.
    pub answers: Vec<Vec<QueryOutcome>>,
    /// Number of queries that its model did not answer.
    pub unanswered: usize,
}

/// Measures of several setups.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The setups; the others are compared with the first.
    pub setups: Vec<SetupReport>,
}

/// Measures of one setup.
#[derive(Debug, Serialize)]
pub struct SetupReport {
    /// Name of the setup.
    pub setup: String,
    /// Its measures.
    #[serde(flatten)]
    pub report: RetrievalReport,
    /// Number of queries that its model did not answer, which count as answered by its fallback.
    pub unanswered_by_model: usize,
    /// The difference to the first setup.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// The difference of one setup to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Name of the other setup.
    pub to: String,
    /// One for each file.
    pub files: Vec<Intervals>,
    /// The mean of the files, each counting once.
    pub mean: Intervals,
}

/// Differences by measure; measures that the queries do not define are left out.
pub type Intervals = IndexMap<&'static str, Interval>;

impl Comparison {
    /// Measures setups that have answered the same labels. Of each at most `worst` failed queries are kept.
    pub fn new(catalog: &Catalog, labels: &[Labels], setups: Vec<SetupAnswers>, worst: usize) -> Self {
        let mut first: Option<(String, Vec<Vec<QueryOutcome>>)> = None;
        let measured = |SetupAnswers { setup, answers, unanswered }: SetupAnswers| {
            let report = report(catalog, labels, &answers, worst);
            let difference = first.as_ref().map(|(to, first)| Difference::new(to, first, &answers));
            first.get_or_insert_with(|| (setup.clone(), answers));
            SetupReport { setup, report, unanswered_by_model: unanswered, difference }
        };
        Self { setups: setups.into_iter().map(measured).collect() }
    }
}

impl Difference {
    fn new(to: &str, first: &[Vec<QueryOutcome>], other: &[Vec<QueryOutcome>]) -> Self {
        let names = || MEASURES.iter().filter(|(name, _)| is_of_queries(name));
        let resampled = |&(name, measure): &(&'static str, super::measure::Measure)| {
            let value = |outcome: &QueryOutcome| measure(std::slice::from_ref(outcome));
            let difference = |(one, other): (&QueryOutcome, &QueryOutcome)| Some(value(other)? - value(one)?);
            let file = |(index, (one, other)): (usize, (&Vec<QueryOutcome>, &Vec<QueryOutcome>))| {
                let differences: Vec<f64> = one.iter().zip(other).filter_map(difference).collect();
                Resampled::of(&differences, index)
            };
            let files: Vec<Option<Resampled>> = first.iter().zip(other).enumerate().map(file).collect();
            (name, files)
        };
        let resampled: Vec<(&'static str, Vec<Option<Resampled>>)> =
            names().collect::<Vec<_>>().into_par_iter().map(resampled).collect();
        let of_file = |index: usize| {
            let interval = |(name, files): &(&'static str, Vec<Option<Resampled>>)| {
                Some((*name, files.get(index)?.as_ref()?.interval()))
            };
            resampled.iter().filter_map(interval).collect()
        };
        let mean = |(name, files): &(&'static str, Vec<Option<Resampled>>)| {
            let files: Vec<Resampled> = files.iter().flatten().cloned().collect();
            Some((*name, Resampled::mean(&files)?.interval()))
        };
        let mean = resampled.iter().filter_map(mean).collect();
        Self { to: to.to_string(), files: (0..first.len()).map(of_file).collect(), mean }
    }
}

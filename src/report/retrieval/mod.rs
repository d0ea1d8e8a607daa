//! Measures search: asks labelled queries, and compares the hits with the expected tools.
//!
//! [`labels`] reads labelled queries, and checks them against the names of a catalog. [`evaluate`] asks each of them, in
//! parallel. [`outcome`] has the measures, and [`table`] prints them for people.

mod labels;
mod outcome;
mod table;

use indexmap::IndexMap;
use rayon::prelude::*;
use serde::Serialize;

use crate::catalog::Catalog;
use crate::search::SearchResult;
use crate::tool::clean_line;

pub use labels::{LabelFile, Labelled, Labels, configured};
pub use outcome::{MEASURES, QueryOutcome};

/// Most hits of a query that are considered.
pub const DEPTH: usize = 100;

/// Tolerance for sums of shares, which are not exact in their last digits: 9 of 10 reaches 90.
const SLACK: f64 = 1e-9;

/// Measures by name, as shares from 0 to 1; `None` for one that the queries do not define.
pub type Measures = IndexMap<&'static str, Option<f64>>;

/// Measures of search on a catalog.
#[derive(Debug, Serialize)]
pub struct RetrievalReport {
    /// The registry version that was searched.
    pub registry_version: String,
    /// Number of its tools.
    pub tools: usize,
    /// One for each file of labelled queries.
    pub files: Vec<Row>,
    /// The failed queries, worst first.
    pub worst: Vec<WrongQuery>,
}

/// Measures of search on one file of labelled queries.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The file.
    pub file: String,
    /// Number of its queries.
    pub queries: usize,
    /// Number of queries that no tool serves.
    pub unanswerable: usize,
    /// Measures over them.
    #[serde(flatten)]
    pub measures: Measures,
}

/// A failed query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WrongQuery {
    /// Its file.
    pub file: String,
    /// Its line number.
    pub line: usize,
    /// The query.
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

/// Asks every query of these files and measures the hits of `find`, of which the first [`DEPTH`] count; entries are
/// the tools of the catalog in their order. At most `worst` failed queries are kept. `done` is called after each
/// query. The same labels and the same answers give the same report.
pub fn evaluate(
    catalog: &Catalog,
    labels: &[Labels],
    find: &(dyn Fn(&str) -> SearchResult + Sync),
    worst: usize,
    done: &(dyn Fn() + Sync),
) -> RetrievalReport {
    let ask = |labelled: &Labelled| {
        let outcome = QueryOutcome::new(&labelled.gold, find(&labelled.query));
        done();
        outcome
    };
    let (mut files, mut wrong) = (Vec::new(), Vec::new());
    for labels in labels {
        let outcomes: Vec<QueryOutcome> = labels.queries.par_iter().map(ask).collect();
        files.push(Row {
            file: labels.file.clone(),
            queries: outcomes.len(),
            unanswerable: outcomes.iter().filter(|outcome| !outcome.is_answerable()).count(),
            measures: MEASURES.map(|(name, measure)| (name, measure(&outcomes))).into(),
        });
        let queries =
            labels.queries.iter().zip(outcomes).filter(|(_, outcome)| outcome.score() < 1.0 - SLACK);
        wrong.extend(queries.map(|(labelled, outcome)| (labels, labelled, outcome)));
    }
    // Of two equally bad ones the more confident one is worse; others stay in the order of the files.
    wrong.sort_by(|(.., one), (.., other)| {
        one.score().total_cmp(&other.score()).then(other.confidence().total_cmp(&one.confidence()))
    });
    let wrong =
        wrong.iter().take(worst).map(|(labels, labelled, outcome)| outcome.wrong(catalog, labels, labelled));
    RetrievalReport {
        registry_version: catalog.version.clone(),
        tools: catalog.tools.len(),
        files,
        worst: wrong.collect(),
    }
}

impl RetrievalReport {
    /// The thresholds, in percent, that are not reached: every file that defines a measure has to reach it, and one file
    /// must define it.
    pub fn missed<'t>(&self, thresholds: impl IntoIterator<Item = (&'t str, f64)>) -> Vec<String> {
        let mut missed = Vec::new();
        for (measure, least) in thresholds {
            let of = |row: &Row| Some((clean_line(&row.file), 100.0 * row.measures.get(measure).copied()??));
            let measured: Vec<(String, f64)> = self.files.iter().filter_map(of).collect();
            if measured.is_empty() {
                missed.push(format!("{measure} cannot be measured with these queries"));
            }
            let below = measured.iter().filter(|(_, value)| *value < least - SLACK);
            missed.extend(
                below.map(|(file, value)| format!("{file}: {measure} is {value:.1} %, below {least}")),
            );
        }
        missed
    }
}

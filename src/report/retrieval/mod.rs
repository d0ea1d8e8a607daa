//! Measures search: asks labelled queries, and compares the hits with the right tools.
//!
//! 1. [`labels`] reads labelled queries, and checks them against the names of a catalog.
//! 2. [`evaluate`] asks each of them, in parallel, and keeps a [`QueryOutcome`](outcome::QueryOutcome) of each.
//! 3. [`measure`] has one function per measure; [`calibration`] compares confidence with the share of right hits.
//! 4. [`threshold`] finds the measures that a report does not reach.
//! 5. [`comparison`] sets several setups side by side, with confidence intervals by [`bootstrap`].
//! 6. [`worst`] picks the queries to look at first; [`table`] prints all of it for people.

mod bootstrap;
mod calibration;
mod comparison;
mod comparison_table;
mod labels;
mod measure;
mod outcome;
mod table;
mod threshold;
mod worst;

use indexmap::IndexMap;
use rayon::prelude::*;
use serde::Serialize;

use crate::catalog::Catalog;
use crate::search::SearchResult;

pub use bootstrap::Interval;
pub use calibration::{Bin, Calibration};
pub use comparison::{Comparison, Difference, Intervals, SetupAnswers, SetupReport};
pub use labels::{LabelFile, Labelled, Labels, configured};
pub use measure::Measures;
pub use outcome::QueryOutcome;
pub use threshold::MissedThreshold;
pub use worst::{Gold, ReturnedHit, WrongQuery};

/// Most hits of a query that are considered.
pub const DEPTH: usize = 100;

/// Measures of search on a catalog.
#[derive(Debug, Serialize)]
pub struct RetrievalReport {
    /// The registry version that was searched.
    pub registry_version: String,
    /// Number of its tools.
    pub tools: usize,
    /// One for each file of labelled queries.
    pub files: Vec<Row>,
    /// The mean of the files, each counting once however many queries it has; measures that a file lacks are left out.
    pub mean: Measures,
    /// Calibration over the queries of all files.
    pub calibration: Calibration,
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
    /// Number of queries that some tool serves.
    pub answerable: usize,
    /// Number of queries that no tool serves.
    pub unanswerable: usize,
    /// Measures over them.
    #[serde(flatten)]
    pub measures: Measures,
    /// Calibration over them.
    pub calibration: Calibration,
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
    let asked = |labels: &Labels| labels.queries.par_iter().map(ask).collect::<Vec<QueryOutcome>>();
    report(catalog, labels, &labels.iter().map(asked).collect::<Vec<_>>(), worst)
}

fn report(
    catalog: &Catalog,
    labels: &[Labels],
    outcomes: &[Vec<QueryOutcome>],
    worst: usize,
) -> RetrievalReport {
    let files: Vec<Row> =
        labels.iter().zip(outcomes).map(|(labels, outcomes)| row(labels, outcomes)).collect();
    RetrievalReport {
        registry_version: catalog.version.clone(),
        tools: catalog.tools.len(),
        mean: measure::mean(files.iter().map(|row| &row.measures)),
        files,
        calibration: Calibration::of(outcomes.iter().flatten()),
        worst: worst::worst(catalog, labels, outcomes, worst),
    }
}

fn row(labels: &Labels, outcomes: &[QueryOutcome]) -> Row {
    let answerable = outcomes.iter().filter(|outcome| outcome.is_answerable()).count();
    let measures: IndexMap<_, _> = measure::MEASURES.map(|(name, measure)| (name, measure(outcomes))).into();
    Row {
        file: labels.file.clone(),
        queries: outcomes.len(),
        answerable,
        unanswerable: outcomes.len() - answerable,
        measures: Measures(measures),
        calibration: Calibration::of(outcomes),
    }
}

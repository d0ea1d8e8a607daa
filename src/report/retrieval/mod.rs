//! How well search finds what it should: labelled queries asked, and what came measured against what should have come.
//!
//! 1. [`labels`] reads labelled queries, and checks them against the names of a catalog.
//! 2. [`evaluate`] asks each of them, in parallel, and keeps a [`QueryOutcome`](outcome::Outcome) of each.
//! 3. [`measure`] has one function a measure; [`calibration`] compares confidence with being right.
//! 4. [`threshold`] says what a report does not reach.
//! 5. [`worst`] picks the queries to look at first; [`table`] shows all of it to people.

mod calibration;
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

pub use calibration::{Bin, Calibration};
pub use labels::{LabelFile, Labelled, Labels, configured};
pub use measure::Measures;
pub use threshold::MissedThreshold;
pub use worst::{Gold, ReturnedHit, WrongQuery};

use outcome::QueryOutcome;

/// How many hits of a query are looked at.
pub const DEPTH: usize = 100;

/// How well search does.
#[derive(Debug, Serialize)]
pub struct RetrievalReport {
    /// The content that was searched.
    pub registry_version: String,
    /// How many tools it has.
    pub tools: usize,
    /// One for each file of labelled queries.
    pub files: Vec<Row>,
    /// The mean of the files, each counting once however many queries it has; measures that a file lacks are left out.
    pub mean: Measures,
    /// Confidence against being right, over the queries of all files.
    pub calibration: Calibration,
    /// The queries that went wrong, worst first.
    pub worst: Vec<WrongQuery>,
}

/// How well search does on one file of labelled queries.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The file.
    pub file: String,
    /// How many queries it has.
    pub queries: usize,
    /// How many of them some tool serves.
    pub answerable: usize,
    /// How many of them none does.
    pub unanswerable: usize,
    /// How well search does on them.
    #[serde(flatten)]
    pub measures: Measures,
    /// Confidence against being right.
    pub calibration: Calibration,
}

/// Asks every query of these files and measures what `find` finds, of which the first [`DEPTH`] hits count; entries are
/// the tools of the catalog in their order. Of the queries that went wrong, at most `worst` are kept. `done` hears of
/// each query. The same labels and the same answers give the same report.
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
    let outcomes: Vec<Vec<QueryOutcome>> = labels.iter().map(asked).collect();
    let files: Vec<Row> =
        labels.iter().zip(&outcomes).map(|(labels, outcomes)| row(labels, outcomes)).collect();
    RetrievalReport {
        registry_version: catalog.version.clone(),
        tools: catalog.tools.len(),
        mean: measure::mean(files.iter().map(|row| &row.measures)),
        files,
        calibration: Calibration::of(outcomes.iter().flatten()),
        worst: worst::worst(catalog, labels, &outcomes, worst),
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

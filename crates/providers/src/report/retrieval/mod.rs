//! Measures search: asks labelled queries, and compares the hits with the expected tools.
//!
//! 1. [`labels`] reads labelled queries, and checks them against the names of a catalog.
//! 2. [`evaluate`] asks each of them, in parallel, and [`MEASURES`] are over the outcomes ([`measures`]).
//! 3. [`table`] prints the measures for people.

mod labels;
mod measures;
mod table;

use measures::SLACK;
use rayon::prelude::*;
use toolcrib_catalog::Catalog;
use toolcrib_search::SearchResult;

pub use labels::{LabelFile, Labelled, Labels, configured};
pub use measures::{DEPTH, MEASURES, Measures, QueryOutcome, WrongQuery};
pub use table::{RetrievalReport, Row};

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
    let mut files = Vec::new();
    let mut wrong = Vec::new();
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

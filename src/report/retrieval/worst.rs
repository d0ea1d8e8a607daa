//! The failed queries, worst first: the ones to look at.

use serde::Serialize;

use super::Labels;
use super::outcome::QueryOutcome;
use crate::catalog::Catalog;

/// Most hits that are listed of each query.
const HITS: usize = 5;

/// A failed query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WrongQuery {
    /// Its file.
    pub file: String,
    /// Its line number.
    pub line: usize,
    /// The query.
    pub query: String,
    /// The author's note.
    pub note: Option<String>,
    /// Quality of the answer, from 0 to 1: its NDCG, and 0 where `no_match` is wrong or missing.
    pub score: f64,
    /// `match` or `no_match`.
    pub verdict: &'static str,
    /// The tools that serve it; empty when it is unanswerable.
    pub gold: Vec<Gold>,
    /// The hits, best first.
    pub hits: Vec<ReturnedHit>,
}

/// A tool that should have been found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gold {
    /// Its canonical name.
    pub name: String,
    /// Its rank, from 1; `None` when it is not among the hits that were considered.
    pub rank: Option<usize>,
}

/// A hit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReturnedHit {
    /// Its canonical name.
    pub name: String,
    /// Its confidence.
    pub confidence: f64,
}

/// At most `limit` failed queries. Of two equally bad ones the more confident one is worse.
pub(super) fn worst(
    catalog: &Catalog,
    labels: &[Labels],
    outcomes: &[Vec<QueryOutcome>],
    limit: usize,
) -> Vec<WrongQuery> {
    let mut wrong: Vec<(f64, f64, usize, usize)> = Vec::new();
    for (file, outcomes) in outcomes.iter().enumerate() {
        for (place, outcome) in outcomes.iter().enumerate() {
            let score = outcome.score();
            if score < 1.0 - 1e-9 {
                wrong.push((score, outcome.confidence().unwrap_or(0.0), file, place));
            }
        }
    }
    // The sort is stable: equal ones stay in the order of the files.
    wrong.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.total_cmp(&one.1)));
    wrong.truncate(limit);
    let told = |(_, _, file, place): (f64, f64, usize, usize)| {
        let labels = labels.get(file)?;
        tell(catalog, labels, place, outcomes.get(file)?.get(place)?)
    };
    wrong.into_iter().filter_map(told).collect()
}

fn tell(catalog: &Catalog, labels: &Labels, place: usize, outcome: &QueryOutcome) -> Option<WrongQuery> {
    let labelled = labels.queries.get(place)?;
    let name = |tool: usize| catalog.tools.get(tool).map(|tool| tool.name.clone()).unwrap_or_default();
    let came = |&(tool, confidence): &(usize, f64)| ReturnedHit { name: name(tool), confidence };
    Some(WrongQuery {
        file: labels.file.clone(),
        line: labelled.line,
        query: labelled.query.clone(),
        note: labelled.note.clone(),
        score: outcome.score(),
        verdict: if outcome.abstained { "no_match" } else { "match" },
        gold: outcome.gold.iter().map(|&tool| Gold { name: name(tool), rank: outcome.rank(tool) }).collect(),
        hits: outcome.hits.iter().take(HITS).map(came).collect(),
    })
}

//! Calibration: of first hits with a confidence of 0.8, eight in ten should be right.

use serde::Serialize;

use super::outcome::QueryOutcome;

const BINS: usize = 10;

/// Confidence compared with the share of right hits.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Calibration {
    /// The expected calibration error: the difference of confidence and the share of right hits, averaged over
    /// queries; `None` without hits.
    pub ece: Option<f64>,
    /// Ten bins of equal width; empty ones are left out.
    pub bins: Vec<Bin>,
}

/// First hits of similar confidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// Least confidence of the bin.
    pub from: f64,
    /// Confidence below which the bin ends; the last bin includes it.
    pub to: f64,
    /// Number of hits.
    pub queries: usize,
    /// Their mean confidence.
    pub confidence: f64,
    /// The share of right ones.
    pub right: f64,
}

impl Calibration {
    /// Calibration of the first hits of these queries. A query without hits has no confidence; a hit for an
    /// unanswerable query is wrong.
    pub(super) fn of<'a>(outcomes: impl IntoIterator<Item = &'a QueryOutcome>) -> Self {
        let mut sums = [(0usize, 0.0, 0usize); BINS];
        for outcome in outcomes {
            let Some(confidence) = outcome.confidence() else { continue };
            // A bin begins at its lower bound in decimal: 0.3 belongs to the bin from 0.3 on, whatever its last bits.
            let bin = ((confidence * BINS as f64 + 1e-6) as usize).min(BINS - 1);
            if let Some((queries, sum, right)) = sums.get_mut(bin) {
                *queries += 1;
                *sum += confidence;
                *right += usize::from(outcome.is_right());
            }
        }
        let total: usize = sums.iter().map(|(queries, ..)| queries).sum();
        let bin = |(index, (queries, sum, right)): (usize, (usize, f64, usize))| Bin {
            from: index as f64 / BINS as f64,
            to: (index + 1) as f64 / BINS as f64,
            queries,
            confidence: sum / queries as f64,
            right: right as f64 / queries as f64,
        };
        let bins: Vec<Bin> =
            sums.into_iter().enumerate().filter(|(_, (queries, ..))| *queries > 0).map(bin).collect();
        let off: f64 = bins.iter().map(|bin| (bin.confidence - bin.right).abs() * bin.queries as f64).sum();
        Self { ece: (total > 0).then(|| off / total as f64), bins }
    }
}

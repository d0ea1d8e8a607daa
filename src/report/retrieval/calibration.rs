//! Whether confidence means what it says: of first hits with a confidence of 0.8, eight in ten should be right.

use serde::Serialize;

use super::outcome::QueryOutcome;

const BINS: usize = 10;

/// Confidence against being right.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Calibration {
    /// The expected calibration error: how far confidence is from being right, averaged over queries; none without hits.
    pub ece: Option<f64>,
    /// Ten bins of equal width; empty ones are left out.
    pub bins: Vec<Bin>,
}

/// First hits of about the same confidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// From this confidence on.
    pub from: f64,
    /// Below this one; the last bin has it too.
    pub to: f64,
    /// How many there are.
    pub queries: usize,
    /// Their mean confidence.
    pub confidence: f64,
    /// The share of them that is right.
    pub right: f64,
}

impl Calibration {
    /// Of the first hits of these queries. A query without any has no confidence; that of an unanswerable one is wrong.
    pub(super) fn of<'a>(outcomes: impl IntoIterator<Item = &'a QueryOutcome>) -> Self {
        let mut sums = [(0usize, 0.0, 0usize); BINS];
        for outcome in outcomes {
            let Some(confidence) = outcome.confidence() else { continue };
            // A bin begins at its lower border as it is written: 0.3 belongs to the bin from 0.3 on, whatever its last bits.
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

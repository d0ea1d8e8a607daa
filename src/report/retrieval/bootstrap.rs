//! Confidence intervals of a mean difference: a paired bootstrap over queries. The seed is fixed, so that the same
//! differences give the same interval.

use serde::Serialize;

use crate::report::random::SplitMix64;

/// Number of resamples.
const RESAMPLES: usize = 2_000;
/// Resamples beyond each end of the interval: 2.5 % of them, so that 95 % are inside.
const OUTSIDE: usize = RESAMPLES / 40;
const SEED: u64 = 0x746f_6f6c_6372_6962;

/// A mean difference with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The mean difference.
    pub difference: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Mean differences of some queries, and of resamples of them.
#[derive(Clone, Debug)]
pub(super) struct Resampled {
    mean: f64,
    means: Vec<f64>,
}

impl Resampled {
    /// Resamples the differences of the queries of a file, one for each query; `None` with fewer than two. Files have
    /// draws of their own.
    pub(super) fn of(differences: &[f64], file: usize) -> Option<Self> {
        if differences.len() < 2 {
            return None;
        }
        let count = differences.len() as f64;
        let mut random = SplitMix64(SEED.wrapping_add(file as u64));
        let mut draw = || differences.get(random.below(differences.len())).copied().unwrap_or_default();
        let mut resample = || (0..differences.len()).map(|_| draw()).sum::<f64>() / count;
        let means = (0..RESAMPLES).map(|_| resample()).collect();
        Some(Self { mean: differences.iter().sum::<f64>() / count, means })
    }

    /// The mean of several files, each counting once.
    pub(super) fn mean(files: &[Self]) -> Option<Self> {
        let count = files.len() as f64;
        let of = |index: usize| files.iter().filter_map(|file| file.means.get(index)).sum::<f64>() / count;
        let mean = files.iter().map(|file| file.mean).sum::<f64>() / count;
        (!files.is_empty()).then(|| Self { mean, means: (0..RESAMPLES).map(of).collect() })
    }

    /// The interval that 95 % of the resampled means are in.
    pub(super) fn interval(&self) -> Interval {
        let mut means = self.means.clone();
        means.sort_by(f64::total_cmp);
        let at = |index: usize| means.get(index).copied().unwrap_or(self.mean);
        Interval { difference: self.mean, low: at(OUTSIDE), high: at(RESAMPLES - 1 - OUTSIDE) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_as_wide_as_the_normal_one_and_always_the_same() {
        // 100 queries gain 1, 100 lose 1, 200 stay: the standard error of the mean is sqrt(0.5 / 400).
        let differences: Vec<f64> = (0..400).map(|query| [1.0, -1.0, 0.0, 0.0][query % 4]).collect();
        let Interval { difference, low, high } = Resampled::of(&differences, 0).unwrap().interval();
        let expect = 1.96 * (0.5_f64 / 400.0).sqrt();
        assert_eq!(difference, 0.0);
        assert!((low + expect).abs() < 0.01 && (high - expect).abs() < 0.01, "{low} to {high}");
        let again = Resampled::of(&differences, 0).unwrap().interval();
        assert_eq!((again.low, again.high), (low, high));
    }

    #[test]
    fn equal_answers_differ_by_nothing_and_one_query_has_no_interval() {
        let none = Resampled::of(&[0.0; 30], 0).unwrap().interval();
        assert_eq!(none, Interval { difference: 0.0, low: 0.0, high: 0.0 });
        assert!(Resampled::of(&[1.0], 0).is_none() && Resampled::mean(&[]).is_none());
    }

    #[test]
    fn files_count_once_however_many_queries_they_have() {
        let files = [Resampled::of(&[1.0; 2], 0).unwrap(), Resampled::of(&[0.0; 200], 1).unwrap()];
        let mean = Resampled::mean(&files).unwrap().interval();
        assert_eq!(mean, Interval { difference: 0.5, low: 0.5, high: 0.5 });
    }
}

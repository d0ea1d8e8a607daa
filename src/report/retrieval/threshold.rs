//! Compares a report with its thresholds.

use serde::Serialize;

use super::RetrievalReport;
use crate::config::Thresholds;
use crate::tool::clean_line;

/// Tolerance for sums of shares, which are not exact in their last digits: 9 of 10 reaches 0.9.
const SLACK: f64 = 1e-9;

/// A threshold that is not reached.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MissedThreshold {
    /// The file of labelled queries; `None` when no file defines the measure.
    pub file: Option<String>,
    /// The measure.
    pub measure: &'static str,
    /// The threshold: the least value, and for `ece` the largest.
    pub threshold: f64,
    /// The value; `None` when no file defines it.
    pub value: Option<f64>,
}

impl MissedThreshold {
    /// In words.
    pub fn message(&self) -> String {
        let Self { measure, threshold, .. } = self;
        let side = if *measure == "ece" { "above" } else { "below" };
        match (&self.file, self.value) {
            (Some(file), Some(value)) => {
                format!("{}: {measure} is {value:.4}, {side} {threshold}", clean_line(file))
            }
            _ => format!(
                "{measure} cannot be measured with these queries, and should be checked against {threshold}"
            ),
        }
    }
}

impl RetrievalReport {
    /// Thresholds that are not reached: every file that defines a measure has to reach it, and one file must define
    /// it.
    pub fn missed(&self, thresholds: &Thresholds) -> Vec<MissedThreshold> {
        let wanted = [
            ("recall_1", thresholds.min_recall_1),
            ("recall_3", thresholds.min_recall_3),
            ("recall_5", thresholds.min_recall_5),
            ("recall_10", thresholds.min_recall_10),
            ("ndcg_10", thresholds.min_ndcg),
            ("mrr", thresholds.min_mrr),
            ("abstention", thresholds.min_abstention),
            ("ece", thresholds.max_ece),
        ];
        let wanted = wanted.into_iter().filter_map(|(measure, wanted)| Some((measure, wanted?)));
        wanted.flat_map(|(measure, threshold)| self.missed_one(measure, threshold)).collect()
    }

    fn missed_one(&self, measure: &'static str, threshold: f64) -> Vec<MissedThreshold> {
        let told = self.files.iter().filter_map(|row| Some((row.file.clone(), row.measures.get(measure)?)));
        let told: Vec<(String, f64)> = told.collect();
        if told.is_empty() {
            return vec![MissedThreshold { file: None, measure, threshold, value: None }];
        }
        let misses = |value: f64| match measure {
            "ece" => value > threshold + SLACK,
            _ => value < threshold - SLACK,
        };
        let missed = told.into_iter().filter(|(_, value)| misses(*value));
        missed
            .map(|(file, value)| MissedThreshold { file: Some(file), measure, threshold, value: Some(value) })
            .collect()
    }
}

//! Labelled queries of a catalog, and the thresholds that search must reach on them.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Labelled queries of the catalog, and thresholds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Eval {
    /// Files of labelled queries, relative to the configuration.
    pub queries: Vec<PathBuf>,
    /// Files of queries that no tool of this catalog serves, whatever they name.
    pub unanswerable: Vec<PathBuf>,
    /// Thresholds that each file must reach.
    #[serde(flatten)]
    pub thresholds: Thresholds,
}

/// Thresholds that each file of labelled queries must reach, as shares from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Thresholds {
    /// The least share of the right tools in first place.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_recall_1: Option<f64>,
    /// The least share of the right tools among the first 3.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_recall_3: Option<f64>,
    /// The least share of the right tools among the first 5.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_recall_5: Option<f64>,
    /// The least share of the right tools among the first 10.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_recall_10: Option<f64>,
    /// The least NDCG of the first 10.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_ndcg: Option<f64>,
    /// The least mean reciprocal rank.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_mrr: Option<f64>,
    /// The least share of unanswerable queries that are answered `no_match`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_abstention: Option<f64>,
    /// The largest error of confidence, on average (expected calibration error).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_ece: Option<f64>,
}

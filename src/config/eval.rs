//! Labelled queries of a catalog, and the thresholds that search must reach on them.

use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Labelled queries of the catalog, and thresholds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Eval {
    /// Files of labelled queries, relative to the configuration.
    pub queries: Vec<PathBuf>,
    /// The least percentage of each measure, which each file must reach: `recall_1`, `recall_5`, `ndcg`, `refused`.
    pub at_least: IndexMap<String, f64>,
}

//! Settings of search: synonyms, models that help, and the labelled queries that search is measured by.

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Search {
    /// Synonyms of this catalog: a query with the key also finds tools with one of the values.
    pub synonyms: IndexMap<String, Vec<String>>,
    /// The least probability that any tool fits; below it the answer is `no_match`. 0 never gives it.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub no_match_below: Option<f64>,
    /// Most tokens that the usage of hits, and help on the first, add to an answer of `tool_search`; its queries share them.
    /// With 0 hits are pointers alone.
    pub usage_tokens: usize,
    /// A model that measures how near two texts are in meaning; unset, search goes by words alone.
    pub semantic: Option<SearchSemantic>,
    /// A chat model for the scorer `llm` of `pick`; optional.
    pub llm: Option<SearchModel>,
}

impl Default for Search {
    fn default() -> Self {
        let synonyms = IndexMap::new();
        let usage_tokens = 600;
        Self { synonyms, no_match_below: None, usage_tokens, semantic: None, llm: None }
    }
}

/// A model that turns texts into vectors, behind an OpenAI-compatible API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["url", "model"]))]
pub struct SearchSemantic {
    /// The base of the API, which has `/v1/embeddings`, such as `http://localhost:11434/v1`.
    pub url: String,
    /// The model to ask.
    pub model: String,
    /// The environment variable that holds the API key, if one is needed.
    pub key_env: Option<String>,
    /// Longest wait for the vector of a query, in milliseconds, before the search goes on with words alone.
    #[schemars(range(min = 1, max = 60_000))]
    pub timeout_ms: u64,
    /// A folder, relative to the configuration, in which vectors of tools are kept between starts.
    pub cache: Option<PathBuf>,
}

impl Default for SearchSemantic {
    fn default() -> Self {
        Self { url: String::new(), model: String::new(), key_env: None, timeout_ms: 300, cache: None }
    }
}

impl SearchSemantic {
    /// Longest wait for the vector of a query.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

/// A chat model behind an OpenAI-compatible API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("required" = ["url", "model"]))]
pub struct SearchModel {
    /// The base of the API, such as `http://localhost:8000/v1`.
    pub url: String,
    /// The model to ask.
    pub model: String,
    /// The environment variable that holds the API key, if one is needed.
    pub key_env: Option<String>,
    /// Longest wait for its answer, in milliseconds.
    #[schemars(range(min = 1, max = 600_000))]
    pub timeout_ms: u64,
}

impl Default for SearchModel {
    fn default() -> Self {
        Self { url: String::new(), model: String::new(), key_env: None, timeout_ms: 10_000 }
    }
}

/// The first mistake in the address of an API and the name of its model, and its field.
pub(super) fn problem_of_api(url: &str, model: &str) -> Option<(&'static str, String)> {
    if let Some(problem) = url_problem(url) {
        return Some(("url", problem));
    }
    model.trim().is_empty().then(|| ("model", "`model` names the model to ask".into()))
}

fn url_problem(url: &str) -> Option<String> {
    let Some(rest) = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")) else {
        return Some("`url` must start with http:// or https://".into());
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.contains('@') {
        return Some("`url` holds a password; name an environment variable with `key_env` instead".into());
    }
    host.is_empty().then(|| "`url` names no host".into())
}

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

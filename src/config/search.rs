//! Settings of search: synonyms, and models that help.

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
        let (synonyms, usage_tokens) = (IndexMap::new(), 600);
        Self { synonyms, no_match_below: None, usage_tokens, semantic: None, llm: None }
    }
}

/// A model that turns texts into vectors: an API at `url`, or a `folder` on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct SearchSemantic {
    /// The base of an OpenAI-compatible API that has `/v1/embeddings`, such as `http://localhost:11434/v1`.
    pub url: Option<String>,
    /// The model to ask there.
    pub model: Option<String>,
    /// The environment variable that holds the API key, if one is needed.
    pub key_env: Option<String>,
    /// A static embedding model instead, relative to the configuration: `tokenizer.json`, `model.safetensors`,
    /// `config.json`.
    pub folder: Option<PathBuf>,
    /// Longest wait for the vector of a query, in milliseconds, before the search goes on with words alone.
    #[schemars(range(min = 1, max = 60_000))]
    pub timeout_ms: u64,
    /// A folder, relative to the configuration, in which vectors of tools are kept between starts.
    pub cache: Option<PathBuf>,
}

impl Default for SearchSemantic {
    fn default() -> Self {
        Self { url: None, model: None, key_env: None, folder: None, timeout_ms: 300, cache: None }
    }
}

impl SearchSemantic {
    /// Longest wait for the vector of a query.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    /// The first mistake in these settings, and its field.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        match (&self.url, &self.folder) {
            (None, None) => {
                return Some(("", "semantic search needs a `url` and a `model`, or a `folder`".into()));
            }
            (Some(_), Some(_)) => {
                return Some(("folder", "semantic search has a `url` or a `folder`, not both".into()));
            }
            (None, Some(_)) if self.model.is_some() => {
                return Some(("model", "`model` is for a `url`; a folder holds one model".into()));
            }
            (None, Some(_)) if self.key_env.is_some() => {
                return Some(("key_env", "`key_env` is for a `url`; a folder needs no key".into()));
            }
            (None, Some(_)) => return None,
            (Some(url), None) => {
                if let Some(problem) = url_problem(url) {
                    return Some(("url", problem));
                }
            }
        }
        let model = self.model.as_deref().unwrap_or_default();
        model.trim().is_empty().then(|| ("", "a `url` needs the `model` to ask there".into()))
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

impl SearchModel {
    /// The first mistake in these settings, and its field.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if let Some(problem) = url_problem(&self.url) {
            return Some(("url", problem));
        }
        self.model.trim().is_empty().then(|| ("model", "`model` names the model to ask".into()))
    }
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

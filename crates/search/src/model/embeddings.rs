//! Vectors from an OpenAI-compatible `/v1/embeddings`.

use std::time::Duration;

use serde_json::{Value, json};

use super::api::Api;
use super::{EmbeddingModel, ModelError};

/// Most bytes of an answer that are read, for each text.
const MAX_ANSWER_PER_TEXT: usize = 512 << 10;
/// Most bytes of an answer that are read altogether.
const MAX_VECTORS: usize = 64 << 20;

/// Longest vector that is accepted.
const MAX_DIMENSIONS: usize = 16_384;

/// An embeddings endpoint.
pub struct EmbeddingsApi {
    api: Api,
    model: String,
    identity: String,
}

impl EmbeddingsApi {
    /// The model behind the API at `url`, which may be written with or without `/v1/embeddings`.
    pub fn new(url: &str, model: &str, key: Option<String>) -> Result<Self, ModelError> {
        let has_path = url.split_once("://").is_some_and(|(_, rest)| {
            let path = rest.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
            path.contains('/')
        });
        let end = if has_path { "/embeddings" } else { "/v1/embeddings" };
        let api = Api::new("search.semantic.url", url, end, key)?;
        let identity = format!("{} {model}", api.address());
        Ok(Self { api, model: model.into(), identity })
    }
}

impl EmbeddingModel for EmbeddingsApi {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn embed(&self, texts: &[String], timeout: Duration) -> Result<Vec<Vec<f32>>, ModelError> {
        let question = json!({ "model": self.model, "input": texts });
        let max_bytes = (texts.len().max(1) * MAX_ANSWER_PER_TEXT).min(MAX_VECTORS);
        let answer = self.api.ask(&question, timeout, max_bytes)?;
        let refused = |reason: &str| self.api.refused(200, reason);
        let data = answer.get("data").and_then(Value::as_array);
        let data = data.ok_or_else(|| refused(" without a list `data`"))?;
        if data.len() != texts.len() {
            return Err(refused(&format!(" with {} vectors for {} texts", data.len(), texts.len())));
        }
        let mut vectors = vec![Vec::new(); texts.len()];
        for (place, entry) in data.iter().enumerate() {
            let place = entry.get("index").and_then(Value::as_u64).map_or(place, |index| index as usize);
            let vector = vectors.get_mut(place).filter(|vector| vector.is_empty());
            let vector = vector.ok_or_else(|| refused(" with an `index` that no text has, or two have"))?;
            let numbers = entry.get("embedding").and_then(Value::as_array);
            let numbers =
                numbers.ok_or_else(|| refused(" with an `embedding` that is no list of numbers"))?;
            // A value that is no number becomes NaN, which no vector may have.
            vector.extend(
                numbers.iter().map(|number| number.as_f64().map_or(f32::NAN, |number| number as f32)),
            );
        }
        match problem_of_vectors(&vectors) {
            Some(problem) => Err(refused(&format!(" {problem}"))),
            None => Ok(vectors),
        }
    }
}

/// The mistake in vectors, if there is one.
fn problem_of_vectors(vectors: &[Vec<f32>]) -> Option<String> {
    let length = vectors.first().map_or(1, Vec::len);
    if length == 0 || length > MAX_DIMENSIONS {
        return Some(format!("with a vector of {length} numbers"));
    }
    if vectors.iter().any(|vector| vector.len() != length) {
        return Some("with vectors of different lengths".into());
    }
    let is_broken = vectors.iter().flatten().any(|number| !number.is_finite());
    is_broken.then(|| "with an invalid number".into())
}

//! Models that turn texts into vectors.

use std::time::Duration;

use super::ModelError;

/// Longest vector that is accepted.
pub(super) const MAX_DIMENSIONS: usize = 16_384;

/// A model that turns texts into vectors: texts that are near in meaning have similar vectors.
pub trait EmbeddingModel: Send + Sync {
    /// Identity of its vectors: vectors of models with the same identity can be compared.
    fn identity(&self) -> &str;

    /// A vector for each text, in order, all of one length and finite; or the reason why there are none. `timeout`
    /// bounds the whole.
    fn embed(&self, texts: &[String], timeout: Duration) -> Result<Vec<Vec<f32>>, ModelError>;
}

/// The mistake in the vectors for this many texts, if there is one.
pub(super) fn problem(vectors: &[Vec<f32>], texts: usize) -> Option<String> {
    if vectors.len() != texts {
        return Some(format!("with {} vectors for {texts} texts", vectors.len()));
    }
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

//! Models behind an OpenAI-compatible API: one that answers a question (`ChatEndpoint`), and one that turns texts into
//! vectors (`EmbeddingsApi`). Used only where the configuration names one.

#[cfg(feature = "runtime")]
mod api;

use std::time::Duration;

#[cfg(feature = "runtime")]
pub use api::{ChatEndpoint, EmbeddingsApi};

/// Reason why a model gave no answer. Never holds the key.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The configuration cannot be used.
    #[error("{0}")]
    Configuration(String),
    /// The model did not answer, or not in time.
    #[error("no answer from {url}: {reason}")]
    Unreachable {
        /// Address of the model.
        url: String,
        /// Why.
        reason: String,
    },
    /// The API refused, or answered in another form.
    #[error("{url} answered {status}{reason}")]
    Refused {
        /// Address of the model.
        url: String,
        /// The HTTP status.
        status: u16,
        /// Further words of its answer.
        reason: String,
    },
}

impl ModelError {
    /// The error without the address of the model and the words of its answer, for callers who should see neither.
    pub fn brief(&self) -> String {
        match self {
            ModelError::Configuration(_) => "the model cannot be used as it is configured".into(),
            ModelError::Unreachable { reason, .. } => format!("no answer from the model: {reason}"),
            ModelError::Refused { status: 200, .. } => "the model answered in another form".into(),
            ModelError::Refused { status, .. } => format!("the model answered {status}"),
        }
    }
}

// The trait of chat models.

/// A model that answers a question in text.
pub trait ChatModel: Sync {
    /// The answer, or the reason why the model gave no answer.
    fn answer(&self, instructions: &str, question: &str) -> Result<String, ModelError>;

    /// Name of the model, for provenance; `None` where it has none.
    fn name(&self) -> Option<&str> {
        None
    }
}

// Models that turn texts into vectors.

/// Longest vector that is accepted.
const MAX_DIMENSIONS: usize = 16_384;

/// A model that turns texts into vectors: texts that are near in meaning have similar vectors.
pub trait EmbeddingModel: Send + Sync {
    /// Identity of its vectors: vectors of models with the same identity can be compared.
    fn identity(&self) -> &str;

    /// A vector for each text, in order, all of one length and finite; or the reason why the model gave no vectors. `timeout`
    /// bounds the whole.
    fn embed(&self, texts: &[String], timeout: Duration) -> Result<Vec<Vec<f32>>, ModelError>;
}

/// The mistake in the vectors for this many texts, if there is one.
fn problem_of_vectors(vectors: &[Vec<f32>], texts: usize) -> Option<String> {
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

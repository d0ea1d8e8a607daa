//! Models behind an OpenAI-compatible API: one that answers a question (`ChatEndpoint`), and one that turns texts into
//! vectors (`EmbeddingsApi`). Used only where the configuration names one.

#[cfg(feature = "runtime")]
mod api;
#[cfg(feature = "runtime")]
mod chat_completions;
#[cfg(feature = "runtime")]
mod embeddings;

use std::time::Duration;

#[cfg(feature = "runtime")]
pub use {chat_completions::ChatEndpoint, embeddings::EmbeddingsApi};

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

/// A model that answers a question in text.
pub trait ChatModel: Sync {
    /// The answer, or the reason why the model gave no answer.
    fn answer(&self, instructions: &str, question: &str) -> Result<String, ModelError>;

    /// Name of the model, for provenance; `None` where it has none.
    fn name(&self) -> Option<&str> {
        None
    }
}

/// A model that turns texts into vectors: texts that are near in meaning have similar vectors.
pub trait EmbeddingModel: Send + Sync {
    /// Identity of its vectors: vectors of models with the same identity can be compared.
    fn identity(&self) -> &str;

    /// A vector for each text, in order, all of one length and finite; or the reason why the model gave no vectors. `timeout`
    /// bounds the whole.
    fn embed(&self, texts: &[String], timeout: Duration) -> Result<Vec<Vec<f32>>, ModelError>;
}

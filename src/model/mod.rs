//! Models: one behind an OpenAI-compatible API that answers a question (`ChatEndpoint`), and models that turn texts
//! into vectors ([`EmbeddingModel`]), behind such an API (`EmbeddingsApi`) or in a folder on this machine
//! ([`StaticModel`]). Used only where the configuration names one.

#[cfg(feature = "runtime")]
mod api;
#[cfg(feature = "runtime")]
mod chat;
mod chat_model;
mod embedding_model;
#[cfg(feature = "runtime")]
mod embeddings;
mod local;

#[cfg(feature = "runtime")]
pub use chat::ChatEndpoint;
pub use chat_model::ChatModel;
pub use embedding_model::EmbeddingModel;
#[cfg(feature = "runtime")]
pub use embeddings::EmbeddingsApi;
pub use local::StaticModel;

/// Reason why a model gave no answer. Never holds the key.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The configuration, or the folder that it names, cannot be used.
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

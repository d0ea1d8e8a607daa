//! Status of meaning in an answer, and the numbers of searches with and without it.

/// Whether an answer used words and meaning, or words alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub enum SemanticStatus {
    /// No model is configured: words alone.
    #[default]
    #[error("off")]
    Off,
    /// Words and meaning.
    #[error("on")]
    On,
    /// Words alone, since the model gave no answer, with the reason.
    #[error("unavailable: {0}")]
    Unavailable(String),
}

/// Number of searches with and without the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SemanticCounters {
    /// Searches by words and meaning.
    pub on: u64,
    /// Searches by words alone, since the model did not answer in time.
    pub unavailable: u64,
    /// Texts of tools that were sent to the model.
    pub embedded: u64,
}

/// Reason why a search cannot use meaning, for callers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimilarityError {
    /// The query has no text.
    #[error("the query is empty")]
    EmptyQuery,
    /// Vectors of tools are missing.
    #[error("{0}")]
    Incomplete(String),
    /// The model has too many requests already.
    #[error("too many searches at once")]
    Busy,
    /// The model gave no vector of the query.
    #[error("{0}")]
    Model(String),
    /// Vectors cannot be compared.
    #[error(
        "the model answers with vectors of another length than before; a restart without the cache helps"
    )]
    OtherLength,
}

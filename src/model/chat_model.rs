//! The trait of chat models.

use super::ModelError;

/// A model that answers a question in text.
pub trait ChatModel: Sync {
    /// The answer, or the reason why there is none.
    fn answer(&self, instructions: &str, question: &str) -> Result<String, ModelError>;

    /// Name of the model, for provenance; `None` where it has none.
    fn name(&self) -> Option<&str> {
        None
    }
}
